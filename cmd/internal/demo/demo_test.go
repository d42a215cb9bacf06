//go:build unix

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// mostTime is what the demo promises to take at most.
const mostTime = 45 * time.Second

var program string // fencelock, built by TestMain

func TestMain(m *testing.M) {
	code, err := withProgram(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withProgram(run func() int) (int, error) {
	dir, err := os.MkdirTemp("", "fencelock-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "fencelock")
	build := exec.Command("go", "build", "-o", program, "github.com/fencelock/fencelock/cmd/fencelock")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build fencelock: %w\n%s", err, out)
	}
	return run(), nil
}

// demoCommand runs the demo as a user would, with its folder below dir.
func demoCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	return cmd
}

// mustBeEmpty: the demo has removed its folder.
func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("the demo left %v behind", left)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := demoCommand(dir, "-o", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	if took := time.Since(start); took > mostTime {
		t.Errorf("took %v, want less than %v", took, mostTime)
	}
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("demo -o json: %v; standard error: %s", err, stderr.Bytes())
	}
	var got, want any
	var report Report
	if err := errors.Join(json.Unmarshal(out, &got), json.Unmarshal(out, &report)); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if err := report.checkTokens(); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if err := json.Unmarshal([]byte(wantJSON(report)), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	mustBeEmpty(t, dir)
}

// checkTokens is for a report whose unexported half is not there.
func (r Report) checkTokens() error {
	if len(r.Cases) != 4 {
		return fmt.Errorf("%d cases, want 4", len(r.Cases))
	}
	for _, c := range r.Cases {
		if !c.Tokens.A.Valid() || c.Tokens.B <= c.Tokens.A {
			return fmt.Errorf("tokens %v, want 0 < A < B", c.Tokens)
		}
	}
	return nil
}

// wantJSON is the whole output for these tokens.
func wantJSON(r Report) string {
	entry := func(i int, name string, fenced bool, stale string, lost bool) string {
		return fmt.Sprintf(`{"case":%q,"fenced":%v,"tokens":{"A":"%v","B":"%v"},"stale_write":%q,"update_lost":%v}`,
			name, fenced, r.Cases[i].Tokens.A, r.Cases[i].Tokens.B, stale, lost)
	}
	return `{"members":3,"cases":[` + strings.Join([]string{
		entry(0, "late-writer", false, "accepted", true),
		entry(1, "late-writer", true, "refused", false),
		entry(2, "crossing", false, "accepted", true),
		entry(3, "crossing", true, "refused", false),
	}, ",") + `]}`
}

func TestText(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	report, err := Run(context.Background(), Config{Worker: []string{program, "demo", "worker"}, Text: &text})
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if err := report.Check(); err != nil {
		t.Errorf("%v\n%s", err, text.String())
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns, want 100 at most: %s", n, line)
		}
	}
	rest := text.String()
	for _, want := range essentials(report) {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %q in the rest of the output:\n%s", want, rest)
		}
		rest = after
	}
}

// essentials are what a reader must find in the timeline, in this order.
func essentials(report Report) []string {
	var all []string
	run := func(head string, verdict ...string) {
		all = append(all, head, "STOPPED by SIGSTOP", "gets the lock", "WOKEN by SIGCONT")
		all = append(all, verdict...)
	}
	refusal := func(i int) string {
		return fmt.Sprintf("REFUSED by the store: stale, the fence stands at %v", report.Cases[i].Tokens.B)
	}
	run("1/4  late-writer: lock alone", "UPDATE LOST", "= 130, but the balance is 110: B's 20 is gone")
	run("2/4  late-writer: lock and fence", refusal(1), "NOTHING LOST", "= 130, and the balance is 130")
	run("3/4  crossing: lock alone", "UPDATE LOST", "= 130, but the balance is 120: A's 10 is gone")
	run("4/4  crossing: lock and fence", refusal(3), "NOTHING LOST", "= 130, and the balance is 130")
	return append(all, "A's late write", "What to read next", "README.md", "docs/design.md")
}
