package deploy

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// TestContainers holds one lock through what can happen to containers. After each
// fault it writes behind the lock's fence, and says how long that took.
func TestContainers(t *testing.T) {
	engine(t)
	c := startContainers(t, image(t))
	h := hold(t, c)

	t.Run("hardened", func(t *testing.T) { c.wantHardened(t) })
	t.Run("leader killed", func(t *testing.T) {
		leader := h.leader(t)
		id := c.id(t, leader)
		h.write(t, "kill of the leader", func() { mustRun(t, "docker", "kill", id) })
		mustRun(t, "docker", "start", id)
		c.awaitHealth(t, leader)
	})
	t.Run("leader cut off", func(t *testing.T) {
		leader := h.leader(t)
		id := c.id(t, leader)
		h.write(t, "disconnection of the leader", func() { mustRun(t, "docker", "network", "disconnect", c.network(), id) })
		mustRun(t, "docker", "network", "connect", "--alias="+leader, c.network(), id)
		c.awaitHealth(t, leader)
	})
	t.Run("leader paused", func(t *testing.T) {
		leader := h.leader(t)
		id := c.id(t, leader)
		h.write(t, "pause of the leader", func() { mustRun(t, "docker", "pause", id) })
		mustRun(t, "docker", "unpause", id)
		c.awaitHealth(t, leader)
	})
	t.Run("all restarted", func(t *testing.T) {
		h.write(t, "restart of all", func() { mustRun(t, c.compose("restart")...) })
		for _, member := range members {
			c.awaitHealth(t, member)
		}
	})
	t.Run("volume gone", func(t *testing.T) { c.wantRefused(t, h) })
	t.Run("member replaced", func(t *testing.T) { c.replace(t, h) })
	h.release(t)
}

// wantHardened checks that a member runs as it should, and writes to its volume only.
func (c *containers) wantHardened(t *testing.T) {
	for _, member := range members {
		id := c.id(t, member)
		const format = "{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{.HostConfig.RestartPolicy.Name}}"
		if got, want := inspect(t, id, format), "65532:65532 true [ALL] [no-new-privileges:true] unless-stopped"; got != want {
			t.Errorf("%s runs with %s, want %s", member, got, want)
		}
		if out := mustRun(t, "docker", "exec", id, "/fencelock", "health", "--live"); out != "alive" {
			t.Errorf("the image's health check says %q of %s, want alive", out, member)
		}
	}
}

// wantRefused removes a container together with its volume. The same command then
// starts a member that must not come in: it has forgotten what it voted for.
func (c *containers) wantRefused(t *testing.T, h *holder) {
	id := c.id(t, "m3")
	h.write(t, "loss of a container and its volume", func() {
		mustRun(t, "docker", "rm", "--force", "--volumes", id)
		mustRun(t, "docker", "volume", "rm", c.project+"_m3")
	})
	mustRun(t, c.compose("up", "--no-build", "--detach", "m3")...)
	id = c.id(t, "m3")
	eventually(t, "m3 is refused", func() bool {
		out, err := run(t.Context(), limit, nil, "sh", "-c", `docker logs "$0" 2>&1`, id)
		return err == nil && strings.Contains(out, "member replace")
	})
	if strings.HasSuffix(inspect(t, id, "{{.State.Status}} {{.State.Health.Status}}"), " healthy") {
		t.Error("a member without its data is healthy, want it refused")
	}
	h.write(t, "refusal of a member", func() {})
}

// replace brings m3 back as the operations guide says: its successor joins once, in a
// container of its own on the same volume, and from then on the old command is right.
func (c *containers) replace(t *testing.T, h *holder) {
	old := c.id(t, "m3")
	mustRun(t, "docker", "rm", "--force", old)
	mustRun(t, "docker", "volume", "rm", c.project+"_m3")
	mustRun(t, "docker", "exec", c.id(t, "m1"), "/fencelock", "member", "replace", "m3:2380", "--yes")
	id := mustRun(t, "docker", "run", "--detach", "--network="+c.network(), "--network-alias=m3", "--volume="+c.project+"_m3:/data", c.image,
		"server", "--join=http://m1:2379", "--name=m3:2380", "--advertise-peer=m3:2380", "--listen-peer=0.0.0.0:2380", "--listen-client=0.0.0.0:2379", "--advertise-client=m3:2379")
	t.Cleanup(func() {
		if t.Failed() {
			out, err := run(context.Background(), limit, nil, "sh", "-c", `docker logs --tail=30 "$0" 2>&1`, id)
			t.Log(out, err)
		}
		cleanUp(t, "docker", "rm", "--force", id)
	})
	eventually(t, "the successor is ready", func() bool {
		out, err := run(t.Context(), limit, nil, "docker", "exec", id, "/fencelock", "health")
		return err == nil && out == "ready"
	})
	h.write(t, "replacement of a member", func() { mustRun(t, "docker", "stop", "--time=30", id) })
	mustRun(t, c.compose("up", "--no-build", "--detach", "m3")...)
	c.awaitHealth(t, "m3")
}

// holder has the lock throughout.
type holder struct {
	containers *containers
	client     *client.Client
	lock       *client.Lock
	writes     int
}

func hold(t *testing.T, c *containers) *holder {
	t.Helper()
	// The restart of all takes longest: above it, with two elections.
	lockClient, err := client.New(client.Config{Endpoints: c.endpoints(), TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lockClient.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	l, err := lockClient.Lock(ctx, "deploy")
	if err != nil {
		t.Fatal(err)
	}
	return &holder{containers: c, client: lockClient, lock: l}
}

// write lets something happen, and writes until it succeeds; only an unreachable
// cluster is a reason to try again.
func (h *holder) write(t *testing.T, what string, happens func()) {
	t.Helper()
	before := time.Now()
	happens()
	done := time.Now()
	h.writes++
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	value := []byte(strconv.Itoa(h.writes))
	for {
		_, err := h.lock.KV().Put(ctx, "n", value)
		if err == nil {
			break
		}
		if ctx.Err() != nil || !errors.Is(err, client.ErrUnavailable) && !errors.Is(err, fencing.ErrUncertain) {
			t.Fatalf("write after the %s: %v", what, err)
		}
	}
	t.Logf("%s: took %v, a write %v more", what, done.Sub(before).Round(10*time.Millisecond), took(done))
	got, err := h.lock.KV().Get(ctx, "n")
	if err != nil || string(got.Value) != string(value) {
		t.Fatalf("read after the %s: %q, %v; want %q", what, got.Value, err, value)
	}
	if err := h.lock.Err(); err != nil {
		t.Fatalf("the lock after the %s: %v; want it held", what, err)
	}
}

// leader finds out which member leads.
func (h *holder) leader(t *testing.T) string {
	t.Helper()
	leader := ""
	eventually(t, "there is a leader", func() bool {
		for i, endpoint := range h.containers.endpoints() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			status, err := h.client.Etcd().Status(ctx, endpoint)
			cancel()
			if err == nil && status.Leader == status.Header.MemberId {
				leader = members[i]
				return true
			}
		}
		return false
	})
	return leader
}

// release gives the lock back, and takes it again: the token has to rise.
func (h *holder) release(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := h.lock.Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	next, err := h.client.Lock(ctx, "deploy")
	if err != nil {
		t.Fatal(err)
	}
	if next.Token() <= h.lock.Token() {
		t.Errorf("got token %v after %v, want a higher one", next.Token(), h.lock.Token())
	}
}
