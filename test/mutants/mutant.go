package main

import (
	"slices"
	"strings"
)

// Mutant is a small change of the source that opens one hole of the protocol.
type Mutant struct {
	Name    string
	Hole    string // the section of the protocol, and what it says
	Edits   []Edit
	Hunters []Hunter // the cheapest first
	Chaos   []string // arguments of test/chaos, whose checks must object, too; nil: it does not hunt
}

// Edit replaces a text that occurs exactly once in a file.
type Edit struct {
	File     string // from the top of the tree
	Old, New string
}

// Hunter is tests of one package.
type Hunter struct {
	Package string // "./client"
	Run     string // as in go test -run
}

func (h Hunter) String() string { return h.Package + " " + h.Run }

func all() []Mutant {
	return slices.Concat(fenceOfStoreMutants, outcomeMutants, sessionMutants, endMutants, enqueueMutants, waitMutants,
		restoreMutants, bootstrapMutants, sqlMutants, redisMutants, fileMutants)
}

// edit is the usual case of a mutant: one edit.
func edit(file, old, new string) []Edit { return []Edit{{File: file, Old: old, New: new}} }

// tests is the usual case of hunters: tests of one package, by their full names.
func tests(pkg string, names ...string) []Hunter {
	return []Hunter{{Package: pkg, Run: "^(" + strings.Join(names, "|") + ")$"}}
}
