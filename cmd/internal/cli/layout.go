package cli

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

const (
	columnGap   = 3 // spaces between columns
	leastColumn = 6 // columns are not cut to less, if that is too much for the terminal the lines wrap
)

// layOut aligns the columns of rows, whose cells have tabs between them. On a
// terminal columns are cut, the widest first, until the rows fit, and a header is
// bold. Rows that follow each other form one table; a row with a single cell is
// left as it is.
func (s screen) layOut(text string) string {
	var out strings.Builder
	var table [][]string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) > 1 {
			table = append(table, cells)
			continue
		}
		s.write(&out, table)
		table = nil
		out.WriteString(line)
	}
	s.write(&out, table)
	return out.String()
}

func (s screen) write(out *strings.Builder, table [][]string) {
	widths := widthsOf(table)
	if s.width > 0 {
		shrink(widths, s.width)
	}
	for i, cells := range table {
		line := lineOf(cells, widths)
		if i == 0 && isHeader(cells) {
			line = s.paint(bold, line)
		}
		out.WriteString(line + "\n")
	}
}

func widthsOf(table [][]string) []int {
	var widths []int
	for _, cells := range table {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	return widths
}

// shrink takes from the widest column, again and again, until all of them fit.
func shrink(widths []int, room int) {
	excess := columnGap*(len(widths)-1) - room
	for _, w := range widths {
		excess += w
	}
	for ; excess > 0; excess-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastColumn {
			return
		}
		widths[widest]--
	}
}

func lineOf(cells []string, widths []int) string {
	var line strings.Builder
	for i, cell := range cells {
		if i > 0 {
			line.WriteString(strings.Repeat(" ", columnGap))
		}
		cell = runewidth.Truncate(cell, widths[i], "…")
		line.WriteString(cell)
		if i < len(cells)-1 {
			line.WriteString(strings.Repeat(" ", widths[i]-runewidth.StringWidth(cell)))
		}
	}
	return strings.TrimRight(line.String(), " ")
}

// isHeader reports whether the cells are names of columns: those are in capitals.
func isHeader(cells []string) bool {
	return strings.ToUpper(cells[0]) == cells[0] && strings.ToLower(cells[0]) != cells[0]
}
