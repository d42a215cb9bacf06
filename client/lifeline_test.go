package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// bubbleClock runs with the bubble's time, and ahead of it: timers stand still
// while a machine is suspended, the clock does not.
type bubbleClock struct {
	origin time.Time
	ahead  atomic.Int64
}

func (c *bubbleClock) now() time.Duration {
	return time.Since(c.origin) + time.Duration(c.ahead.Load())
}

// suspend lets the clock run ahead of every timer.
func (c *bubbleClock) suspend(d time.Duration) { c.ahead.Add(int64(d)) }

// attemptAt is one renewal that the lifeline asked for.
type attemptAt struct{ sent, limit time.Duration }

// patient is a lifeline in a bubble, with a renewer that answers as the test says.
type patient struct {
	*lifeline
	clock  *bubbleClock
	answer func(ctx context.Context, n int) (time.Duration, error) // n counts from 0
	ran    chan struct{}

	mu       sync.Mutex
	attempts []attemptAt
	ends     []error // what onEnd was called with
	endedAt  time.Duration
}

// begin starts a lifeline whose lease is granted at once.
func begin(t *testing.T, ttl time.Duration, answer func(ctx context.Context, n int) (time.Duration, error)) *patient {
	t.Helper()
	p := &patient{clock: &bubbleClock{origin: time.Now()}, answer: answer, ran: make(chan struct{})}
	p.lifeline = newLifeline(p.clock, p, 0, ttl, p.onEnded)
	go func() {
		defer close(p.ran)
		p.run()
	}()
	t.Cleanup(func() {
		p.end(errors.New("the test is over"))
		<-p.ran
	})
	return p
}

func (p *patient) renew(ctx context.Context) (time.Duration, error) {
	end, _ := ctx.Deadline()
	p.mu.Lock()
	n := len(p.attempts)
	p.attempts = append(p.attempts, attemptAt{p.clock.now(), time.Until(end)})
	p.mu.Unlock()
	return p.answer(ctx, n)
}

func (p *patient) onEnded(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends = append(p.ends, cause)
	p.endedAt = p.clock.now()
}

func (p *patient) asked() []attemptAt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.attempts)
}

// lossAt waits for the end, which must be a loss, and returns when it came.
func (p *patient) lossAt(t *testing.T) time.Duration {
	t.Helper()
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ends) != 1 || !errors.Is(p.ends[0], ErrLost) {
		t.Errorf("onEnd was called with %v, want one ErrLost", p.ends)
	}
	return p.endedAt
}

// silence is a member that never answers.
func silence(ctx context.Context, _ int) (time.Duration, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// A slow reply must not stretch the time for which the lease is trusted.
func TestDeadlineCountsFromTheSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 12*time.Second, func(ctx context.Context, n int) (time.Duration, error) {
			if n > 0 {
				return silence(ctx, n)
			}
			time.Sleep(2 * time.Second)
			return 12 * time.Second, nil
		})
		if got, want := p.lossAt(t), 14800*time.Millisecond; got != want { // sent at 4 s, + 12 s − 10 %
			t.Errorf("lost at %v, want %v", got, want)
		}
	})
}

// Renewals that are refused are another matter than renewals that get no answer:
// waiting does not help.
func TestRefusedRenewalsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		answer  func(n int) error
		refused bool
	}{
		"refused":                     {func(int) error { return rpctypes.ErrPermissionDenied }, true},
		"refused, then no answer":     {func(n int) error { return errIf(n < 3, rpctypes.ErrUserEmpty) }, true},
		"refused once, then accepted": {func(n int) error { return errIf(n == 0, rpctypes.ErrUserEmpty) }, false},
		"never answered":              {func(int) error { return context.DeadlineExceeded }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := begin(t, 9*time.Second, func(ctx context.Context, n int) (time.Duration, error) {
				if err := c.answer(n); err != nil {
					return 0, err
				}
				if n == 1 {
					return 9 * time.Second, nil
				}
				return silence(ctx, n)
			})
			p.lossAt(t)
			err := p.check()
			if got := strings.Contains(err.Error(), "refused to renew"); got != c.refused || CauseOf(err) != "deadline" {
				t.Errorf("%s: got %v, cause %s, want a refusal told of: %t, cause deadline", name, err, CauseOf(err), c.refused)
			}
		})
	}
}

