//go:build linux

package world

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// toolTime bounds every command of the system's tools; each takes milliseconds.
const toolTime = 30 * time.Second

// run runs a tool to its end. It has no caller's ctx: what was begun is undone also
// after that has ended.
func run(words ...string) (stdout string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), toolTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not cut short what undoes
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// ip runs "ip" with the words of a line.
func ip(format string, args ...any) error {
	_, err := run(append([]string{"ip"}, strings.Fields(fmt.Sprintf(format, args...))...)...)
	return err
}
