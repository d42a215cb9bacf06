//go:build linux

package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// options are the command line.
type options struct {
	minutes   float64
	seed      uint64
	faults    *regexp.Regexp
	together  int
	clients   int
	ttl       time.Duration
	targets   []string
	workloads []string
	html      string
	json      string
	keep      string
	overlay   string
	clock     bool
	strict    bool
	list      bool
}

func parse(args []string, output io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Float64Var(&opts.minutes, "minutes", 5, "how long faults go on")
	flags.Uint64Var(&opts.seed, "seed", 0, "decides the order of the faults and what clients do; 0: another one each time, which is printed")
	kinds := flags.String("faults", "", "only kinds of faults whose name or group matches this regular expression")
	flags.IntVar(&opts.together, "together", 2, "how many faults at a time at most: 1 or 2")
	flags.IntVar(&opts.clients, "clients", 5, "client processes, 1 to 20")
	flags.DurationVar(&opts.ttl, "ttl", 2*time.Second, "of the clients' sessions")
	targets := flags.String("targets", strings.Join(history.Targets(), ","), "where the data lie; control has no fence")
	workloads := flags.String("workloads", strings.Join(history.Workloads(), ","), "what clients do")
	flags.StringVar(&opts.html, "html", "", "write the report to this file, as a page")
	flags.StringVar(&opts.json, "json", "", "write the figures to this file")
	flags.StringVar(&opts.keep, "keep", "", "put histories and logs into this folder, and leave them there")
	flags.StringVar(&opts.overlay, "overlay", "", "build the members with this overlay, see go help build; the clients are this program")
	flags.BoolVar(&opts.clock, "clock", false, "with jumps of the wall clock: builds members and clients with a clock of their own, which takes minutes the first time")
	flags.BoolVar(&opts.strict, "strict", false, "fail if a kind of fault cannot be had here")
	flags.BoolVar(&opts.list, "list", false, "list the kinds of faults and what each may cost")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	if flags.NArg() > 0 {
		return opts, fmt.Errorf("what is %q? All that can be said is in flags, see -help", flags.Arg(0))
	}
	var err error
	if opts.faults, err = regexp.Compile(*kinds); err != nil {
		return opts, fmt.Errorf("-faults: %w", err)
	}
	if opts.seed == 0 {
		opts.seed = rand.Uint64N(1_000_000-1) + 1
	}
	opts.targets, opts.workloads = strings.Split(*targets, ","), strings.Split(*workloads, ",")
	return opts, opts.validate()
}

func (o options) validate() error {
	if !(o.minutes > 0 && o.minutes <= 24*60) { // NaN is neither
		return fmt.Errorf("-minutes %v: want more than 0 and at most a day", o.minutes)
	}
	if o.clock && o.overlay != "" {
		return fmt.Errorf("-clock brings an overlay of its own: leave out -overlay")
	}
	if o.together < 1 || o.together > 2 || o.clients < 1 || o.clients > 20 || o.ttl < 2*time.Second || o.ttl > 30*time.Second {
		return fmt.Errorf("want -together 1 or 2, -clients 1 to 20, -ttl 2s (etcd's least) to 30s")
	}
	if len(choose(o)) == 0 {
		return fmt.Errorf("-faults '%s' matches no kind and no group: see -list", o.faults)
	}
	if err := oneOf("-targets", o.targets, history.Targets()); err != nil {
		return err
	}
	return oneOf("-workloads", o.workloads, history.Workloads())
}

func oneOf(flag string, given, known []string) error {
	for i, word := range given {
		if !slices.Contains(known, word) || slices.Contains(given[:i], word) {
			return fmt.Errorf("%s %q: want some of %s, each once", flag, word, strings.Join(known, ","))
		}
	}
	return nil
}

// repeat is the command that does the same again.
func (o options) repeat() string {
	words := []string{"go run ./test/chaos", fmt.Sprintf("-minutes %v -seed %d", o.minutes, o.seed)}
	if o.faults.String() != "" {
		words = append(words, fmt.Sprintf("-faults '%s'", o.faults))
	}
	if o.together != 2 {
		words = append(words, fmt.Sprintf("-together %d", o.together))
	}
	if o.clients != 5 || o.ttl != 2*time.Second {
		words = append(words, fmt.Sprintf("-clients %d -ttl %v", o.clients, o.ttl))
	}
	if len(o.targets) != len(history.Targets()) || len(o.workloads) != len(history.Workloads()) {
		words = append(words, "-targets", strings.Join(o.targets, ","), "-workloads", strings.Join(o.workloads, ","))
	}
	if o.clock {
		words = append(words, "-clock")
	}
	if o.overlay != "" {
		words = append(words, "-overlay", o.overlay)
	}
	return strings.Join(words, " ")
}
