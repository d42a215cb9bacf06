package outcome

import (
	"context"
	"errors"
	"time"
)

// errOwnBound is the cause of a context that Bound ended, as opposed to one that
// its user ended.
var errOwnBound = errors.New("request took too long")

// Bound limits a request to d, beside what ctx allows. [OfRead] and [OfWrite]
// tell the two ends apart.
func Bound(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, errOwnBound)
}

// ended returns what the user's own context ended with, if it did.
func ended(ctx context.Context) error {
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), errOwnBound) {
		return nil
	}
	return ctx.Err()
}

// Pauses between attempts: short enough to be lost in an election, long enough
// not to burden a member that refuses at once.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 320 * time.Millisecond
)

// Retry sends a request that is safe to repeat until it is answered or ctx ends.
// One member that hangs must not use up the whole time, so each attempt gets at
// most a third of what is left; the next one goes to another member, since
// etcd's client takes its endpoints in turn.
func Retry(ctx context.Context, send func(context.Context) error) error {
	pause := firstPause
	for {
		attempt, cancel := ThirdOf(ctx)
		err := send(attempt)
		cancel()
		if err == nil || !Passing(err) || !Pause(ctx, pause) {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}

// ThirdOf returns a context that ends after a third of the time that ctx has
// left, and not before 100 ms, in which any healthy member answers.
func ThirdOf(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, 2*time.Second)
	}
	return context.WithTimeout(ctx, max(time.Until(end)/3, 100*time.Millisecond))
}

// Pause waits for d and reports whether ctx is still alive then.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
