//go:build unix

package demo

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// The picture is made of what happened: the tokens, the pauses, the writes and what
// became of them.
func TestPicture(t *testing.T) {
	t.Parallel()
	report, err := Run(context.Background(), Config{Worker: []string{program, "demo", "worker"}})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(page.String(), "<h2>")[1:]
	if len(sections) != 4 {
		t.Fatalf("%d pictures, want 4", len(sections))
	}
	for i, text := range sections {
		result := report.Cases[i]
		want := []string{
			">token " + result.Tokens.A.String() + "<", ">token " + result.Tokens.B.String() + "<", ">waits<", ">stopped<", ">reads 100<", ">writes 120<",
			"A believes that it holds the lock", "STOPPED by SIGSTOP",
		}
		if result.Fenced {
			want = append(want, ">REFUSED<", `class="good">NOTHING LOST`, `class="no"`)
		} else {
			want = append(want, ">writes 110<", `class="bad">UPDATE LOST`)
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("run %d: the picture has no %q:\n%s", i+1, part, text)
			}
		}
		if refused := strings.Contains(text, "REFUSED"); refused != result.Fenced {
			t.Errorf("run %d: a refusal is drawn: %v", i+1, refused)
		}
		mustBeXML(t, text[strings.Index(text, "<svg"):strings.Index(text, "</svg>")+len("</svg>")])
	}
	for _, part := range []string{"<script", "http:", "https:", "src=", "@import", "url("} {
		if strings.Contains(page.String(), part) {
			t.Errorf("the page has %q, so it is not whole by itself", part)
		}
	}
}

func mustBeXML(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}
