package demo

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// nowhere is a job whose cluster does not answer.
const nowhere = `{"name":"A","endpoints":["127.0.0.1:1"],"lock":"l","ttl":2000000000,"timeout":60000000000}` + "\n"

func TestWorkEndsWithItsInput(t *testing.T) {
	in, orders := io.Pipe()
	ended := make(chan error)
	go func() { ended <- Work(t.Context(), in, io.Discard) }()
	for _, line := range []string{nowhere, `{"do":"lock"}` + "\n"} { // each write returns when it has been read
		if _, err := io.WriteString(orders, line); err != nil {
			t.Fatal(err)
		}
	}
	orders.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the worker goes on, though its input has ended")
	}
}

func TestWorkRefusesWhatIsNoJob(t *testing.T) {
	for _, input := range []string{"", "hello\n"} {
		if err := Work(t.Context(), strings.NewReader(input), io.Discard); err == nil {
			t.Errorf("input %q was accepted", input)
		}
	}
}

func TestWorkAnswersWhatItCannotDo(t *testing.T) {
	for _, line := range []string{`{"do":"read"}`, `{"do":"write"}`, `{"do":"dance"}`} {
		var out bytes.Buffer
		if err := Work(t.Context(), strings.NewReader(nowhere+line), &out); err != nil {
			t.Error(err)
		}
		if !strings.Contains(out.String(), `"event":"failed"`) {
			t.Errorf("order %s: got %q, want a failure", line, out.String())
		}
	}
}
