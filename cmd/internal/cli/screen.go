package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Colours, as terminals have understood them since the VT100.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	dim    = "\x1b[2m"
	plain  = "\x1b[0m"
)

// defaultWidth is that of a terminal that does not say.
const defaultWidth = 80

// screen is what is known about where a text goes to.
type screen struct {
	width   int // in columns; 0: it is no terminal, and nothing is cut
	colours bool
}

// screen looks at one of the app's outputs. There are colours on a terminal alone,
// and none with NO_COLOR or a terminal that calls itself dumb.
func (a *app) screen(w io.Writer) screen {
	if !isTerminal(w) {
		return screen{}
	}
	return screen{width: widthOf(w), colours: a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}

// paint colours a text, where there are colours.
func (s screen) paint(colour, text string) string {
	if !s.colours || text == "" {
		return text
	}
	return colour + text + plain
}

// isTerminal reports whether w is one.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultWidth
}
