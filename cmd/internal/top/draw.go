package top

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/mattn/go-runewidth"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/words"
)

// frameLines are those above and below the table: head, state, names of the columns,
// an empty one and the keys.
const frameLines = 5

// rows is how many locks there is room for.
func (s *screen) rows() int { return max(s.height-frameLines, 1) }

// View draws.
func (s *screen) View() tea.View {
	lines := []string{s.head(), s.state()}
	keys := "↑↓ move  enter detail  / filter  sort: n name  a held for  w waiters  t token  q quit"
	if s.detail {
		lines = append(lines, s.drawDetail()...)
		keys = "esc back  ↑↓ scroll  q quit"
	} else {
		lines = append(lines, s.table()...)
	}
	for len(lines) < s.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(s.height-1, 1)], lipgloss.NewStyle().Faint(true).Render(s.fit(keys)))
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.WindowTitle = "fencelock top"
	return v
}

func (s *screen) head() string {
	text := "fencelock top"
	if !s.read.IsZero() { // before that nobody knows
		text += "   " + words.Count(len(s.view.all), "lock")
	}
	if n := s.waiting(); n > 0 {
		text += fmt.Sprintf(", %d waiting", n)
	}
	if s.config.Prefix != "" {
		text += "   " + s.visible(s.config.Prefix) + "…"
	}
	direction := ""
	if s.view.reversed {
		direction = ", reversed"
	}
	return lipgloss.NewStyle().Bold(true).Render(s.fit(text + "   by " + s.view.order.String() + direction))
}

func (s *screen) waiting() (n int) {
	for _, info := range s.view.all {
		n += len(info.Waiters)
	}
	return n
}

// state says what is wrong, or what is filtered.
func (s *screen) state() string {
	switch {
	case s.typing:
		return s.fit("filter: " + s.visible(s.view.filter) + "▏")
	case s.fault != nil && s.read.IsZero():
		return s.alarm("no answer from the cluster: " + s.fault.Error())
	case s.fault != nil:
		return s.alarm(fmt.Sprintf("no answer; as it was at %s: %v", s.read.Format("15:04:05"), s.fault))
	case s.read.IsZero():
		return "asking the cluster…"
	case s.view.filter != "":
		return s.fit(fmt.Sprintf("filter: %s (%d of %d)", s.visible(s.view.filter), len(s.view.shown), len(s.view.all)))
	case len(s.view.all) == 0:
		return "no lock is held"
	}
	return ""
}

func (s *screen) alarm(text string) string {
	return lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true).Render(s.fit(s.visible(text)))
}

// fit cuts a line to the screen.
func (s *screen) fit(text string) string { return runewidth.Truncate(text, s.width, "…") }

// table is the locks around the cursor.
func (s *screen) table() []string {
	widths := s.columns()
	lines := []string{lipgloss.NewStyle().Underline(true).Render(s.fit(cells(widths, "NAME", "TOKEN", "HOLDER", "HELD FOR", "WAITERS", "LABELS")))}
	cursor := s.view.cursor()
	from := min(max(cursor-s.rows()/2, 0), max(len(s.view.shown)-s.rows(), 0))
	for i, info := range s.view.shown[from:min(from+s.rows(), len(s.view.shown))] {
		line := s.fit(s.line(widths, info))
		if from+i == cursor {
			line = lipgloss.NewStyle().Reverse(true).Render(line)
		} else if len(info.Waiters) > 0 {
			line = lipgloss.NewStyle().Foreground(lipgloss.Yellow).Render(line)
		}
		lines = append(lines, line)
	}
	return lines
}

// columns are the widths: names and holders share what the others leave.
func (s *screen) columns() [6]int {
	const token, held, waiters, gaps, labels = 10, 9, 7, 5, 16
	left := max(s.width-token-held-waiters-gaps-labels, 20)
	return [6]int{left * 3 / 5, token, left - left*3/5, held, waiters, labels}
}

func (s *screen) line(widths [6]int, info client.LockInfo) string {
	h := head(info)
	holder := s.owner(h)
	if more := len(info.Holders) - 1; more > 0 {
		holder = fmt.Sprintf("%s +%d shared", holder, more)
	}
	return cells(widths, s.visible(info.Name), h.Token.String(), holder, s.age(h.Since), strconv.Itoa(len(info.Waiters)), s.visible(labelText(h.Labels)))
}

// cells puts texts into columns.
func cells(widths [6]int, texts ...string) string {
	var line strings.Builder
	for i, text := range texts {
		if i > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(runewidth.FillRight(runewidth.Truncate(text, widths[i], "…"), widths[i]))
	}
	return line.String()
}

// visible leaves what is empty so.
func (s *screen) visible(text string) string {
	if text == "" {
		return ""
	}
	return s.config.Visible(text)
}

func (s *screen) owner(c client.Claim) string {
	if c.Owner == "" {
		return "unnamed"
	}
	return s.visible(c.Owner)
}

// age is for how long, by the owner's clock, which may be ahead.
func (s *screen) age(since time.Time) string {
	if since.IsZero() {
		return "?"
	}
	return max(s.now.Sub(since), 0).Truncate(time.Second).String()
}

func labelText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, " ")
}
