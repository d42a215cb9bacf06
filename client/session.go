package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

const (
	// DefaultTTL is a session's time to live unless set otherwise: a dead
	// holder's locks are free about that much later.
	DefaultTTL = 15 * time.Second

	// MinTTL is the shortest time to live that may be asked for. etcd grants
	// whole seconds, and at least 1.5 election time-outs: 2 s at its defaults.
	MinTTL = time.Second

	// MaxTTL is the longest one: 250,000 hours, within etcd's 9,000,000,000 s.
	MaxTTL = 250_000 * time.Hour

	// closeTime bounds how long Close waits for the cluster to take things back.
	// What could not be given back ends with its TTL.
	closeTime = 2 * time.Second
)

// Session is a lease in the cluster, its renewals, and a local deadline. The
// locks that are taken through a session end with it, at the latest. Its methods
// may be called from several goroutines.
type Session struct {
	client *Client
	etcd   *clientv3.Client
	space  keys.Space
	log    *zap.Logger
	lease  clientv3.LeaseID
	life   *lifeline
	slots  slots
	lines  lines
	sweep  sweeper
	lately lately
	kept   keptWatches

	ctx    context.Context // governs background work; ends when the session has
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // every goroutine of the session but Close's own

	mu     sync.Mutex
	held   map[*holding]struct{} // everything that has been granted and not ended
	closed bool
	retirement
}

// NewSession makes a session with a time to live of its own, for locks that must
// be freed sooner, or survive longer cuts, than those of the client's default
// session. The TTL is rounded up to whole seconds. It lasts until it is lost or
// closed, by its own Close or the client's.
func (c *Client) NewSession(ctx context.Context, ttl time.Duration) (*Session, error) {
	if err := checkTTL(ttl); err != nil {
		return nil, err
	}
	var s *Session
	err := c.during(ctx, func(ctx context.Context) (err error) {
		s, err = c.openSession(ctx, ttl)
		return err
	})
	return s, err
}

func checkTTL(ttl time.Duration) error {
	if ttl < MinTTL || ttl > MaxTTL {
		return fmt.Errorf("session TTL %v: want %v to %v", ttl, MinTTL, MaxTTL)
	}
	return nil
}

// openSession asks for a lease and starts its renewals.
func (c *Client) openSession(ctx context.Context, ttl time.Duration) (*Session, error) {
	lease, sent, err := c.grant(ctx, ttl)
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, etcd: c.etcd, space: c.space, lease: lease.ID, held: map[*holding]struct{}{}}
	s.idle = make(chan struct{})
	s.log = c.log.With(zap.String("session", fmt.Sprintf("%x", int64(lease.ID))))
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.sweep.session, s.sweep.added = s, make(chan struct{}, 1)
	s.life = newLifeline(c.clock, s, sent, time.Duration(lease.TTL)*time.Second, s.lost)
	c.remember(s) // before it can end
	s.work.Go(s.life.run)
	return s, nil
}

// grant asks for a lease. A grant whose answer is lost leaves a lease that ends
// after its TTL, with nothing bound to it.
func (c *Client) grant(ctx context.Context, ttl time.Duration) (lease *clientv3.LeaseGrantResponse, sent time.Duration, err error) {
	ctx, cancel := outcome.Bound(ctx, c.config.DialTimeout)
	defer cancel()
	seconds := int64((ttl + time.Second - 1) / time.Second)
	err = outcome.Retry(ctx, func(ctx context.Context) (err error) {
		sent = c.clock.now()
		lease, err = c.etcd.Grant(ctx, seconds)
		return err
	})
	if err != nil {
		return nil, 0, outcome.OfRead(ctx, "open a session", err, c.etcd.Endpoints())
	}
	return lease, sent, nil
}

