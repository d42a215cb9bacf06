package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// printable is a result that also has a form for people.
type printable interface {
	// table writes rows, with a header where there can be several.
	table(w io.Writer)
}

// print writes a result in the format of the setting "output": JSON and YAML by
// its json tags. A table fits the terminal, if there is one.
func (a *app) print(format string, v printable) error {
	var err error
	switch format {
	case "json":
		encoder := json.NewEncoder(a.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(v)
	case "yaml":
		var text []byte
		if text, err = yaml.Marshal(v); err == nil {
			_, err = a.Stdout.Write(text)
		}
	default:
		var rows strings.Builder
		v.table(&rows)
		_, err = io.WriteString(a.Stdout, a.screen(a.Stdout).layOut(rows.String()))
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// printNow writes a result while the command goes on, in one write: JSON on one
// line, so that a reader knows where it ends, YAML as a document of its own.
func (a *app) printNow(format string, v any, line func() string) error {
	switch format {
	case "json":
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("word the result: %w", err)
		}
		return a.write(string(text) + "\n")
	case "yaml":
		text, err := yaml.Marshal(v)
		if err != nil {
			return fmt.Errorf("word the result: %w", err)
		}
		return a.write("---\n" + string(text))
	}
	return a.write(line() + "\n")
}

// row writes one line of a table. A line with a single cell is text: it belongs to
// no column.
func row(w io.Writer, cells ...string) {
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}
