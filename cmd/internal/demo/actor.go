package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// actor is a worker process as the demo sees it.
type actor struct {
	name    string
	process *process
	stderr  string // the file that has what the process complained of

	orders, answers *os.File // the demo's ends of two pipes
	out             *json.Encoder
	in              *json.Decoder
}

// startActor runs a worker with the command line given; what it says on standard
// error goes into a file in dir.
func startActor(command []string, dir string, j job) (*actor, error) {
	a := &actor{name: j.Name, stderr: filepath.Join(dir, j.Name+".stderr")}
	if err := a.start(exec.Command(command[0], command[1:]...)); err != nil {
		return nil, fmt.Errorf("start worker %s: %w", j.Name, err)
	}
	a.out, a.in = json.NewEncoder(a.orders), json.NewDecoder(a.answers)
	if err := a.out.Encode(j); err != nil {
		return nil, errors.Join(a.silent(context.Background(), err), a.end())
	}
	return a, nil
}

// start connects cmd's pipes and starts it.
func (a *actor) start(cmd *exec.Cmd) (err error) {
	stderr, err := os.Create(a.stderr)
	if err != nil {
		return err
	}
	defer stderr.Close()
	stdin, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	answers, stdout, err := os.Pipe()
	if err != nil {
		orders.Close()
		return err
	}
	defer stdout.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	a.orders, a.answers = orders, answers
	if a.process, err = startProcess(cmd); err != nil {
		return errors.Join(err, orders.Close(), answers.Close())
	}
	return nil
}

// end kills the worker and returns when it is gone.
func (a *actor) end() error {
	a.process.kill()
	return errors.Join(a.orders.Close(), a.answers.Close())
}

// ask gives an order and waits for its answer, which must be the event wanted.
func (a *actor) ask(ctx context.Context, o order, event string) (answer, error) {
	if err := a.tell(ctx, o); err != nil {
		return answer{}, err
	}
	return a.hear(ctx, event)
}

// tell gives an order.
func (a *actor) tell(ctx context.Context, o order) error {
	if err := a.out.Encode(o); err != nil {
		return a.silent(ctx, err)
	}
	return nil
}

// hear waits for an answer, which must be one of the events wanted.
func (a *actor) hear(ctx context.Context, events ...string) (answer, error) {
	stop := context.AfterFunc(ctx, func() {
		_ = a.answers.SetReadDeadline(time.Unix(1, 0)) // long past: ends the read
	})
	defer stop()
	var got answer
	if err := a.in.Decode(&got); err != nil {
		return answer{}, a.silent(ctx, err)
	}
	for _, event := range events {
		if got.Event == event {
			return got, nil
		}
	}
	return answer{}, fmt.Errorf("worker %s: want %q, got %q %s", a.name, events, got.Event, got.Error)
}

// silent says why there was no answer.
func (a *actor) silent(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("worker %s has not answered: %w", a.name, context.Cause(ctx))
	case !a.process.endsWithin(time.Second): // what it said makes no sense
		return fmt.Errorf("worker %s: %w", a.name, err)
	}
	return fmt.Errorf("worker %s ended, %s; it said: %s", a.name, a.process.end(), a.complaint())
}

// complaint is the last that the worker wrote on standard error.
func (a *actor) complaint() string {
	const most = 2000
	f, err := os.Open(a.stderr)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if _, err := f.Seek(-most, io.SeekEnd); err != nil {
		_, _ = f.Seek(0, io.SeekStart) // it is shorter
	}
	text, _ := io.ReadAll(f)
	if len(text) == 0 {
		return "nothing"
	}
	return strings.TrimSpace(string(text))
}
