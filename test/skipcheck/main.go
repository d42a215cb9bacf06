// Skipcheck reads the stream of `go test -json` on standard input and prints
// what `go test` would have printed, then the tests that were skipped and why,
// and last a line
//
//	N passed, N failed, N skipped
//
// Subtests count as tests. A package that fails without a failed test (it does
// not build, its TestMain fails) counts as one failure, and so does a test that
// never ended. Skipcheck fails if anything failed, if no test ran at all, and
// with -no-skips if anything was skipped: on a machine that can have all that
// the tests need, a skip is a hole in the net. -may-skip names one package that is
// exempt, since what it needs cannot be installed everywhere.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	noSkips := flag.Bool("no-skips", false, "fail if a test was skipped")
	maySkip := flag.String("may-skip", "", "import path of the package that -no-skips leaves alone")
	flag.Parse()
	ok, err := check(os.Stdin, os.Stdout, rule{noSkips: *noSkips, except: *maySkip})
	if err != nil {
		fmt.Fprintf(os.Stderr, "skipcheck: %v\n", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

func check(in io.Reader, out io.Writer, skips rule) (ok bool, err error) {
	t := newTally(out)
	if err := read(in, t.add, t.say); err != nil {
		return false, fmt.Errorf("read the test stream: %w", err)
	}
	t.endStream()
	return t.verdict(skips), nil
}
