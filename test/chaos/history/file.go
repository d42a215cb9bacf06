package history

import (
	"encoding/json"
	"os"
	"strconv"
	"sync"
)

// Name is the identity of an operation.
func Name(client string, id int) string { return client + "-" + strconv.Itoa(id) }

// Writer appends events to a file. It may be used by several goroutines.
type Writer struct {
	client string

	mu   sync.Mutex
	file *os.File
	id   int
}

// Create makes the file of one life of a client.
func Create(path, client string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &Writer{client: client, file: f}, nil
}

// Call writes that an operation is about to be sent, and gives it its ID and time.
// A Put, Add or Apply without a Value gets its own identity as one.
func (w *Writer) Call(e Event) (Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id++
	e.Client, e.ID, e.Phase = w.client, w.id, Call
	if e.Value == "" && (e.Kind == Put || e.Kind == Add || e.Kind == Apply) {
		e.Value = Name(w.client, w.id)
	}
	e.At = Now()
	return e, w.write(e)
}

// Return writes an operation's outcome. Only what the call did not say need be in e,
// beside the ID.
func (w *Writer) Return(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.Client, e.Phase = w.client, Return
	e.At = Now()
	return w.write(e)
}

func (w *Writer) write(e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = w.file.Write(append(line, '\n'))
	return err
}

// Close ends the file.
func (w *Writer) Close() error { return w.file.Close() }

// Read brings together the files of all clients: their operations in the order in
// which they were called.
func Read(paths ...string) ([]Op, error) {
	f := NewFollower()
	err := f.Poll(paths, func(Op) {})
	return f.Ops(), err
}

// close adds what the return has brought.
func (o *Op) close(e Event) {
	o.Return = e.At
	o.Outcome, o.Reason, o.Highest = e.Outcome, e.Reason, e.Highest
	o.Seen, o.Items, o.Sum = e.Seen, e.Items, e.Sum
	o.Goroutines, o.Files = e.Goroutines, e.Files
	if e.Token != 0 {
		o.Token = e.Token
	}
	if e.Deadline != 0 {
		o.Deadline = e.Deadline
	}
}
