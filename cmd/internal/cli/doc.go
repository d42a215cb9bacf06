// Package cli is the command line of fencelock. It is the only package that
// knows cobra, and the only one that decides exit codes.
//
// # A command
//
// Each command has a file of its own with
//
//	func newXxxCommand(a *app) *cobra.Command
//
// which root.go lists. The constructor declares flags and arguments and binds
// them to an options struct; a method run of that struct does the work. Whatever
// a command needs comes from app: its input and output, its environment, its
// configuration and a client. So a test runs [Main] in its own process.
//
// Flags that are settings, which the environment and a file can give as well,
// come from package config; see [config.AddFlags].
//
// # Errors and exit codes
//
// A command returns its errors; [Main] prints them on standard error, each line
// after "fencelock: ", and derives the exit code, see exit.go. A command that
// has a code of its own returns an exitError.
//
// # Signals
//
// Wrapped in interruptible, a command's context ends with SIGINT and SIGTERM. A
// command that is not handles signals by itself.
package cli
