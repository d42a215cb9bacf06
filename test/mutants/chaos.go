package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// chaosTime bounds one run of test/chaos, which takes a minute.
	chaosTime = 4 * time.Minute

	// tries is how often test/chaos may hunt a mutant: what is hit when is chance.
	tries = 2

	// cameToEnd is the check that says a run could not be made as it was meant. That
	// it fails tells nothing of the protocol.
	cameToEnd = "the run came to its end"
)

// run is what test/chaos has written about one.
type run struct {
	Checks []struct {
		Name       string
		Passed     bool
		Counted    int
		Violations []struct{ Text string }
	}
}

// objections is the checks that have seen a promise broken.
func (r run) objections() []string {
	var names []string
	for _, c := range r.Checks {
		if !c.Passed && c.Name != cameToEnd && (c.Counted > 0 || len(c.Violations) > 0 && c.Violations[0].Text != "saw nothing") {
			names = append(names, c.Name)
		}
	}
	return names
}

// calm lets every run of test/chaos that will hunt pass once without a mutant.
func (h *hunt) calm(ctx context.Context, mutants []Mutant) error {
	binary := ""
	passed := map[string]bool{}
	var unfit []error
	for _, m := range mutants {
		words := strings.Join(m.Chaos, " ")
		if m.Chaos == nil || passed[words] {
			continue
		}
		passed[words] = true
		if binary == "" {
			var err error
			if binary, err = h.buildChaos(ctx, h.folder, ""); err != nil {
				return fmt.Errorf("without a mutant: %w", err)
			}
		}
		fmt.Printf("without a mutant: test/chaos %s\n", words)
		if _, text, err := h.unleash(ctx, binary, m.Chaos); err != nil {
			unfit = append(unfit, fmt.Errorf("test/chaos %s, without a mutant: %w\n%s", words, err, text))
		}
	}
	return errors.Join(unfit...)
}

// chase lets test/chaos hunt a mutant. Clients and members are both built with it.
func (h *hunt) chase(ctx context.Context, v verdict, folder, over string) verdict {
	binary, err := h.buildChaos(ctx, folder, over)
	if err != nil {
		return v.brokenBy(err)
	}
	v.hunted = true
	for range tries {
		found, text, err := h.unleash(ctx, binary, append([]string{"-overlay", over}, v.mutant.Chaos...))
		var exit *exec.ExitError
		switch {
		case err == nil: // it has seen nothing
		case !errors.As(err, &exit) || exit.ExitCode() != 1:
			v.astray = fmt.Sprintf("%v: %s", err, lastLine(text))
		default:
			if v.objected = found.objections(); len(v.objected) > 0 {
				v.astray = ""
				return v
			}
			v.astray = lastLine(text)
		}
	}
	return v
}

func (h *hunt) buildChaos(ctx context.Context, folder, over string) (string, error) {
	binary := filepath.Join(folder, "chaos")
	args := []string{"build", "-ldflags=-s -w", "-o", binary}
	if over != "" {
		args = append(args, "-overlay", over)
	}
	if _, err := output(ctx, h.root, "go", append(args, "./test/chaos")...); err != nil {
		return "", fmt.Errorf("build test/chaos: %w", err)
	}
	return binary, nil
}

// unleash runs test/chaos once.
func (h *hunt) unleash(ctx context.Context, binary string, args []string) (found run, text string, err error) {
	bounded, cancel := context.WithTimeout(ctx, chaosTime)
	defer cancel()
	report := filepath.Join(h.folder, "chaos.json")
	defer os.Remove(report)
	p := process{dir: h.root, echo: h.verbose}
	text, err = p.run(bounded, binary, append([]string{"-json", report}, args...)...)
	if written, missing := os.ReadFile(report); missing == nil {
		if bad := json.Unmarshal(written, &found); bad != nil {
			return found, text, fmt.Errorf("read the report: %w", bad)
		}
	}
	return found, text, err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
