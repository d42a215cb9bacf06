// Package picture draws: a page of HTML with pictures in it as SVG. A page is whole
// by itself: it has no scripts, and loads nothing from anywhere.
package picture