func errIf(yes bool, err error) error {
	if yes {
		return err
	}
	return nil
}

func TestTTLGrantedByARenewalCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 9*time.Second, func(ctx context.Context, n int) (time.Duration, error) {
			if n > 0 {
				return silence(ctx, n)
			}
			return 20 * time.Second, nil
		})
		if got, want := p.lossAt(t), 21*time.Second; got != want { // sent at 3 s, + 20 s − 10 %
			t.Errorf("lost at %v, want %v", got, want)
		}
	})
}

func TestMarginIsATenthAndAtLeastHalfASecond(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		1 * time.Second:  500 * time.Millisecond,
		2 * time.Second:  1500 * time.Millisecond,
		5 * time.Second:  4500 * time.Millisecond,
		15 * time.Second: 13500 * time.Millisecond,
		60 * time.Second: 54 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := begin(t, ttl, silence).lossAt(t); got != want {
				t.Errorf("TTL %v: lost at %v, want %v", ttl, got, want)
			}
		})
	}
}

func TestThreeRenewalsPerTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl, ttls = 9 * time.Second, 1000
		p := begin(t, ttl, func(context.Context, int) (time.Duration, error) { return ttl, nil })
		time.Sleep(ttls*ttl + time.Second)
		attempts := p.asked()
		if got, want := len(attempts), 3*ttls; got != want {
			t.Errorf("%d renewals in %d TTLs, want %d", got, ttls, want)
		}
		for i, a := range attempts {
			if want := time.Duration(i+1) * ttl / 3; a.sent != want {
				t.Fatalf("renewal %d was sent at %v, want %v", i, a.sent, want)
			}
		}
		if err := p.check(); err != nil {
			t.Errorf("after %d TTLs: got %v, want a lease that lasts", ttls, err)
		}
	})
}

// A member that hangs must leave time to ask another.
func TestAttemptGetsAThirdOfWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl, deadline = 15 * time.Second, 13500 * time.Millisecond
		p := begin(t, ttl, silence)
		p.lossAt(t)
		due := ttl / 3
		attempts := p.asked()
		for i, a := range attempts[:min(5, len(attempts))] {
			if want := (deadline - due) / 3; a.sent != due || a.limit != want {
				t.Errorf("attempt %d: sent at %v for %v, want at %v for %v", i, a.sent, a.limit, due, want)
			}
			due = a.sent + a.limit
		}
		if len(attempts) < 10 || len(attempts) > 100 {
			t.Errorf("%d attempts before the deadline, want some tens", len(attempts))
		}
	})
}

func TestErrorsAreRetriedUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 3*time.Second, func(context.Context, int) (time.Duration, error) { return 0, errors.New("refused") })
		if got, want := p.lossAt(t), 2500*time.Millisecond; got != want {
			t.Errorf("lost at %v, want %v", got, want)
		}
		attempts := p.asked()
		if len(attempts) < 20 {
			t.Errorf("%d attempts, want one about every %v from 1 s to 2.5 s", len(attempts), renewPause)
		}
		for i := range min(28, len(attempts)) - 1 {
			if got := attempts[i+1].sent - attempts[i].sent; got != renewPause {
				t.Errorf("attempt %d came %v after the one before, want %v", i+1, got, renewPause)
			}
		}
	})
}

func TestSuccessAfterErrorsKeepsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 3*time.Second, func(_ context.Context, n int) (time.Duration, error) {
			if n < 25 {
				return 0, errors.New("refused")
			}
			return 3 * time.Second, nil
		})
		time.Sleep(time.Hour)
		if err := p.check(); err != nil {
			t.Errorf("an hour later: got %v, want a lease that lasts", err)
		}
	})
}

func TestLeaseGoneEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 15*time.Second, func(context.Context, int) (time.Duration, error) { return 0, errLeaseGone })
		if got, want := p.lossAt(t), 5*time.Second; got != want {
			t.Errorf("lost at %v, want at the first renewal, %v", got, want)
		}
		if err := p.check(); !errors.Is(err, errLeaseGone) {
			t.Errorf("got %v, want the reason in it: %v", err, errLeaseGone)
		}
	})
}

func TestLateReplyRevivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 3*time.Second, func(context.Context, int) (time.Duration, error) {
			time.Sleep(time.Minute) // deaf to its context, too
			return time.Hour, nil
		})
		if got, want := p.lossAt(t), 2500*time.Millisecond; got != want {
			t.Errorf("lost at %v, want %v", got, want)
		}
		before := p.check()
		<-p.ran
		if got := p.check(); got != before || p.left() > 0 {
			t.Errorf("after the late reply: got %v with %v left, want %v and nothing", got, p.left(), before)
		}
	})
}

// The clock runs on in suspend, timers do not.
func TestSuspendIsNoticed(t *testing.T) {
	const ttl = 15 * time.Second
	renewing := func(context.Context, int) (time.Duration, error) { return ttl, nil }
	t.Run("by itself", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := begin(t, ttl, renewing)
			time.Sleep(time.Second)
			woke := time.Now()
			p.clock.suspend(3 * ttl)
			<-p.done
			if got := time.Since(woke); got > clockLook {
				t.Errorf("loss was noticed %v after waking, want at most %v", got, clockLook)
			}
			p.lossAt(t)
		})
	})
	t.Run("by the first question", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := begin(t, ttl, renewing)
			time.Sleep(time.Second)
			p.clock.suspend(3 * ttl)
			if err := p.check(); !errors.Is(err, ErrLost) {
				t.Errorf("got %v, want ErrLost", err)
			}
		})
	})
	t.Run("in the middle of a renewal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := begin(t, ttl, silence)
			time.Sleep(ttl/3 + 100*time.Millisecond)
			woke := time.Now()
			p.clock.suspend(3 * ttl)
			<-p.ran
			if got := time.Since(woke); got > clockLook {
				t.Errorf("it ended %v after waking, want at most %v", got, clockLook)
			}
		})
	})
	t.Run("a short one brings the renewal forward", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := begin(t, ttl, renewing)
			time.Sleep(time.Second)
			p.clock.suspend(10 * time.Second)
			time.Sleep(clockLook)
			synctest.Wait()
			if got := len(p.asked()); got != 1 || p.check() != nil {
				t.Errorf("%v after waking: %d renewals, %v, want one and nil", clockLook, got, p.check())
			}
		})
	})
}

func TestRenewNowDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 15*time.Second, func(context.Context, int) (time.Duration, error) { return 0, errLeaseGone })
		time.Sleep(time.Second)
		p.renewNow()
		p.renewNow() // does not block while one is asked for
		if got, want := p.lossAt(t), time.Second; got != want {
			t.Errorf("lost at %v, want %v", got, want)
		}
	})
}

func TestTheFirstEndIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, 15*time.Second, silence)
		first := errors.New("first")
		p.end(first)
		var later sync.WaitGroup
		for range 10 {
			later.Go(func() { p.end(errors.New("later")) })
		}
		later.Wait()
		time.Sleep(time.Hour)
		<-p.done
		if got := p.check(); got != first {
			t.Errorf("got %v, want %v", got, first)
		}
		if len(p.ends) != 1 || p.ends[0] != first {
			t.Errorf("onEnd was called with %v, want once with %v", p.ends, first)
		}
		if len(p.asked()) != 0 {
			t.Errorf("%d renewals after the end, want none", len(p.asked()))
		}
	})
}

// Whoever sees done closed finds every consequence of the end in place.
func TestOnEndComesBeforeDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLifeline(&bubbleClock{origin: time.Now()}, nil, 0, time.Minute, nil)
		l.onEnd = func(error) {
			select {
			case <-l.done:
				t.Error("done was closed before onEnd returned")
			case <-time.After(time.Second):
			}
		}
		l.end(ErrClosed)
		<-l.done
	})
}
