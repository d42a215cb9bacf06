package cli

import (
	"slices"
	"testing"

	"github.com/fencelock/fencelock/cluster/members"
)

// A member that was added at an address nobody can have would stand in the cluster
// until somebody removes it.
func TestPeerURLs(t *testing.T) {
	list := members.List{Members: []members.Member{{Peers: []string{"https://a:2380"}}}}
	got, err := peerURLs(list, "b:2380,http://c:1/")
	if want := []string{"https://b:2380", "http://c:1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for _, address := range []string{"", "b", "b:", ":1", "b:0", "b:77777", "http://b:1/x", "http://b:1?x", "ftp://b:1", "b:1,"} {
		if got, err := peerURLs(list, address); err == nil {
			t.Errorf("%q: got %v, want an error", address, got)
		}
	}
}
