package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// fenceReport is everything that one run with -fences has shown.
type fenceReport struct {
	Turns     int         `json:"turns"`
	Turn      string      `json:"turn"`
	Load      string      `json:"load,omitempty"` // of the machine, one minute, when the run began
	LoadAfter string      `json:"load_after,omitempty"`
	Fences    []fenceCost `json:"fences"`
}

func (c fenceCost) line() string {
	line := fmt.Sprintf("%-28s plain %7.0f µs   fenced %7.0f µs   ratio %5.2f (%.2f to %.2f)",
		c.Write, c.Plain, c.Fenced, c.Ratio, c.Lowest, c.Highest)
	if c.Reached == nil {
		return line
	}
	mark := "reached"
	if !*c.Reached {
		mark = "EXCEEDED"
	}
	return fmt.Sprintf("%s, at most %.1f: %s", line, c.AtMost, mark)
}

// print writes what has not been written yet.
func (r fenceReport) print(w io.Writer, output string) error {
	if output == "json" {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	if r.Load == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "load of the machine: %s before, %s after\n", r.Load, r.LoadAfter)
	return err
}

// load is the machine's load over the last minute, "" where /proc does not tell.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
