package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// figures are what JSON writes. Moments are nanoseconds from the run's start.
type figures struct {
	Command string          `json:"command"`
	Seed    uint64          `json:"seed"`
	Began   time.Time       `json:"began"`
	Length  time.Duration   `json:"length_ns"`
	TTL     time.Duration   `json:"ttl_ns"`
	Passed  bool            `json:"passed"`
	Total   targetFigures   `json:"total"`
	Targets []targetFigures `json:"targets"`
	Faults  int             `json:"faults"`
	Kinds   []kindFigures   `json:"kinds"`
	Losses  []lossFigures   `json:"losses"`
	Checks  []checkFigures  `json:"checks"`
	Notes   []string        `json:"notes,omitempty"`
}

type lossFigures struct {
	Target       string  `json:"target"`
	Acknowledged int     `json:"acknowledged"`
	Lost         int     `json:"lost"`
	AsStated     int     `json:"as_stated"` // of lost
	Percent      float64 `json:"percent_beyond"`
}

type checkFigures struct {
	Name       string             `json:"name"`
	What       string             `json:"what"`
	Counted    int                `json:"counted"`
	Passed     bool               `json:"passed"`
	Violated   int                `json:"violated"` // how often; the first few follow
	Violations []violationFigures `json:"violations,omitempty"`
	Note       string             `json:"note,omitempty"`
}

type violationFigures struct {
	Text string        `json:"text"`
	Lock string        `json:"lock,omitempty"`
	At   time.Duration `json:"at_ns,omitempty"`
}

// JSON writes the figures for machines, without the operations.
func JSON(w io.Writer, r Run) error {
	f := figures{
		Command: r.Command, Seed: r.Seed, Began: r.Began, Length: r.length(), TTL: r.TTL,
		Passed: r.Passed(), Faults: len(r.Faults), Kinds: kindsOf(r), Notes: r.Notes,
		Losses: []lossFigures{}, Checks: []checkFigures{},
	}
	f.Targets, f.Total = targetsOf(r)
	for _, l := range r.Losses {
		f.Losses = append(f.Losses, lossFigures{l.Target, l.Acknowledged, l.Lost, l.AsStated, l.Percent()})
	}
	for _, c := range r.Checks {
		f.Checks = append(f.Checks, checkOf(r, c))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

func checkOf(r Run, c Check) checkFigures {
	f := checkFigures{
		Name: c.Name, What: c.What, Counted: c.Counted, Note: c.Note,
		Passed: c.wrong() == 0, Violated: c.wrong(),
	}
	for _, v := range c.Violations[:min(len(c.Violations), shownViolations)] {
		f.Violations = append(f.Violations, violationFigures{Text: v.Text, Lock: v.Lock, At: since(r.Start, v.At)})
	}
	return f
}

// since is 0 for no moment.
func since(start, at history.Time) time.Duration {
	if at == 0 {
		return 0
	}
	return at.Sub(start)
}
