package picture

// Canvas is one picture: shapes, in units of about a pixel, the later ones over the
// earlier ones of the same kind. Classes say how they look, see the page's style.
type Canvas struct {
	Width, Height float64
	Rects         []Rect
	Lines         []Line
	Dots          []Dot
	Texts         []Text
}

// Rect is a rectangle. Title is shown under the pointer.
type Rect struct {
	Class               string
	X, Y, Width, Height float64
	Round               float64
	Title               string
}

// Line goes from one point to another.
type Line struct {
	Class          string
	X1, Y1, X2, Y2 float64
}

// Dot is a small disc. Title is shown under the pointer.
type Dot struct {
	Class string
	X, Y  float64
	Title string
}

// Text begins at X, or ends or is centred there, as its class says.
type Text struct {
	Class string
	X, Y  float64
	Text  string
}

// Rect draws one.
func (c *Canvas) Rect(r Rect) { c.Rects = append(c.Rects, r) }

// Line draws one.
func (c *Canvas) Line(class string, x1, y1, x2, y2 float64) {
	c.Lines = append(c.Lines, Line{class, x1, y1, x2, y2})
}

// Dot draws one.
func (c *Canvas) Dot(class string, x, y float64, title string) {
	c.Dots = append(c.Dots, Dot{class, x, y, title})
}

// Text writes.
func (c *Canvas) Text(class string, x, y float64, text string) {
	c.Texts = append(c.Texts, Text{class, x, y, text})
}
