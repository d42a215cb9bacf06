package cluster

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// sameEntries is how often etcd may say the same within a second. Of each kind it
// says less, but for loops without a pause: a member that catches up with thousands
// of entries is told "too many requests" that often, and logs each refusal.
const sameEntries = 10

// bounded returns log without what is said more than sameEntries times a second.
// Fatal and Panic take effect all the same.
func bounded(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, sameEntries, 0)
	}))
}
