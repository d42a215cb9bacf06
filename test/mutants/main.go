// Mutants proves that the tests would notice. For each hole that fencelock's
// protocol closes it opens the hole again, by one small change of the source, and
// runs the tests that must object:
//
//	go run ./test/mutants [-run REGEX] [-chaos=false | -tests=false] [-v] [-list]
//
// A mutant is killed if a test of its fails, by itself or by running out of time;
// it has survived if all of them pass. One that does not compile is broken, which
// is a fault of this program. Some are hunted by test/chaos, too: traffic and faults
// at random, of a kind that finds the hole, until a check of the history objects. That
// such a run fails in another way does not count; nor that tests have killed what it
// has missed. Mutants exits with 1 unless all are killed.
//
// The source tree is never touched: the changed files lie in a temporary folder,
// and the go command reads them in place of the others (-overlay). Each hunter, a
// package and the tests to run in it, runs first without any mutant, where it must
// pass and may skip nothing; and so does each run of test/chaos.
//
// A hole is named by the section of the protocol that closes it: §2 keys, §3
// sessions, §4 locks, §5 the fenced key-value layer, §6 restore and bootstrap; or
// by the resource whose fence has it, see docs/fencing.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	which := flag.String("run", "", "only the mutants whose names match")
	chaos := flag.Bool("chaos", true, "let test/chaos hunt, too, where it can")
	tests := flag.Bool("tests", true, "let tests hunt; otherwise test/chaos hunts alone, the mutants that it can")
	verbose := flag.Bool("v", false, "print what the hunters print")
	list := flag.Bool("list", false, "print the mutants and what hunts them, and end")
	flag.Parse()
	if flag.NArg() > 0 { // flags behind a stray word would be lost
		fmt.Fprintf(os.Stderr, "mutants: what is %q? All that can be said is in flags, see -help\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := hunted(ctx, *which, *verbose, *chaos, *tests, *list)
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutants: %v\n", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

func hunted(ctx context.Context, which string, verbose, chaos, tests, list bool) (ok bool, err error) {
	pattern, err := regexp.Compile(which)
	if err != nil {
		return false, fmt.Errorf("-run: %w", err)
	}
	chosen := matching(all(), pattern)
	if !tests {
		chosen = withoutTests(chosen)
	}
	if len(chosen) == 0 {
		return false, fmt.Errorf("no mutant's name matches %q", which)
	}
	if list {
		printList(os.Stdout, chosen)
		return true, nil
	}
	h, err := newHunt(ctx, verbose, chaos)
	if err != nil {
		return false, err
	}
	defer h.close()
	began := time.Now()
	if err := h.withoutMutants(ctx, chosen); err != nil {
		return false, err
	}
	fmt.Printf("tests that pass without a mutant: %d, in %v\n", len(h.alone), time.Since(began).Round(time.Second))
	var verdicts []verdict
	for _, m := range chosen {
		v := h.judge(ctx, m)
		if ctx.Err() != nil {
			return false, fmt.Errorf("interrupted at %q: %w", m.Name, ctx.Err())
		}
		printVerdict(os.Stdout, v)
		verdicts = append(verdicts, v)
	}
	return printSummary(os.Stdout, verdicts, time.Since(began)), nil
}

func matching(mutants []Mutant, pattern *regexp.Regexp) []Mutant {
	var chosen []Mutant
	for _, m := range mutants {
		if pattern.MatchString(m.Name) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// withoutTests is the mutants that test/chaos hunts, for it alone.
func withoutTests(mutants []Mutant) []Mutant {
	var chosen []Mutant
	for _, m := range mutants {
		if m.Chaos != nil {
			m.Hunters = nil
			chosen = append(chosen, m)
		}
	}
	return chosen
}
