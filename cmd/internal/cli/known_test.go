package cli

import (
	"regexp"
	"strings"
	"testing"
)

// known replaces what differs from run to run in a text that a command printed.
func known(text string) string {
	for _, r := range []struct{ pattern, by string }{
		{`\b\d+s of \d+s\b`, "LEFT"},
		{`\b\d+s ago\b`, "AGE"},
		{`\b\d\d:\d\d:\d\d\.\d{3}\b`, "TIME"},
		{`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "TIME"},
		{`(ttl_left_seconds"?): \d+`, `$1: LEFT`},
		{`(lease"?: "?)[0-9a-f]{6,}`, `${1}ID`},
		{`/@/[0-9a-f]{6,}-`, `/@/ID-`},
		{`127\.0\.0\.1:\d+`, "ADDRESS"},
		{` {2,}`, "  "},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}
	return text
}

func TestKnown(t *testing.T) {
	got := known("a     12s ago  13s of 15s 15:04:05.123 x-1   127.0.0.1:2379")
	if want := "a  AGE  LEFT TIME x-1  ADDRESS"; got != want {
		t.Errorf("known: %q, want %q", got, want)
	}
	if got := known("12 s, 13s"); got != "12 s, 13s" || strings.Contains(got, "AGE") {
		t.Errorf("known changes %q", got)
	}
}
