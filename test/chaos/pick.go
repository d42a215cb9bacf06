//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/faults"
)

// pick is the kinds that were asked for and can be had here. What the others lack is
// noted, once for all that lack the same.
func (s *scenario) pick() error {
	var lacking map[string][]string
	s.kinds, lacking = possible(choose(s.options), s.world.Has)
	for _, need := range slices.Sorted(maps.Keys(lacking)) {
		s.notes = append(s.notes, leftOut(need, lacking[need]))
	}
	if len(s.kinds) == 0 {
		return fmt.Errorf("no kind of fault is left to run, see -list; %s", strings.Join(s.notes, "; "))
	}
	delete(lacking, "clock") // the machine does not lack it
	if s.strict && len(lacking) > 0 {
		return errors.New("-strict: " + strings.Join(s.notes, "; "))
	}
	return nil
}

// choose is the kinds that the command line asks for.
func choose(opts options) []faults.Kind {
	var chosen []faults.Kind
	for _, kind := range faults.All() {
		if opts.faults.MatchString(kind.Name) || opts.faults.MatchString(kind.Group) {
			chosen = append(chosen, kind)
		}
	}
	return chosen
}

// possible parts kinds into those whose needs are met and the names of the others,
// by the first need that is not.
func possible(kinds []faults.Kind, has func(need string) bool) (met []faults.Kind, lacking map[string][]string) {
	lacking = map[string][]string{}
	for _, kind := range kinds {
		if i := slices.IndexFunc(kind.Needs, func(need string) bool { return !has(need) }); i >= 0 {
			lacking[kind.Needs[i]] = append(lacking[kind.Needs[i]], kind.Name)
		} else {
			met = append(met, kind)
		}
	}
	return met, lacking
}

// leftOut says which kinds are not run, and what would have them run.
func leftOut(need string, names []string) string {
	way := map[string]string{
		"namespaces": "network namespaces (be root)",
		"loop":       "file systems in images (be root, on a machine with loop devices)",
		"strace":     "strace (install it, and be allowed to trace)",
		"clock":      "clocks of their own (say -clock)",
	}[need]
	if way == "" {
		way = need
	}
	return fmt.Sprintf("not run, kinds that need %s: %d: %s", way, len(names), strings.Join(names, ", "))
}
