//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fencelock/fencelock/test/chaos/faults"
)

// list tells which kinds there are and what each may cost, before any is run.
func list(w io.Writer, opts options) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "GROUP\tFAULT\tNEEDS\tMAY COST")
	for _, kind := range choose(opts) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", kind.Group, kind.Name, needs(kind), kind.Cost.Words)
	}
	return table.Flush()
}

func needs(kind faults.Kind) string {
	if len(kind.Needs) == 0 {
		return "-"
	}
	return strings.Join(kind.Needs, ", ")
}
