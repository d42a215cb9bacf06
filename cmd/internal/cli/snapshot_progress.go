package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and nothing elsewhere. Its zero value shows
// nothing.
type progress struct {
	out  io.Writer
	what string
	bar  *progressbar.ProgressBar // made when the total is known
}

func newProgress(out io.Writer, what string) *progress {
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{out: out, what: what}
}

func (p *progress) show(done, total int64) {
	if p.out == nil {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(p.what),
			progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	p.bar.ChangeMax64(total)
	_ = p.bar.Set64(done) // a terminal that is gone is no reason to stop
}

// end removes the bar.
func (p *progress) end() error {
	if p.bar == nil {
		return nil
	}
	return p.bar.Clear()
}
