package history

import (
	"os"
	"path/filepath"
	"testing"
)

// A call without a return stays unknown for ever, and what was written by half is
// left out, until the rest has come.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c1.1.jsonl")
	w, err := Create(path, "c1.1")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	put, err := w.Call(Event{Kind: Put, Lock: "kv/counter/0", Key: "n", Token: 7, Prev: "c0.1-1"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := put.Value, "c1.1-1"; got != want {
		t.Errorf("the put writes %q, want its own identity %q", got, want)
	}
	if err := w.Return(Event{ID: put.ID, Outcome: OK}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Call(Event{Kind: Get, Lock: "kv/counter/0", Key: "n", Token: 7}); err != nil {
		t.Fatal(err)
	}

	f, outcomes := NewFollower(), 0
	poll := func() []Op {
		t.Helper()
		if err := f.Poll([]string{path}, func(Op) { outcomes++ }); err != nil {
			t.Fatal(err)
		}
		return f.Ops()
	}
	ops := poll()
	if len(ops) != 2 || ops[0].Outcome != OK || ops[0].Return < ops[0].Call || ops[1].Outcome != Unknown || ops[1].Return != Never {
		t.Fatalf("got %+v, want an acknowledged put and an unknown get", ops)
	}
	if ops[0].Name() != "c1.1-1" || ops[0].Token != 7 || ops[0].Prev != "c0.1-1" {
		t.Errorf("got %+v, want what the call said", ops[0])
	}

	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, half := range []struct {
		text string
		want Outcome
	}{{`{"at":1,"id":2,"phase":"ret`, Unknown}, {`urn","outcome":"failed"}` + "\n", Failed}} {
		if _, err := file.WriteString(half.text); err != nil {
			t.Fatal(err)
		}
		if got := poll()[1].Outcome; got != half.want {
			t.Errorf("after %s: got %s, want %s", half.text, got, half.want)
		}
	}
	if outcomes != 2 {
		t.Errorf("told of %d outcomes, want 2", outcomes)
	}
}

func TestReturnWithoutCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c1.1.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":5,"phase":"return"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("no error")
	}
}
