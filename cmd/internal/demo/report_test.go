package demo

import (
	"slices"
	"strings"
	"testing"
)

// asItMust is a report of a demo that went well.
func asItMust() Report {
	lost := func(name, who string, add int) Result {
		return Result{Case: name, Tokens: Tokens{A: 2, B: 3}, StaleWrite: Accepted, UpdateLost: true, Due: 130, Balance: 130 - add, Missing: []Update{{who, add}}}
	}
	kept := func(name string) Result {
		return Result{Case: name, Fenced: true, Tokens: Tokens{A: 8, B: 10}, StaleWrite: Refused, Highest: 10, Due: 130, Balance: 130}
	}
	return Report{Members: 3, Cases: []Result{lost(lateWriter, "B", addB), kept(lateWriter), lost(crossing, "A", addA), kept(crossing)}}
}

func TestCheckAcceptsWhatMustBe(t *testing.T) {
	if err := asItMust().Check(); err != nil {
		t.Error(err)
	}
}

func TestCheckNamesTheRunThatWentWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Report)
		want  string
	}{
		{"fenced run lost an update", func(r *Report) {
			r.Cases[1].UpdateLost, r.Cases[1].Missing, r.Cases[1].Balance = true, []Update{{"B", addB}}, 110
		}, "late-writer, fenced: LOST behind the fence: B's 20"},
		{"fence let A in", func(r *Report) { r.Cases[3].StaleWrite = Accepted }, "crossing, fenced: the late write of A was accepted"},
		{"refusal names another token", func(r *Report) { r.Cases[3].Highest = 9 }, "crossing, fenced: the refusal named 9"},
		{"unfenced run lost nothing", func(r *Report) { r.Cases[0].UpdateLost = false }, "late-writer, unfenced: no update was lost"},
		{"unfenced write was refused", func(r *Report) { r.Cases[2].StaleWrite = Refused }, "crossing, unfenced: the late write of A was refused"},
		{"tokens do not rise", func(r *Report) { r.Cases[2].Tokens.B = 2 }, "crossing, unfenced: the token of B, 2, is not higher"},
		{"a run is missing", func(r *Report) { r.Cases = r.Cases[:3] }, "3 runs were played, want 4"},
	} {
		report := asItMust()
		c.spoil(&report)
		err := report.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", c.name, err, c.want)
		}
	}
}

func TestMissingUpdatesFollowFromTheBalance(t *testing.T) {
	a, b := Update{"A", addA}, Update{"B", addB}
	both := ledger{b, a}
	for _, c := range []struct {
		acknowledged ledger
		balance      int
		want         []Update
	}{
		{both, 130, nil},
		{both, 120, []Update{a}},
		{both, 110, []Update{b}},
		{both, 100, []Update{b, a}},
		{ledger{b}, 120, nil},
		{ledger{b}, 100, []Update{b}},
	} {
		got, err := c.acknowledged.missing(c.balance)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("acknowledged %v, balance %d: got %v, %v, want %v", c.acknowledged, c.balance, got, err, c.want)
		}
	}
	for _, balance := range []int{0, 99, 115, 140} {
		if got, err := both.missing(balance); err == nil {
			t.Errorf("balance %d cannot be, got %v", balance, got)
		}
	}
	if got, err := (ledger{b}).missing(130); err == nil {
		t.Errorf("a write that was refused is in the balance, got %v", got)
	}
}
