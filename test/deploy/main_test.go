// Package deploy tests what members are installed with: the Dockerfile and the files
// in deploy/. The image is built by the Docker engine on this machine, and a cluster
// of three containers goes through what can happen to containers.
package deploy

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

const (
	top = "../.."

	// limit is how long anything may take that has no bound of its own to show.
	limit = time.Minute

	// buildLimit bounds what may have to compile the whole program.
	buildLimit = 10 * time.Minute
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// run returns what a command prints, without the white space around it.
func run(ctx context.Context, within time.Duration, stdin []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var errors bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &errors
	// The image must build with the builder of old, too.
	cmd.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, out, errors.String())
	}
	return strings.TrimSpace(string(out)), err
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), limit, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually polls until a condition holds, and ends the test after a while.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", limit, what)
		}
		<-ticker.C
	}
}

// freePorts finds n on loopback.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	var ports []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // after all are found, so that they differ
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
