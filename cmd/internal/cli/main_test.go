package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// TestMain runs the tests; or, for a test that needs a real process, the command
// line in place of them: start os.Executable with FENCELOCK_TEST_MAIN=1.
func TestMain(m *testing.M) {
	if os.Getenv("FENCELOCK_TEST_MAIN") == "1" {
		os.Exit(Main(context.Background(), Process{
			Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		}))
	}
	clustertest.Main(m)
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// caller runs commands in the test's process.
type caller struct {
	env   []string
	stdin string
}

// at is a caller whose commands use these endpoints.
func at(endpoints ...string) caller {
	return caller{env: []string{"FENCELOCK_CLIENT_ENDPOINTS=" + strings.Join(endpoints, ",")}}
}

// with adds to the environment.
func (c caller) with(env ...string) caller {
	c.env = append(append([]string{}, c.env...), env...)
	return c
}

func (c caller) run(args ...string) result { return c.runContext(context.Background(), args...) }

func (c caller) runContext(ctx context.Context, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := Main(ctx, Process{Args: args, Env: c.env, Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr})
	return result{code, stdout.String(), stderr.String()}
}

// want checks the exit code, and that standard error has each part.
func (r result) want(t *testing.T, code int, parts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; standard error: %s", r.code, code, r.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("standard error %q, want it to contain %q", r.stderr, part)
		}
	}
	if code == 0 && r.stderr != "" {
		t.Errorf("standard error %q, want none", r.stderr)
	}
	return r
}

// prints checks standard output.
func (r result) prints(t *testing.T, want string) {
	t.Helper()
	if r.stdout != want {
		t.Errorf("standard output %q, want %q", r.stdout, want)
	}
}

// testTime bounds what a test waits for.
const testTime = time.Minute

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	t.Cleanup(cancel)
	return ctx
}

// newTestClient is another process's client, as far as the cluster can tell.
func newTestClient(t *testing.T, endpoints []string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Endpoints: endpoints, Owner: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustLock(t *testing.T, c *client.Client, name string) *client.Lock {
	t.Helper()
	l, err := c.Lock(testContext(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
