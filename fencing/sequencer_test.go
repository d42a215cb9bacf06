package fencing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

func TestSequencerText(t *testing.T) {
	for text, seq := range map[string]fencing.Sequencer{
		"accounts/42#1234":     {Lock: "accounts/42", Token: 1234},
		"a%20b#1":              {Lock: "a b", Token: 1},
		"100%25#7":             {Lock: "100%", Token: 7},
		"%C3%A9%F0%9F%94%92#7": {Lock: "é🔒", Token: 7},
		"a%23b#9":              {Lock: "a#b", Token: 9},
		"a%00b%0A#9":           {Lock: "a\x00b\n", Token: 9},
	} {
		if got := seq.String(); got != text {
			t.Errorf("%+v: got %q, want %q", seq, got, text)
		}
		if got, err := fencing.ParseSequencer(text); err != nil || got != seq {
			t.Errorf("ParseSequencer(%q) = %+v, %v, want %+v", text, got, err, seq)
		}
	}
}

func TestParseSequencerRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                              fencing.ErrMissing,
		"a":                             fencing.ErrMalformed,
		"#1":                            fencing.ErrMalformed,
		"a#":                            fencing.ErrMalformed,
		"a#0":                           fencing.ErrMalformed,
		"a#-1":                          fencing.ErrMalformed,
		"a#1#2":                         fencing.ErrMalformed,
		"a#1 ":                          fencing.ErrMalformed,
		" a#1":                          fencing.ErrMalformed,
		"a b#1":                         fencing.ErrMalformed,
		"a%2#1":                         fencing.ErrMalformed,
		"a%zz#1":                        fencing.ErrMalformed,
		"a%2f#1":                        fencing.ErrMalformed, // "/" stands for itself
		"a%c3%a9#1":                     fencing.ErrMalformed, // hex digits are uppercase
		"é#1":                           fencing.ErrMalformed,
		strings.Repeat("a", 900) + "#1": fencing.ErrMalformed,
	} {
		if got, err := fencing.ParseSequencer(text); !errors.Is(err, want) {
			t.Errorf("ParseSequencer(%q) = %+v, %v, want %v", text, got, err, want)
		}
	}
}

// Whatever ParseSequencer takes is the only text of what it returns.
func FuzzParseSequencer(f *testing.F) {
	for _, seed := range []string{"accounts/42#1234", "a%20b#1", "%", "a%2", "#", "a#9223372036854775807"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seq, err := fencing.ParseSequencer(text)
		if err == nil && (seq.String() != text || !seq.Valid()) {
			t.Errorf("ParseSequencer(%q) = %+v, whose text is %q", text, seq, seq.String())
		}
	})
}
