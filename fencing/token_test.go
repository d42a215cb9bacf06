package fencing_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

func TestParseTokenReadsWhatStringWrites(t *testing.T) {
	for _, token := range []fencing.Token{1, 34, 1<<53 + 1, 1<<63 - 1} {
		got, err := fencing.ParseToken(token.String())
		if err != nil || got != token {
			t.Errorf("ParseToken(%q) = %v, %v, want %v", token.String(), got, err, token)
		}
	}
}

func TestParseTokenRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                    fencing.ErrMissing,
		"0":                   fencing.ErrMalformed,
		"-1":                  fencing.ErrMalformed,
		"+1":                  fencing.ErrMalformed,
		"01":                  fencing.ErrMalformed,
		" 1":                  fencing.ErrMalformed,
		"1\n":                 fencing.ErrMalformed,
		"1e3":                 fencing.ErrMalformed,
		"0x10":                fencing.ErrMalformed,
		"1_000":               fencing.ErrMalformed,
		"٣":                   fencing.ErrMalformed,
		"9223372036854775808": fencing.ErrMalformed,
	} {
		if got, err := fencing.ParseToken(text); !errors.Is(err, want) {
			t.Errorf("ParseToken(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

// A JSON number would lose the last digit of this token in most readers.
func TestTokenKeepsItsDigitsInJSON(t *testing.T) {
	const big = fencing.Token(1<<53 + 1)
	text, err := json.Marshal(map[string]fencing.Token{"token": big})
	if got, want := string(text), `{"token":"9007199254740993"}`; err != nil || got != want {
		t.Fatalf("got %s, %v, want %s", got, err, want)
	}
	var back map[string]fencing.Token
	if err := json.Unmarshal(text, &back); err != nil || back["token"] != big {
		t.Errorf("read back %v, %v, want %v", back["token"], err, big)
	}
}
