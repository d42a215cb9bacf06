package cluster

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

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
	want := identity{Name: "a", Peers: peerMap{"a": {"u1"}}}
	for range 2 { // written anew on each start until there is data
		if err := writeIdentity(path, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readIdentity(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if err := disk.Replace(path, []byte(`{"name": "a`)); err != nil {
		t.Fatal(err)
	}
	if _, err := readIdentity(path); !errors.Is(err, ErrForeignFolder) {
		t.Errorf("half a file: got %v, want ErrForeignFolder", err)
	}
}
