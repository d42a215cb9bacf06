package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// hunterTime bounds one hunter. They take seconds; what takes longer hangs.
const hunterTime = time.Minute

// hunt is one run of this program.
type hunt struct {
	root    string // of the tree
	folder  string // temporary
	verbose bool
	chaos   bool                     // test/chaos hunts, too
	alone   map[Hunter]time.Duration // how long hunters have taken without a mutant
}

func newHunt(ctx context.Context, verbose, chaos bool) (*hunt, error) {
	root, err := output(ctx, "", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	return &hunt{root: root, folder: folder, verbose: verbose, chaos: chaos, alone: map[Hunter]time.Duration{}}, nil
}

func (h *hunt) close() { _ = os.RemoveAll(h.folder) }

// outcome is how a hunter has ended.
type outcome struct {
	passed bool
	by     string // what failed
	late   bool   // it ran out of time
}

// withoutMutants runs every hunter on the source as it is. A verdict needs one that
// passes there, and one that does hunt.
func (h *hunt) withoutMutants(ctx context.Context, mutants []Mutant) error {
	binaries := map[string]string{}
	var unfit []error
	for _, m := range mutants {
		for _, hunter := range m.Hunters {
			if _, done := h.alone[hunter]; done {
				continue
			}
			if binaries[hunter.Package] == "" {
				binary, err := h.build(ctx, hunter.Package, "alone"+strings.ReplaceAll(hunter.Package, "/", "_"), "")
				if err != nil {
					return fmt.Errorf("without a mutant: %w", err)
				}
				binaries[hunter.Package] = binary
			}
			began := time.Now()
			text, got := h.hunt(ctx, hunter, binaries[hunter.Package])
			h.alone[hunter] = time.Since(began)
			if err := fit(text, got); err != nil {
				unfit = append(unfit, fmt.Errorf("%s, without a mutant: %w\n%s", hunter, err, text))
			}
		}
	}
	if h.chaos {
		unfit = append(unfit, h.calm(ctx, mutants))
	}
	for _, binary := range binaries {
		_ = os.Remove(binary) // large; the folder goes in the end anyway
	}
	return errors.Join(unfit...)
}

var skipped = regexp.MustCompile(`(?m)^\s*--- SKIP: .*\n.*`)

// fit says why a hunter is of no use.
func fit(text string, got outcome) error {
	switch skips := skipped.FindString(text); {
	case !got.passed:
		return fmt.Errorf("it fails: %s", got.by)
	case strings.Contains(text, "testing: warning: no tests to run"):
		return errors.New("there are no such tests")
	case skips != "":
		return fmt.Errorf("it skips what it should hunt with: %s", strings.TrimSpace(skips))
	}
	return nil
}

// judge lets a mutant's hunters loose on it, one after the other, until one kills; and
// test/chaos beside them.
func (h *hunt) judge(ctx context.Context, m Mutant) (v verdict) {
	began := time.Now()
	defer func() { v.took = time.Since(began) }()
	v = verdict{mutant: m}
	folder, err := os.MkdirTemp(h.folder, "mutant")
	if err != nil {
		return v.brokenBy(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	over, err := overlay(h.root, folder, m)
	if err != nil {
		return v.brokenBy(err)
	}
	if v = h.tests(ctx, v, filepath.Base(folder), over); v.broken != nil || m.Chaos == nil || !h.chaos {
		return v
	}
	return h.chase(ctx, v, folder, over)
}

func (h *hunt) tests(ctx context.Context, v verdict, folder, over string) verdict {
	for i, hunter := range v.mutant.Hunters {
		binary, err := h.build(ctx, hunter.Package, filepath.Join(folder, fmt.Sprintf("hunter%d", i)), over)
		if err != nil {
			return v.brokenBy(err)
		}
		if _, got := h.hunt(ctx, hunter, binary); !got.passed {
			return v.killedBy(hunter.Package+" "+got.by, got.late)
		}
	}
	return v
}

// build links the tests of a package, with a mutant or without, and returns the
// program's path.
func (h *hunt) build(ctx context.Context, pkg, name, over string) (string, error) {
	binary := filepath.Join(h.folder, name+".test")
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary, pkg} // without symbols it links in half the time
	if over != "" {
		args = append(args, "-overlay", over)
	}
	if _, err := output(ctx, h.root, "go", args...); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w", pkg, err)
	}
	return binary, nil
}

// hunt runs tests that have been built, in the folder of their package.
func (h *hunt) hunt(ctx context.Context, hunter Hunter, binary string) (text string, got outcome) {
	bounded, cancel := context.WithTimeout(ctx, hunterTime+hunterTime/4) // the test program's own bound comes first
	defer cancel()
	p := process{dir: filepath.Join(h.root, filepath.FromSlash(hunter.Package)), echo: h.verbose}
	text, err := p.run(bounded, binary, "-test.v", "-test.failfast", "-test.count=1",
		"-test.run="+hunter.Run, "-test.timeout="+hunterTime.String())
	return text, outcomeOf(text, err, bounded.Err() != nil)
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// outcomeOf reads what a test program has printed.
func outcomeOf(text string, err error, late bool) outcome {
	if err == nil {
		return outcome{passed: true}
	}
	got := outcome{by: err.Error(), late: late || strings.Contains(text, "panic: test timed out after")}
	if failed := failure.FindAllStringSubmatch(text, -1); failed != nil {
		got.by = deepest(failed)
	}
	return got
}

// deepest is the subtest that has failed first, after its parents.
func deepest(failed [][]string) (name string) {
	for _, f := range failed {
		if strings.HasPrefix(f[1], name) {
			name = f[1]
		}
	}
	return name
}
