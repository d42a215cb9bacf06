package cluster

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/disk"
)

type peerMap = map[string][]string

func TestIdentityAdmits(t *testing.T) {
	abc := identity{Name: "a", Peers: peerMap{"a": {"u1"}, "b": {"u2"}, "c": {"u3"}}}
	single := identity{Name: "a", Peers: peerMap{"a": {"u1"}}}
	for _, test := range []struct {
		name   string
		have   identity
		want   identity
		stored peerMap
		ok     bool
	}{
		{"the same", abc, abc, nil, true},
		{"no peers given", abc, single, nil, true},
		{"another name", abc, identity{Name: "b", Peers: abc.Peers}, nil, false},
		{"one peer is left", abc, identity{Name: "a", Peers: peerMap{"a": {"u1"}, "c": {"u3"}, "d": {"u4"}}}, nil, true},
		{"peers have new names", abc, identity{Name: "a", Peers: peerMap{"a": {"u1"}, "x": {"u2"}}}, nil, true},
		{"another cluster", abc, identity{Name: "a", Peers: peerMap{"a": {"u7"}, "x": {"u8"}}}, nil, false},
		{"single node, now a cluster", single, abc, nil, false},
		{"at its neighbour's address", abc, identity{Name: "a", Peers: peerMap{"a": {"u2"}, "b": {"u1"}}}, nil, false},
		{"at an address that was its neighbour's", abc, identity{Name: "a", Peers: peerMap{"a": {"u2"}, "c": {"u3"}}}, peerMap{"a": {"u2"}, "c": {"u3"}}, true},
		{"before the others know its name", abc, abc, peerMap{"": {"u1"}, "b": {"u2"}}, true},
		{"single node that grew", single, abc, peerMap{"a": {"u1"}, "b": {"u2"}}, true},
	} {
		err := test.have.admits(test.want, test.stored)
		if (err == nil) != test.ok || (err != nil && !errors.Is(err, ErrForeignFolder)) {
			t.Errorf("%s: got %v, want admitted: %v", test.name, err, test.ok)
		}
	}
}

func TestIdentityFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "member.json")
	want := identity{Name: "a", Peers: peerMap{"a": {"u1"}}, timing: timing{time.Second, time.Minute}}
	for range 2 { // written anew on each start until there is data
		if err := writeIdentity(path, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readIdentity(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	other := `{"name": "a", "peers": {"a": ["u1"]}, "later": {"format": 2}}` // of another version
	if err := disk.Replace(path, []byte(other)); err != nil {
		t.Fatal(err)
	}
	if got, err := readIdentity(path); err != nil || got.Name != "a" || got.timing != (timing{}) {
		t.Errorf("a file of another version: got %v, %v, want what is known of it", got, err)
	}
	if err := disk.Replace(path, []byte(`{"name": "a`)); err != nil {
		t.Fatal(err)
	}
	if _, err := readIdentity(path); !errors.Is(err, ErrForeignFolder) {
		t.Errorf("half a file: got %v, want ErrForeignFolder", err)
	}
}
