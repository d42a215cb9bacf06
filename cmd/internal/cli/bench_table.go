package cli

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/fencelock/fencelock/cmd/internal/bench"
)

// benchReport is a report with a table.
type benchReport struct{ bench.Report }

func (r benchReport) table(w io.Writer) {
	row(w, "WORK", "CLIENTS", "OPERATIONS", "PER SECOND", "P50", "P90", "P99", "MAX")
	for _, m := range r.Measured {
		row(w, m.Work, strconv.Itoa(m.Clients), strconv.FormatInt(m.Operations, 10), fmt.Sprintf("%.0f", m.Rate),
			bench.Micros(m.P50).String(), bench.Micros(m.P90).String(), bench.Micros(m.P99).String(), bench.Micros(m.Max).String())
	}
}

// timeBar shows how far something is that takes a known time, on a terminal, and
// nothing elsewhere.
type timeBar struct {
	out  io.Writer // nil: nowhere
	what string
	bar  *progressbar.ProgressBar
}

func newTimeBar(out io.Writer) *timeBar {
	if !isTerminal(out) {
		return &timeBar{}
	}
	return &timeBar{out: out}
}

// show begins a new bar for a new thing. A terminal that is gone is no reason to stop.
func (b *timeBar) show(what string, done, total time.Duration) {
	if b.out == nil {
		return
	}
	if b.bar == nil || b.what != what {
		b.end()
		b.what = what
		b.bar = progressbar.NewOptions64(total.Milliseconds(),
			progressbar.OptionSetWriter(b.out),
			progressbar.OptionSetDescription(fmt.Sprintf("%-8s", what)),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(),
		)
		_ = b.bar.RenderBlank() // the first percent may take long
	}
	_ = b.bar.Set64(done.Milliseconds())
}

// end removes the bar.
func (b *timeBar) end() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}
