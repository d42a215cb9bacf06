package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// report is everything that one run has shown.
type report struct {
	Members int       `json:"members"`
	Pairs   int       `json:"pairs"`
	Turn    string    `json:"turn"`
	Results []result  `json:"results"`
	Waiters []waiters `json:"waiters,omitempty"`
}

func (r result) line() string {
	line := fmt.Sprintf("%-40s %8.0f/s   %-18s %8.0f/s   ratio %6.2f (%.2f to %.2f)",
		r.Work, r.Ours, r.Against, r.Other, r.Ratio, r.Lowest, r.Highest)
	switch {
	case r.AtLeast == 0:
		return line
	case r.Reached:
		return line + fmt.Sprintf(", want %.2f: reached", r.AtLeast)
	}
	return line + fmt.Sprintf(", want %.2f: SHORT", r.AtLeast)
}

// print writes what has not been written yet: all of it as JSON, or the rest of
// the table.
func (r report) print(w io.Writer, output string) error {
	if output == "json" {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	for _, c := range r.Waiters {
		if _, err := fmt.Fprintf(w, "%4d waiters: %6.0f hand-overs/s, %.2f events each; client %d MiB, members %d MiB (before: %d MiB)\n",
			c.Waiters, c.HandoversPerS, c.EventsPerHand, c.ClientMiB, c.MembersMiB, c.MembersMiBBefore); err != nil {
			return err
		}
	}
	return nil
}
