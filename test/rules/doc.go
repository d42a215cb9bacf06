// Package rules holds the house rules as tests: who may import whom, where the
// library must build, how large things may grow, what a file must say and must
// not say, and what lies at the top of the tree.
//
// A rule is a function from source or imports to objections. Beside each stands
// a sample that breaks it, and a test that sees it object: a rule that cannot
// fail is worth nothing. Rules about packages that do not exist yet bind them
// from the day they appear.
package rules
