package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/fencelock/fencelock/test/chaos/history"
)

var (
	renew = flag.Bool("update", false, "write the golden files anew")
	keep  = flag.String("keep", "", "folder in which to leave the pages, to look at")
)

func TestText(t *testing.T) {
	var b bytes.Buffer
	Text(&b, syntheticRun(7, time.Minute, 50*time.Millisecond))
	golden(t, "passed.txt", b.Bytes())
	b.Reset()
	Text(&b, failed())
	golden(t, "failed.txt", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *renew {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// failed is a run that has failed in every way, whose texts are hostile.
func failed() Run {
	r := syntheticRun(8, 20*time.Second, 50*time.Millisecond)
	r.Command = "go run ./test/chaos -seed 8 </code><script>alert(1)</script>"
	r.Faults[1].Kind = `<script>alert("kind")</script>`
	r.Faults[1].Error = "m2 did not come back: \x1b[31mred"
	r.Faults[2].Detail = `"><img src=x onerror=alert(2)>`
	r.Faults[2].Group = `"><u>`
	for i := range 7 {
		r.Checks[0].Violations = append(r.Checks[0].Violations, Violation{
			Text: "the write of c2.1-17 is gone & </svg>", Lock: "kv/counter/0", At: start.Add(time.Duration(i+3) * time.Second),
		})
	}
	r.Checks[4].Violations = []Violation{{Text: "m1 and m3 differ"}}
	r.Losses[1].AsStated = 2
	r.Checks[0].Wrong = 9
	for i := range r.Ops {
		if r.Ops[i].Lock == "file/bank/0" {
			r.Ops[i].Lock = `fi"><le/bank/0`
		}
	}
	return r
}

func pageFor(t *testing.T, name string, r Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	if *keep != "" {
		if err := os.WriteFile(filepath.Join(*keep, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestPageTellsOfEachFault(t *testing.T) {
	r := syntheticRun(7, 3*time.Minute, 60*time.Millisecond)
	page := pageFor(t, "passed.html", r)
	words := wellFormed(t, page)
	for _, f := range r.Faults {
		if !strings.Contains(words, f.Kind) {
			t.Errorf("the page does not name %q", f.Kind)
		}
	}
	for _, want := range []string{"PASS", "seed 7", r.Command, r.Notes[0], "Without a fence: an acknowledged update is lost", "Behind a fence: a stale write is refused", "the axis leaps by"} {
		if !strings.Contains(words, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, from := range []string{"src=", "url(http", "@import", "<link"} {
		if strings.Contains(page, from) {
			t.Errorf("the page wants something from elsewhere: %s", from)
		}
	}
}

// One violation is no "1 violations".
func TestPageCountsOneViolation(t *testing.T) {
	r := failed()
	for i := range r.Checks {
		r.Checks[i].Violations, r.Checks[i].Wrong = r.Checks[i].Violations[:min(1, len(r.Checks[i].Violations))], 0
	}
	words := wellFormed(t, pageFor(t, "one.html", r))
	if !strings.Contains(words, "1 violation ") || strings.Contains(words, "1 violations") {
		t.Error(`the page does not say "1 violation"`)
	}
}

func TestPageEscapes(t *testing.T) {
	page := pageFor(t, "failed.html", failed())
	words := wellFormed(t, page)
	for _, bad := range []string{"<script>alert", "<img", "<le", "\"><u>", "& </svg>"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q stands in the page as it is", bad)
		}
	}
	for _, want := range []string{"FAIL", `<script>alert("kind")</script>`, "not done as meant", "and 4 more", "LOST BEHIND A FENCE", "Violation: nothing lost"} {
		if !strings.Contains(words, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// wellFormed reads the page, sees each element closed by its own end, and brings back
// its words.
func wellFormed(t *testing.T, page string) string {
	t.Helper()
	void := map[string]bool{"meta": true}
	var words strings.Builder
	var open []string
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if len(open) > 0 {
				t.Fatalf("never closed: %v", open)
			}
			return words.String()
		case html.TextToken:
			words.WriteString(token.Data)
		case html.StartTagToken:
			if !void[token.Data] {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> ends %v", token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func TestLongRunStaysSmall(t *testing.T) {
	r := syntheticRun(9, 10*time.Minute, 44*time.Millisecond)
	if len(r.Ops) < 900_000 {
		t.Fatalf("only %d operations", len(r.Ops))
	}
	began := time.Now()
	size := len(pageFor(t, "long.html", r))
	took := time.Since(began)
	t.Logf("%d operations, %d faults: %d bytes in %v", len(r.Ops), len(r.Faults), size, took)
	if size > 5_000_000 || took > 30*time.Second {
		t.Errorf("the page has %d bytes and took %v", size, took)
	}
}

func TestEmptyRun(t *testing.T) {
	for _, r := range []Run{{}, {Start: start, End: start.Add(time.Minute)}} {
		if words := wellFormed(t, pageFor(t, "empty.html", r)); r.Passed() || !strings.Contains(words, "FAIL") {
			t.Error("a run that nothing was checked of has passed")
		}
		var b bytes.Buffer
		Text(&b, r)
		if err := JSON(&b, r); err != nil {
			t.Error(err)
		}
	}
}

func TestJSON(t *testing.T) {
	r := syntheticRun(7, time.Minute, 50*time.Millisecond)
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var got figures
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	requests := 0
	for _, o := range r.Ops {
		if request(o) {
			requests++
		}
	}
	total := got.Total
	if sum := total.Acknowledged + total.Refused + total.Unknown + total.Failed; sum != requests {
		t.Errorf("%d operations are told of, there were %d", sum, requests)
	}
	if !got.Passed || got.Seed != 7 || got.Faults != len(r.Faults) || len(got.Targets) != 5 || len(got.Losses) != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestLongestGap(t *testing.T) {
	grants := []history.Time{10, 20, 50, 60}
	for _, c := range []struct {
		from, to, end history.Time
		want          time.Duration
	}{
		{12, 15, 100, 8},  // within a gap: until its end
		{15, 30, 100, 30}, // the gap that begins at 20
		{55, 58, 100, 5},
		{61, 70, 100, 39}, // no grant any more: until the run's end
		{0, 100, 100, 40},
	} {
		if got := longestGap(grants, c.from, c.to, c.end); got != c.want {
			t.Errorf("from %d to %d: got %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

func TestCounterShowsWhatIsLost(t *testing.T) {
	put := func(id int, value, prev string, o history.Outcome) history.Op {
		return history.Op{Event: history.Event{Client: "c1.1", ID: id, Lock: "control/counter/0", Kind: history.Put, Value: value, Prev: prev, Outcome: o},
			Call: history.Time(id), Return: history.Time(id) + 1}
	}
	s := newScene(Run{End: 100, Ops: []history.Op{
		put(1, "a", "", history.OK), put(2, "b", "a", history.OK), put(3, "x", "a", history.Unknown), put(4, "c", "x", history.OK),
	}})
	fates := map[string]string{}
	for _, u := range s.counterOf("control/counter/0") {
		fates[u.op.Value] = u.fate
	}
	if fates["a"] != kept || fates["b"] != lost || fates["c"] != kept || len(fates) != 3 {
		t.Errorf("got %v", fates)
	}
}
