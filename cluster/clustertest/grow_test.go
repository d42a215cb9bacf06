package clustertest_test

import (
	"testing"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// A member that joined is one like the others: it can be killed and comes back.
func TestJoinAndRestart(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	put(t, c.Client(t), "v")
	i := c.Join()
	if got := get(t, c.MemberClient(t, i)); got != "v" {
		t.Errorf("read through the new member: got %q, want %q", got, "v")
	}
	c.Kill(i)
	c.Restart(i)
	if got := get(t, c.MemberClient(t, i)); got != "v" {
		t.Errorf("read through the restarted member: got %q, want %q", got, "v")
	}
}
