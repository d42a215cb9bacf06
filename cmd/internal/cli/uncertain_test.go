package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/test/netfault"
)

// A write whose answer never comes is neither a success nor a failure. The delay
// leaves time to cut the link after the value was sent and before the answer.
func TestWriteWithoutAnswer(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "acct")
	proxy := netfault.New(t, cluster.Endpoint(0))
	proxy.Delay(100 * time.Millisecond)

	const size = 50 << 10 // below HTTP/2's first window of 64 KiB, so that it is sent without a pause
	c := at(proxy.Addr()).with("FENCELOCK_SEQUENCER="+held.Sequencer().String(), "FENCELOCK_CLIENT_DIAL_TIMEOUT=3s")
	c.stdin = strings.Repeat("x", size)
	ended := make(chan result, 1)
	go func() { ended <- c.run("kv", "put", "acct", "k", "-") }()
	if err := proxy.AwaitUp(testContext(t), size/2); err != nil {
		t.Fatal(err)
	}
	proxy.Stall()
	r := <-ended
	r.want(t, codeUncertain, `put "k" of `+held.Sequencer().String(), "outcome unknown", "read before you repeat it").prints(t, "")
}
