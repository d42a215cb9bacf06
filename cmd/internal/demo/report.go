package demo

import (
	"errors"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
)

// Report is what the runs of a demo came to.
type Report struct {
	Members int      `json:"members"`
	Cases   []Result `json:"cases"`
}

// Result is what one run came to.
type Result struct {
	Case       string `json:"case"`   // late-writer or crossing
	Fenced     bool   `json:"fenced"` // else the lock alone guards a file
	Tokens     Tokens `json:"tokens"`
	StaleWrite string `json:"stale_write"` // what A's late write was answered: accepted or refused
	UpdateLost bool   `json:"update_lost"` // whether Missing has any

	Balance int           `json:"-"` // of the account, in the end
	Due     int           `json:"-"` // what it would be with every update that was acknowledged
	Missing []Update      `json:"-"` // acknowledged, and not in the balance
	Highest fencing.Token `json:"-"` // the fence, as the refusal of A's write named it

	moments []moment // what happened, in order
	sum     string   // what was acknowledged, added up
}

// Tokens are those that the workers' locks had when their ways crossed.
type Tokens struct {
	A fencing.Token `json:"A"`
	B fencing.Token `json:"B"`
}

// The values of Result.StaleWrite.
const (
	Accepted = "accepted"
	Refused  = "refused"
)

// Check returns nil if every run ended as it must: without a fence an update is
// lost, with one A's late write is refused and nothing is lost. Its error has one
// line for each run that did not.
func (r Report) Check() error {
	var errs []error
	if want := len(scenes()); len(r.Cases) != want {
		errs = append(errs, fmt.Errorf("%d runs were played, want %d", len(r.Cases), want))
	}
	for _, result := range r.Cases {
		if err := result.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", scene{result.Case, result.Fenced}, err))
		}
	}
	return errors.Join(errs...)
}

func (r Result) check() error {
	switch {
	case r.Tokens.B <= r.Tokens.A:
		return fmt.Errorf("the token of B, %v, is not higher than that of A, %v, though B held the lock later", r.Tokens.B, r.Tokens.A)
	case !r.Fenced && r.StaleWrite != Accepted:
		return fmt.Errorf("the late write of A was %s, but nothing was there to refuse it", r.StaleWrite)
	case !r.Fenced && !r.UpdateLost:
		return fmt.Errorf("no update was lost (balance %d), so the run shows nothing", r.Balance)
	case r.Fenced && r.UpdateLost:
		return fmt.Errorf("LOST behind the fence: %s (balance %d)", list(r.Missing), r.Balance)
	case r.Fenced && r.StaleWrite != Refused:
		return fmt.Errorf("the late write of A was %s: the fence let an overtaken holder in", r.StaleWrite)
	case r.Fenced && r.Highest != r.Tokens.B:
		return fmt.Errorf("the refusal named %v as the highest token, want %v, which is B's", r.Highest, r.Tokens.B)
	}
	return nil
}

// verdict says in one line what the run came to.
func (r Result) verdict() string {
	if r.UpdateLost {
		return fmt.Sprintf("UPDATE LOST: %s = %d, but the balance is %d: %s is gone", r.sum, r.Due, r.Balance, list(r.Missing))
	}
	return fmt.Sprintf("NOTHING LOST: %s = %d, and the balance is %d", r.sum, r.Due, r.Balance)
}
