package filefence_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
)

func TestRecord(t *testing.T) {
	for want, seq := range map[string]fencing.Sequencer{
		"fence 1 none ":                            {},
		"fence 1 reports/daily#1234 d28d6d02\n":    {Lock: "reports/daily", Token: 1234},
		"fence 1 a%20b#9223372036854775807 ":       {Lock: "a b", Token: math.MaxInt64},
		"fence 1 " + strings.Repeat("%C3%A9", 127): {Lock: strings.Repeat("é", 127), Token: 1<<53 + 1},
	} {
		text := filefence.Encode(seq)
		if !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "\n") {
			t.Errorf("%+v: got %q, want %q…", seq, text, want)
		}
		if got, err := filefence.Decode(text); err != nil || got != seq {
			t.Errorf("%q is read as %+v, %v, want %+v", text, got, err, seq)
		}
	}
}

// Whatever a torn or damaged line still says, it is not read.
func TestDamagedRecord(t *testing.T) {
	text := filefence.Encode(seq(1234))
	var damaged []string
	for i := range len(text) {
		damaged = append(damaged, text[:i], text[i:], text[:i]+text[i:]+text[:i])
		for bit := range 8 {
			flipped := []byte(text)
			flipped[i] ^= 1 << bit
			damaged = append(damaged, string(flipped))
		}
	}
	for _, d := range damaged {
		if d == text {
			continue
		}
		if got, err := filefence.Decode(d); err == nil {
			t.Errorf("%q is read as %v", d, got)
		}
	}
}

func TestDamagedSideFileAdmitsNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	f := open(t, filefence.Config{Path: path})
	mustWrite(t, f, 1234, "x")
	for _, left := range []int64{20, 0} {
		if err := os.Truncate(path+".fence", left); err != nil {
			t.Fatal(err)
		}
		for _, token := range []fencing.Token{1, 1234, 5000} {
			err := f.Write(t.Context(), seq(token), []byte("y"))
			if err == nil || !strings.Contains(err.Error(), path+".fence") || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("%d bytes left, token %v: got %v, want an error that names the side file and says what to do", left, token, err)
			}
		}
	}
	wantText(t, path, "x")
}
