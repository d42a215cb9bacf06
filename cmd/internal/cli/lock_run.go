package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/supervisor"
	"github.com/fencelock/fencelock/fencing"
)

// holding is a lock that is held, and what for.
type holding struct {
	plan *lockPlan
	lock *client.Lock
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
		Env:     environment(a.Env, h.lock.Sequencer()),
		Lock:    h.lock,
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

// hold prints the sequencer and holds the lock until standard input ends, a signal
// comes, or the lock is lost.
func (h *holding) hold(a *app, signals *signals) error {
	_, printing := fmt.Fprintln(a.Stdout, h.lock.Sequencer())
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
		case <-h.lock.Done():
		}
	}
	note, lost := h.free()
	a.note(note)
	if lost != nil {
		return h.lostError(lost, "what it guards may have been changed since")
	}
	return errors.Join(printing, reading)
}

// free unlocks. Its error is why the lock was lost before that; an unlock whose
// outcome is unknown is none, since the claim goes away with its session, but
// something to note.
func (h *holding) free() (note string, lost error) {
	held, deadline := h.lock.Err(), h.lock.Deadline()
	err := h.lock.Unlock(context.Background())
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
	return &exitError{code: codeLost, err: fmt.Errorf("lock %q: %w; %s", h.lock.Name(), lost, consequence)}
}

// note says something besides the error, on standard error.
func (a *app) note(notes ...string) {
	for _, note := range notes {
		if note != "" {
			fmt.Fprintf(a.Stderr, "fencelock: %s\n", note)
		}
	}
}

// environment is that of the command. What an outer "fencelock lock" put there is
// replaced.
func environment(env []string, seq fencing.Sequencer) []string {
	return append(slices.DeleteFunc(slices.Clone(env), isOutput),
		"FENCELOCK_LOCK="+seq.Lock,
		"FENCELOCK_TOKEN="+seq.Token.String(),
		"FENCELOCK_SEQUENCER="+seq.String())
}

func isOutput(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return name == "FENCELOCK_LOCK" || name == "FENCELOCK_TOKEN" || name == "FENCELOCK_SEQUENCER"
}
