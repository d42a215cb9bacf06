package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkKeys refuses a file with keys that are no settings.
func checkKeys(v source) error {
	var known []string
	for _, s := range settings(new(Config)) {
		known = append(known, s.key)
	}
	found := v.AllKeys()
	slices.Sort(found)
	var errs []error
	for _, key := range found {
		if !slices.Contains(known, key) && !emptySection(v, key, known) {
			errs = append(errs, unknownKey(v.at(key), key, known))
		}
	}
	return errors.Join(errs...)
}

// emptySection reports whether key is a section with nothing in it.
func emptySection(v source, key string, known []string) bool {
	isSection := slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
	return isSection && v.Get(key) == nil
}

func unknownKey(place, key string, known []string) error {
	if meant := Closest(key, known); meant != "" {
		return fmt.Errorf("%s: unknown key %s; did you mean %s?", place, key, meant)
	}
	return fmt.Errorf("%s: unknown key %s; the sections are client and server", place, key)
}

// Closest returns the word of known that was probably meant by word, or "": one
// that is word with a section before it, or one in which no more has to be changed
// than a third of the name that was given, without its section.
func Closest(word string, known []string) string {
	most := max(1, len(word[strings.LastIndex(word, ".")+1:])/3)
	best, changes := "", most+1
	for _, k := range known {
		if strings.HasSuffix(k, "."+word) {
			return k
		}
		if d := distance(word, k); d < changes {
			best, changes = k, d
		}
	}
	return best
}

// distance is how many bytes have to be put in, taken out or replaced, or two that
// stand side by side exchanged, to make b of a.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replace := row[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(next[j]+1, row[j+1]+1, replace)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
