// Command bench measures fencelock beside what it is made of: etcd's own mutex and
// plain reads and writes, on the same members, in the same run.
//
//	go run ./test/bench                 three members, every work
//	go run ./test/bench -members 1 -run handover -pairs 20 -o json
//	go run ./test/bench -fences         what the fences of other resources cost
//
// The members run as processes of their own, with fsync as in production. Each
// work is done in short turns, ours and the other's in alternation, at least ten
// pairs of them; what is reported is the median of the ratios of the pairs, and
// their spread. A machine that is busy with something else changes both sides of
// a pair alike, absolute numbers it does not leave alone.
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

// options are the command line.
type options struct {
	members int
	pairs   int
	turn    time.Duration
	run     *regexp.Regexp
	output  string
	fences  bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == memberMode {
		os.Exit(runMember(os.Args[2:]))
	}
	opts, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	work := bench
	if opts.fences {
		work = benchFences
	}
	if err := work(ctx, opts); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var opts options
	flags.IntVar(&opts.members, "members", 3, "members of the cluster: 1 or 3")
	flags.IntVar(&opts.pairs, "pairs", 10, "pairs of turns for each work")
	flags.DurationVar(&opts.turn, "turn", time.Second, "length of one turn")
	run := flags.String("run", "", "only works whose name matches this regular expression")
	flags.StringVar(&opts.output, "o", "table", "table or json")
	flags.BoolVar(&opts.fences, "fences", false, "fenced writes beside plain ones in PostgreSQL, MariaDB, SQLite, Redis and a file")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	if opts.members != 1 && opts.members != 3 || opts.pairs < 1 || opts.turn <= 0 || opts.output != "table" && opts.output != "json" {
		return opts, fmt.Errorf("want -members 1 or 3, -pairs and -turn above zero, -o table or json")
	}
	var err error
	opts.run, err = regexp.Compile(*run)
	return opts, err
}

// bench starts the members, measures and reports.
func bench(ctx context.Context, opts options) error {
	cluster, err := startMembers(ctx, opts.members)
	if err != nil {
		return err
	}
	defer cluster.stop()
	report := report{Members: opts.members, Pairs: opts.pairs, Turn: opts.turn.String()}
	for _, w := range works() {
		if !opts.run.MatchString(w.name) {
			continue
		}
		result, err := measure(ctx, cluster, w, opts)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		report.Results = append(report.Results, result)
		if opts.output == "table" {
			fmt.Println(result.line())
		}
	}
	if opts.run.MatchString("waiters") {
		if report.Waiters, err = measureWaiters(ctx, cluster); err != nil {
			return fmt.Errorf("waiters: %w", err)
		}
	}
	return report.print(os.Stdout, opts.output)
}
