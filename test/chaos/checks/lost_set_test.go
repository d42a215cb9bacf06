package checks

import (
	"testing"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// Each operation on a set takes one unit of time; its token is given.

func added(token int64, at history.Time, outcome history.Outcome) history.Op {
	return setOp(history.Event{Kind: history.Add, Token: token, Value: "x", Outcome: outcome}, at)
}

func deleted(token int64, at history.Time, outcome history.Outcome) history.Op {
	return setOp(history.Event{Kind: history.Delete, Token: token, Value: "x", Outcome: outcome}, at)
}

func listed(token int64, at history.Time, items ...string) history.Op {
	return setOp(history.Event{Kind: history.List, Token: token, Items: items, Outcome: history.OK}, at)
}

func setOp(e history.Event, at history.Time) history.Op {
	e.Client, e.Lock = "c1.1", "kv/set/0"
	o := history.Op{Event: e, Call: at, Return: at}
	if e.Outcome == history.Unknown {
		o.Return = history.Never
	}
	return o
}

func TestSets(t *testing.T) {
	for name, c := range map[string]struct {
		right bool
		ops   []history.Op
	}{
		"added and deleted":              {true, []history.Op{added(1, 1, "ok"), listed(2, 2, "x"), deleted(2, 3, "ok"), listed(3, 4)}},
		"unknown, done late":             {true, []history.Op{added(1, 1, "unknown"), listed(1, 2), listed(2, 3, "x")}},
		"unknown, never done":            {true, []history.Op{added(1, 1, "unknown"), listed(1, 2), listed(2, 3)}},
		"unknown deletion, done":         {true, []history.Op{added(1, 1, "ok"), deleted(2, 2, "unknown"), listed(3, 3), listed(4, 4)}},
		"unknown deletion, done late":    {true, []history.Op{added(1, 1, "ok"), deleted(2, 2, "unknown"), listed(2, 3, "x"), listed(3, 4)}},
		"unknown deletion, not done":     {true, []history.Op{added(1, 1, "ok"), deleted(2, 2, "unknown"), listed(3, 3, "x"), listed(4, 4, "x")}},
		"deleted again":                  {true, []history.Op{added(1, 1, "ok"), deleted(2, 2, "unknown"), listed(3, 3, "x"), deleted(3, 4, "ok"), listed(4, 5)}},
		"refused deletion":               {true, []history.Op{added(1, 1, "ok"), deleted(1, 2, "refused"), listed(2, 3, "x")}},
		"lost":                           {false, []history.Op{added(1, 1, "ok"), listed(2, 2)}},
		"comes back":                     {false, []history.Op{added(1, 1, "ok"), deleted(1, 2, "ok"), listed(2, 3, "x")}},
		"unknown, seen and lost":         {false, []history.Op{added(1, 1, "unknown"), listed(2, 2, "x"), listed(3, 3)}},
		"unknown, overtaken and done":    {false, []history.Op{added(1, 1, "unknown"), listed(2, 2), listed(3, 3, "x")}},
		"unknown deletion, overtaken":    {false, []history.Op{added(1, 1, "ok"), deleted(2, 2, "unknown"), listed(3, 3, "x"), listed(4, 4)}},
		"unknown deletion, comes back":   {false, []history.Op{added(1, 1, "ok"), deleted(2, 2, "unknown"), listed(3, 3), listed(4, 4, "x")}},
		"refused deletion had an effect": {false, []history.Op{added(1, 1, "ok"), deleted(1, 2, "refused"), listed(2, 3)}},
		"refused addition had an effect": {false, []history.Op{added(1, 1, "refused"), listed(2, 3, "x")}},
		"read before it was added":       {false, []history.Op{listed(1, 1, "x"), added(2, 2, "ok")}},
	} {
		t.Run(name, func(t *testing.T) {
			r := lostCheck().do(newRun(Input{Ops: c.ops}))
			if r.OK() != c.right {
				t.Errorf("right: %t, want %t: %v", r.OK(), c.right, r.Violations)
			}
		})
	}
}
