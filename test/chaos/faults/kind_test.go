//go:build linux

package faults

import (
	"slices"
	"testing"
	"time"
)

var (
	knownGroups = []string{"process", "client", "network", "link", "cluster", "disk", "cpu", "clock", "lock", "resource"}
	knownTakes  = []string{members, clients, network, links, locks, upkeep, cpu, clocks, postgres, redis}
	knownNeeds  = []string{namespaces, images, strace, ownClocks}
)

// Who runs kinds relies on all of this.
func TestKinds(t *testing.T) {
	all := All()
	if len(all) < 40 {
		t.Errorf("%d kinds, want at least 40", len(all))
	}
	seen, groups := map[string]bool{}, map[string]int{}
	for _, k := range all {
		if k.Name == "" || seen[k.Name] {
			t.Errorf("two kinds are called %q, or one has no name", k.Name)
		}
		seen[k.Name] = true
		groups[k.Group]++
		for _, objection := range objections(k) {
			t.Errorf("%s: %s", k.Name, objection)
		}
	}
	for _, group := range knownGroups {
		if groups[group] == 0 {
			t.Errorf("no kind in group %s", group)
		}
	}
	t.Logf("%d kinds: %v", len(all), groups)
}

func objections(k Kind) (all []string) {
	object := func(wrong bool, text string) {
		if wrong {
			all = append(all, text)
		}
	}
	object(!slices.Contains(knownGroups, k.Group), "its group is unknown")
	object(k.Do == nil, "it does nothing")
	object(k.Cost.Words == "", "its cost is not in words")
	object(k.Cost.Service < slack || k.Cost.Service > time.Minute, "its service is no bound")
	object(k.Cost.Pauses && !k.Cost.Sessions, "who stands still loses its session")
	object(!slices.Contains([]string{"", "kv", "redis"}, k.Cost.Rollback), "nobody knows the target that it sets back")
	object(k.Cost.Since != 0 || k.Cost.SinceEnd != 0, "the time is known before it is run")
	object(len(k.Takes) == 0, "it takes nothing: it could be run beside itself")
	for _, takes := range k.Takes {
		object(!slices.Contains(knownTakes, takes), "takes "+takes)
	}
	for _, needs := range k.Needs {
		object(!slices.Contains(knownNeeds, needs), "needs "+needs)
	}
	return all
}

func TestKindsCanBeObjectedTo(t *testing.T) {
	good := All()[0]
	for want, spoil := range map[string]func(*Kind){
		"its group is unknown":                            func(k *Kind) { k.Group = "weather" },
		"it does nothing":                                 func(k *Kind) { k.Do = nil },
		"its cost is not in words":                        func(k *Kind) { k.Cost.Words = "" },
		"its service is no bound":                         func(k *Kind) { k.Cost.Service = 0 },
		"who stands still loses its session":              func(k *Kind) { k.Cost.Pauses, k.Cost.Sessions = true, false },
		"nobody knows the target that it sets back":       func(k *Kind) { k.Cost.Rollback = "everything" },
		"the time is known before it is run":              func(k *Kind) { k.Cost.Since = 1 },
		"it takes nothing: it could be run beside itself": func(k *Kind) { k.Takes = nil },
		"takes weather":                                   func(k *Kind) { k.Takes = []string{"weather"} },
		"needs weather":                                   func(k *Kind) { k.Needs = []string{"weather"} },
	} {
		bad := good
		spoil(&bad)
		if got := objections(bad); !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := objections(good); len(got) != 0 {
		t.Errorf("%s: %q", good.Name, got)
	}
}
