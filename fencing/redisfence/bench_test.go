package redisfence_test

import (
	"testing"

	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/servers"
)

// A SET, beside the same behind the fence, in turn, on a server whose log is on
// disk before it answers. The ratio is of the medians.
//
//	go test -run '^$' -bench . -benchtime 2000x ./fencing/redisfence
func BenchmarkFencedWrite(b *testing.B) {
	rdb := dial(b, servers.StartRedis(b).DSN("0"))
	h := holder(b, newFence(b, redisfence.Config{Eval: viaGoRedis(rdb)}), 33)
	value := []byte("a value of some length, as values are")
	fencingtest.Pairs(b,
		func() error { return rdb.Set(b.Context(), "plain", value, 0).Err() },
		func() error { return h.Set(b.Context(), "fenced", value, 0) })
}
