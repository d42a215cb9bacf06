package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/supervisor"
)

// holding is a lock that is held, and what for.
type holding struct {
	held
	plan *lockPlan
	ttl  time.Duration // of its session, as granted
}

// run runs the command and frees the lock when it has ended. Nothing is written
// before that: standard error may block.
func (h *holding) run(a *app, signals *signals) error {
	in, out, errors, err := a.files()
	if err != nil {
		return err
	}
	result, err := supervisor.Run(supervisor.Config{
		Command: *h.plan.command,
		Env:     environment(a.Env, h.plan.names, h.sequencers),
		Lock:    h.held,
		Grace:   supervisor.Grace(h.plan.grace, h.ttl),
		Signals: signals.c,
		Stdin:   in,
		Stdout:  out,
		Stderr:  errors,
	})
	note, lost := h.free()
	if result.Lost != nil {
		lost = result.Lost
	}
	a.note(append(result.Notes, note)...)
	switch {
	case lost != nil:
		return h.lostError(lost, "the command was ended, and its work may be incomplete")
	case err != nil:
		return commandError(err)
	}
	return &exitError{code: result.Code}
}

// hold prints the sequencers, one a line, and holds the lock until standard input
// ends, a signal comes, or the lock is lost.
func (h *holding) hold(a *app, signals *signals) error {
	_, printing := fmt.Fprintln(a.Stdout, h.announcement())
	end := make(chan error, 1)
	go func() { // nobody can wait for it: a read of standard input may last as long as the process
		_, err := io.Copy(io.Discard, a.Stdin)
		end <- err
	}()
	var reading error
	if printing == nil {
		select {
		case reading = <-end:
		case <-signals.c:
		case <-h.Done():
		}
	}
	note, lost := h.free()
	a.note(note)
	if lost != nil {
		return h.lostError(lost, "what it guards may have been changed since")
	}
	return errors.Join(printing, reading)
}

// announcement says that the lock is held: by its sequencers, or by its name if it
// has none.
func (h *holding) announcement() string {
	if len(h.sequencers) == 0 {
		return h.plan.names[0]
	}
	return oneALine(h.sequencers)
}

// free unlocks. Its error is why the lock was lost before that; an unlock whose
// outcome is unknown is none, since the claim goes away with its session, but
// something to note.
func (h *holding) free() (note string, lost error) {
	held, deadline := h.Err(), h.Deadline()
	err := h.unlock(context.Background())
	switch {
	case err == nil:
		return "", nil
	case held != nil:
		return "", held
	case errors.Is(err, client.ErrLost) && time.Now().Before(deadline):
		return "", err // its claim was gone already
	}
	return fmt.Sprintf("%v; the lock is free %v from now at the latest", err, h.ttl), nil
}

func (h *holding) lostError(lost error, consequence string) error {
	return &exitError{code: codeLost, err: fmt.Errorf("%s: %w; %s", h.plan.what(), lost, consequence)}
}
