package words_test

import (
	"testing"

	"github.com/fencelock/fencelock/cmd/internal/words"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 locks", 1: "1 lock", 2: "2 locks", -1: "-1 locks"} {
		if got := words.Count(n, "lock"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