// renew implements renewer with one request to one member.
func (s *Session) renew(ctx context.Context) (time.Duration, error) {
	sent := time.Now()
	resp, err := s.etcd.KeepAliveOnce(ctx, s.lease)
	if err == nil || ctx.Err() != context.Canceled { // cut short by the session's end it says nothing
		s.client.config.Observer.Renewed(time.Since(sent), err)
	}
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return 0, errLeaseGone
	}
	if err != nil {
		return 0, err
	}
	return time.Duration(resp.TTL) * time.Second, nil
}

// lost ends every lock of the session. The lifeline calls it once, whatever ended it.
func (s *Session) lost(cause error) {
	if errors.Is(cause, ErrLost) {
		s.log.Warn("session lost, and all its locks", zap.Error(cause))
	}
	s.mu.Lock()
	held := s.held
	s.held = nil
	s.mu.Unlock()
	for h := range held {
		h.lose(ofLocks(cause))
	}
	s.cancel(cause)
	s.client.forget(s)
}

// ofLocks is what the end of a session means for its locks; nil if it has not ended.
func ofLocks(cause error) error {
	if errors.Is(cause, ErrClosed) {
		return fmt.Errorf("%w: given back, since its session was closed: %w", ErrNotHeld, ErrClosed)
	}
	return cause
}

// keep registers a lock that has been granted, unless the session has ended.
func (s *Session) keep(h *holding) error {
	if err := s.life.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil { // it has ended since
		return s.life.check()
	}
	s.held[h] = struct{}{}
	return nil
}

// drop forgets a lock that has ended.
func (s *Session) drop(h *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, h)
	s.closeIfIdle()
}

// start runs f in a goroutine of the session, unless the session is closed.
func (s *Session) start(f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("session: %w", ErrClosed)
	}
	s.work.Go(f)
	return nil
}

// TTL is the time to live that the cluster granted.
func (s *Session) TTL() time.Duration {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	return s.life.ttl
}

// Lease is the id of the session's lease in etcd.
func (s *Session) Lease() int64 { return int64(s.lease) }

// Done is closed when the session has ended, by loss or by Close.
func (s *Session) Done() <-chan struct{} { return s.life.done }

// Err is nil while the session lasts. It looks at the clock, so it is right at
// once after a pause. Then it is ErrLost or ErrClosed, with the reason.
func (s *Session) Err() error { return s.life.check() }

// Close gives back every lock of the session, and returns within about two
// seconds even when no member answers; what could not be given back then is
// freed after its TTL. It may be called twice.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	var places []place
	for h := range s.held {
		places = append(places, h.places...)
	}
	s.mu.Unlock()
	s.life.end(fmt.Errorf("session: %w", ErrClosed))
	s.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	s.giveClaimsBack(ctx, places)
	s.markClosed(ctx)
	return s.revoke(ctx)
}

// giveClaimsBack removes what is held, so that those who watch a lock see it
// released: the end of the lease, which comes next, looks like a loss. It takes no
// more than half of the time.
func (s *Session) giveClaimsBack(ctx context.Context, places []place) {
	ctx, cancel := context.WithTimeout(ctx, closeTime/2)
	defer cancel()
	for batch := range slices.Chunk(places, MaxLocks) {
		s.lately.note(batch)
		if _, err := s.remove(ctx, batch, false, true); err != nil {
			return
		}
	}
}

// revoke gives the lease back, and every claim with it.
func (s *Session) revoke(ctx context.Context) error {
	err := outcome.Retry(ctx, func(ctx context.Context) error {
		_, err := s.etcd.Revoke(ctx, s.lease)
		return err
	})
	if err == nil || errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return nil
	}
	return fmt.Errorf("close session %x: its lease could not be given back and ends after its TTL of %v: %w", int64(s.lease), s.TTL(), err)
}

// valueOf is what claims made now for a goal say about themselves.
func (s *Session) valueOf(g goal) (string, error) {
	labels := maps.Clone(s.client.config.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, g.labels)
	return keys.ClaimValue{
		Owner:  s.client.config.Owner,
		Mode:   g.kind.mode(),
		Since:  time.Now().UTC().Truncate(time.Millisecond),
		Labels: labels,
		Value:  g.value,
	}.Encode()
}
