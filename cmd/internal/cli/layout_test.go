package cli

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

const twoColumns = "NAME\tOWNER\na\tsomebody with a long name\nlonger\tx\n"

func TestLayOut(t *testing.T) {
	for name, test := range map[string]struct {
		on         screen
		text, want string
	}{
		"a pipe":        {screen{}, twoColumns, "NAME     OWNER\na        somebody with a long name\nlonger   x\n"},
		"a terminal":    {screen{width: 20}, twoColumns, "NAME     OWNER\na        somebody w…\nlonger   x\n"},
		"a wide one":    {screen{width: 200}, "NAME\tB\na\tb\n", "NAME   B\na      b\n"},
		"too narrow":    {screen{width: 5}, twoColumns, "NAME     OWNER\na        someb…\nlonger   x\n"},
		"colours":       {screen{width: 80, colours: true}, "NAME\tB\na\tb\n", "\x1b[1mNAME   B\x1b[0m\na      b\n"},
		"text":          {screen{width: 10}, "one line that is no table\n", "one line that is no table\n"},
		"two tables":    {screen{}, "a\tb\n\nlonger\tc\n", "a   b\n\nlonger   c\n"},
		"wide letters":  {screen{}, "日本\tx\nabcd\ty\n", "日本   x\nabcd   y\n"},
		"empty at end":  {screen{}, "a\tb\nc\t\n", "a   b\nc\n"},
		"nothing":       {screen{}, "", ""},
		"emoji is cut":  {screen{width: 12}, "🔒🔒🔒🔒🔒🔒\tx\n", "🔒🔒🔒…    x\n"},
		"the widest is": {screen{width: 30}, strings.Repeat("a", 40) + "\t" + strings.Repeat("b", 10) + "\n", "aaaaaaaaaaaaaaaa…   bbbbbbbbbb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.on.layOut(test.text)
			if got != test.want {
				t.Errorf("got\n%q, want\n%q", got, test.want)
			}
			if test.on.width < 10 || test.on.colours || name == "text" {
				return
			}
			for line := range strings.Lines(got) {
				if w := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); w > test.on.width {
					t.Errorf("line %q has %d columns, want at most %d", line, w, test.on.width)
				}
			}
		})
	}
}

// No two texts look the same in a table.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":          `""`,
		"a b":       "a b",
		"/w==":      "/w==",
		"\xff":      `"\xff"`,
		`"\xff"`:    `"\"\\xff\""`,
		"\x1b[31m":  `"\x1b[31m"`,
		"tab\there": `"tab\there"`,
		"ü🔒":        "ü🔒",
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestOnTerminal(t *testing.T) {
	for value, want := range map[string]string{
		"":           "",
		"text":       "text\n",
		"text\n":     "text\n",
		"a\n\tb\n\n": "a\n\tb\n\n",
		"\x1b[2J":    "\"\\x1b[2J\"\n",
		"\xff":       "\"\\xff\"\n",
	} {
		if got := onTerminal([]byte(value)); got != want {
			t.Errorf("onTerminal(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestDecodeBase64(t *testing.T) {
	for text, want := range map[string]string{"/wA=": "\xff\x00", "/wA": "\xff\x00", "aGVs\n bG8=\n": "hello", "": ""} {
		if got, err := decodeBase64([]byte(text)); err != nil || string(got) != want {
			t.Errorf("decodeBase64(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"!", "a", "_-8="} {
		if got, err := decodeBase64([]byte(text)); err == nil {
			t.Errorf("decodeBase64(%q) = %q, want an error", text, got)
		}
	}
}
