package deploy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// containers is a cluster that Compose runs.
type containers struct {
	project string
	image   string
	env     []string
	ports   []string
}

var members = []string{"m1", "m2", "m3"}

// startContainers runs deploy/compose.yaml with an image until all members are
// ready.
func startContainers(t *testing.T, image string) *containers {
	t.Helper()
	c := &containers{image: image, project: fmt.Sprintf("fencelock-test-%d", os.Getpid()), ports: freePorts(t, len(members))}
	c.env = []string{"env", "FENCELOCK_IMAGE=" + image}
	for i, port := range c.ports {
		c.env = append(c.env, fmt.Sprintf("M%d_PORT=%s", i+1, port))
	}
	t.Cleanup(func() {
		if t.Failed() {
			out, err := run(context.Background(), limit, nil, c.compose("logs", "--no-color", "--tail=30")...)
			t.Log(out, err)
		}
		cleanUp(t, c.compose("down", "--volumes", "--timeout=5")...)
	})
	mustRun(t, c.compose("up", "--no-build", "--detach")...)
	for _, member := range members {
		c.awaitHealth(t, member)
	}
	return c
}

// cleanUp runs a command when the test's context has ended.
func cleanUp(t *testing.T, args ...string) {
	if _, err := run(context.Background(), limit, nil, args...); err != nil {
		t.Log(err)
	}
}

func (c *containers) compose(args ...string) []string {
	file := filepath.Join(top, "deploy", "compose.yaml")
	return append(append(c.env[:len(c.env):len(c.env)], "docker-compose", "--file="+file, "--project-name="+c.project), args...)
}

func (c *containers) endpoints() []string {
	var list []string
	for _, port := range c.ports {
		list = append(list, "127.0.0.1:"+port)
	}
	return list
}

// id finds a member's container, running or not.
func (c *containers) id(t *testing.T, member string) string {
	t.Helper()
	id := mustRun(t, "docker", "ps", "--all", "--quiet", "--filter=label=com.docker.compose.project="+c.project,
		"--filter=label=com.docker.compose.service="+member)
	if id == "" || strings.Contains(id, "\n") {
		t.Fatalf("containers of %s: got %q, want one", member, id)
	}
	return id
}

// inspect looks one thing up in what the engine knows of a container.
func inspect(t *testing.T, id, format string) string {
	t.Helper()
	return mustRun(t, "docker", "inspect", "--format="+format, id)
}

// awaitHealth waits until a member says that it is ready.
func (c *containers) awaitHealth(t *testing.T, member string) {
	t.Helper()
	id := c.id(t, member)
	eventually(t, member+" is healthy", func() bool {
		return inspect(t, id, "{{.State.Status}} {{.State.Health.Status}}") == "running healthy"
	})
}

// network is the one that Compose made.
func (c *containers) network() string { return c.project + "_default" }

// took is the time since a fault, for people.
func took(since time.Time) time.Duration { return time.Since(since).Round(10 * time.Millisecond) }
