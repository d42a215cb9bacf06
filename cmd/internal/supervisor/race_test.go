//go:build linux && race

package supervisor_test

// buildFlags build the program like the test.
func buildFlags() []string { return []string{"-race"} }
