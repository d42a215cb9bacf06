package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/cmd/internal/demo"
)

// A demo in which the fence failed says so, in every format, and fails.
func TestDemoFailsIfTheFenceDid(t *testing.T) {
	report := demo.Report{Members: 3, Cases: []demo.Result{
		{Case: "late-writer", Tokens: demo.Tokens{A: 2, B: 3}, StaleWrite: demo.Accepted, UpdateLost: true},
		{Case: "late-writer", Fenced: true, Tokens: demo.Tokens{A: 8, B: 10}, StaleWrite: demo.Accepted, UpdateLost: true},
		{Case: "crossing", Tokens: demo.Tokens{A: 19, B: 20}, StaleWrite: demo.Accepted, UpdateLost: true},
		{Case: "crossing", Fenced: true, Tokens: demo.Tokens{A: 26, B: 28}, StaleWrite: demo.Refused, Highest: 28},
	}}
	for _, format := range []string{"table", "json"} {
		var out bytes.Buffer
		err := (&app{Process: Process{Stdout: &out}}).demoVerdict(report, format)
		var own *exitError
		if !errors.As(err, &own) || own.code != codeFailure {
			t.Fatalf("%s: got %v, want exit code %d", format, err, codeFailure)
		}
		if text := err.Error(); !strings.Contains(text, "late-writer, fenced") || strings.Contains(text, "crossing") {
			t.Errorf("%s: got %q, want the one run that went wrong", format, text)
		}
		if printed := strings.Contains(out.String(), `"update_lost": true`); printed != (format == "json") {
			t.Errorf("%s: printed %q", format, out.String())
		}
	}
}
