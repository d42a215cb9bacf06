package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/supervisor"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
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

// announced is what is said of what is held without a command.
type announced struct {
	Mode  string          `json:"mode"` // one of the words below
	Token *fencing.Token  `json:"token,omitempty"`
	Locks []announcedLock `json:"locks"` // in the order of the names
	TTL   int64           `json:"ttl_seconds"`
}

type announcedLock struct {
	Name      string             `json:"name"`
	Sequencer *fencing.Sequencer `json:"sequencer,omitempty"`
}

// modePermit is the mode of a semaphore's permit; locks have those of their claims.
const modePermit = "permit"

func (h *holding) announce() announced {
	a := announced{Mode: keys.Exclusive, TTL: int64(h.ttl / time.Second)}
	switch {
	case h.plan.limit > 0:
		a.Mode = modePermit
	case h.plan.shared:
		a.Mode = keys.SharedMode
	}
	for i, name := range h.plan.names {
		one := announcedLock{Name: name}
		if i < len(h.sequencers) {
			one.Sequencer, a.Token = &h.sequencers[i], &h.sequencers[i].Token
		}
		a.Locks = append(a.Locks, one)
	}
	return a
}

// hold prints what is held, and holds the lock until standard input
// ends, a signal comes, or the lock is lost.
func (h *holding) hold(a *app, signals *signals) error {
	printing := a.printNow(h.plan.config.Output, h.announce(), h.announcement)
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
