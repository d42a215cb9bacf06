//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fencelock/fencelock/test/chaos/checks"
	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/report"
)

// errFound is told after the report, which says what.
var errFound = errors.New("the run has failed, see above")

// judge checks what was written down, and tells. broken is what ended the run early.
func (s *scenario) judge(broken error) error {
	ops, err := s.progress.ops()
	if err != nil {
		return errors.Join(broken, err)
	}
	in := checks.Input{Ops: ops, Faults: s.rounds.done, Start: s.start, End: s.end, TTL: s.ttl, Election: election}
	found := report.Run{Command: s.repeat(), Seed: s.seed, Began: s.began, TTL: s.ttl, Ops: ops, Faults: s.rounds.done, Notes: s.notes,
		Start: beginning(ops), End: history.Now()}
	if broken != nil {
		found.Checks = append(found.Checks, report.Check{Name: "the run came to its end", What: "everything could be started, healed and ended",
			Counted: 1, Violations: []report.Violation{{Text: broken.Error()}}})
	}
	for _, r := range checks.Run(in) {
		found.Checks = append(found.Checks, outcome(r))
	}
	for _, l := range checks.Losses(in) {
		found.Losses = append(found.Losses, report.Loss{Target: l.Target, Acknowledged: l.Acknowledged, Lost: l.Lost + l.Stated, AsStated: l.Stated})
	}
	if s.keep != "" {
		if err := s.keepInput(in); err != nil {
			return err
		}
	}
	report.Text(s.output, found)
	if err := errors.Join(write(s.html, found, report.HTML), write(s.json, found, report.JSON)); err != nil {
		return err
	}
	if !found.Passed() {
		return errFound
	}
	return nil
}

// keepInput writes down what the checks need beside the histories.
func (s *scenario) keepInput(in checks.Input) error {
	in.Ops = nil
	text, err := json.MarshalIndent(in, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.folder, "faults.json"), text, 0o644)
}

func beginning(ops []history.Op) history.Time {
	if len(ops) == 0 {
		return history.Now()
	}
	return ops[0].Call
}

// outcome is a check's result as the report wants it.
func outcome(r checks.Result) report.Check {
	c := report.Check{Name: r.Name, What: r.What, Counted: r.Counted, Wrong: r.Wrong, Note: r.Note}
	for _, v := range r.Violations {
		c.Violations = append(c.Violations, report.Violation{Text: v.Text, Lock: v.Lock, At: v.At})
	}
	return c
}

// writable finds out before the run what write would after it.
func writable(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// write writes one form of the report, if it was asked for.
func write(path string, found report.Run, form func(io.Writer, report.Run) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(form(f, found), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
