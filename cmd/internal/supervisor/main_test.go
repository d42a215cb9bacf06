//go:build linux

package supervisor_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMain builds the program and puts it in front of PATH: these tests are about
// processes, so they use real ones.
func TestMain(m *testing.M) {
	folder, err := build()
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		os.Setenv("PATH", folder+":"+os.Getenv("PATH"))
		heedSignals()
		code = m.Run()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

// heedSignals makes what the tests start heed the signals that they send, also
// when the tests themselves were started under nohup or in the background: an
// ignored signal stays ignored across exec, one that is caught does not.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

func build() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "fencelock"); err != nil {
		return "", err
	}
	args := append([]string{"build", "-o", filepath.Join(folder, "fencelock")}, buildFlags()...)
	out, err := exec.Command("go", append(args, "../../fencelock")...).CombinedOutput()
	if err != nil {
		return folder, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return folder, nil
}
