package picture

import (
	"fmt"
	"html/template"
	"io"
)

// Page is one file.
type Page struct {
	Title    string
	Lead     string // a paragraph at its beginning
	Sections []Section
}

// Section is one picture with words around it.
type Section struct {
	Title   string
	Text    string
	Picture *Canvas
	Below   string
	Bad     bool     // Below tells of something that went wrong
	List    []string // numbered, at the end
}

// Write writes the page.
func (p Page) Write(w io.Writer) error {
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the template of a page: %w", err)
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	return nil
}

const pageText = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
:root { color-scheme: light dark; --back: #fff; --ink: #1d2733; --faint: #6a7684; --line: #d8dee5; --a: #2f6fb2; --b: #c97a12; --good: #2a8a4a; --bad: #c6322b; --pause: #9aa4af; }
@media (prefers-color-scheme: dark) { :root { --back: #14191f; --ink: #e2e8ee; --faint: #93a0ad; --line: #323c47; --a: #6aa7e8; --b: #e6a54a; --good: #5cc480; --bad: #f0736b; --pause: #66717d; } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem; }
p { margin: .3rem 0 .8rem; } .bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); font-weight: 600; }
ol { font-size: .85rem; columns: 2; column-gap: 2.5rem; color: var(--faint); padding-left: 1.5rem; } li { break-inside: avoid; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.faint { fill: var(--faint) !important; } .end { text-anchor: end; } .middle { text-anchor: middle; } .strong { font-weight: 600 !important; }
.axis { stroke: var(--line); } .mark { stroke: var(--ink); stroke-dasharray: 4 3; } .refused { stroke: var(--bad); stroke-width: 3; }
.a { fill: var(--a); } .b { fill: var(--b); } .pause { fill: var(--pause); opacity: .55; } .wait { fill: none; stroke: var(--pause); stroke-dasharray: 3 3; }
.pale { opacity: .35; } .look { fill: var(--back); stroke: var(--ink); stroke-width: 2; } .small { font-size: 11px !important; }
.ok { fill: var(--good); } .no { fill: var(--bad); } .inbar { fill: #fff !important; }
@media (prefers-color-scheme: dark) { .inbar { fill: #10151a !important; } }
</style>
</head>
<body>
<h1>{{.Title}}</h1>
<p>{{.Lead}}</p>
{{range .Sections}}<h2>{{.Title}}</h2>
<p>{{.Text}}</p>
{{with .Picture}}<svg viewBox="0 0 {{.Width}} {{.Height}}" role="img">
{{range .Rects}}<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="{{.Height}}" rx="{{.Round}}"><title>{{.Title}}</title></rect>
{{end}}{{range .Lines}}<line class="{{.Class}}" x1="{{.X1}}" y1="{{.Y1}}" x2="{{.X2}}" y2="{{.Y2}}"/>
{{end}}{{range .Dots}}<circle class="{{.Class}}" cx="{{.X}}" cy="{{.Y}}" r="5"><title>{{.Title}}</title></circle>
{{end}}{{range .Texts}}<text class="{{.Class}}" x="{{.X}}" y="{{.Y}}">{{.Text}}</text>
{{end}}</svg>
{{end}}{{if .Below}}<p class="{{if .Bad}}bad{{else}}good{{end}}">{{.Below}}</p>
{{end}}{{if .List}}<ol>
{{range .List}}<li>{{.}}</li>
{{end}}</ol>
{{end}}{{end}}</body>
</html>
`
