package members

import (
	"strings"
	"testing"
)

func states(spec ...string) []State {
	var list []State
	for i, s := range spec {
		name, how, _ := strings.Cut(s, " ")
		state := State{Member: Member{ID: uint64(i + 1), Name: name, Peers: []string{"http://" + name + ":2380"}}}
		state.Reachable = !strings.Contains(how, "down")
		state.Learner = strings.Contains(how, "learner")
		state.Leader = strings.Contains(how, "leader")
		state.Index = uint64(i)
		list = append(list, state)
	}
	return list
}

func TestCheckRemove(t *testing.T) {
	for _, test := range []struct {
		states []State
		id     uint64
		says   string // empty: it is allowed
	}{
		{states("a", "b", "c"), 1, ""},
		{states("a", "b"), 2, ""},
		{states("a"), 1, "the last member"},
		{states("a", "b learner"), 1, "the last member"},
		{states("a", "b learner down"), 2, ""},
		{states("a", "b", "c down"), 3, ""},
		{states("a", "b", "c down"), 2, "2 would be left (a, c), of which 2 must answer, and 1 do (a)"},
		{states("a", "b down"), 1, "1 would be left (b), of which 1 must answer, and 0 do ()"},
		{states("a", "b", "c", "d down", "e down"), 1, "break the quorum"},
		{states("a", "b", "c", "d down", "e down"), 4, ""},
	} {
		err := CheckRemove(test.states, test.id)
		if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%v without %d: got %v, want %q", test.states, test.id, err, test.says)
		}
	}
}

func TestSuccessor(t *testing.T) {
	list := states("a leader", "b", "c", "d learner", "e down")
	if to, leads := Successor(list, 1); !leads || to.Name != "c" {
		t.Errorf("from the leader: %v, %v; want c, which has come furthest", to.Name, leads)
	}
	if _, leads := Successor(list, 2); leads {
		t.Error("a follower has no successor")
	}
	if _, leads := Successor(states("a leader", "b learner"), 1); leads {
		t.Error("a learner cannot lead")
	}
}

func TestFind(t *testing.T) {
	list := List{Members: []Member{{ID: 0xabc, Name: "red", Peers: []string{"http://10.0.0.1:2380"}}, {ID: 0xdef, Name: "abc", Peers: []string{"http://10.0.0.2:2380"}}}}
	for who, want := range map[string]uint64{"red": 0xabc, "abc": 0xdef, "def": 0xdef, "0xabc": 0xabc, "10.0.0.2:2380": 0xdef, "http://10.0.0.1:2380": 0xabc, "0.0.1:2380": 0, "": 0, "re": 0} {
		if got, ok := list.Find(who); got.ID != want || ok != (want != 0) {
			t.Errorf("find %q: %x, want %x", who, got.ID, want)
		}
	}
}
