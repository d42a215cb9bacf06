package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.uber.org/zap"
)

const (
	// interval lies between two rounds of questions. A start takes two or three
	// of them once all members are up.
	interval = 100 * time.Millisecond

	// linger is how long a member that refuses still answers, so that its peers
	// see why.
	linger = time.Second

	// firstWarning and nextWarning space what the log says about peers that are
	// missing. A start by hand on three hosts takes less than the first.
	firstWarning = 5 * time.Second
	nextWarning  = 30 * time.Second
)

// Config is one member's part in the protocol. All fields are needed.
type Config struct {
	Self   Answer    // as the folder says; Protocol and Clock are filled in
	Listen []url.URL // where etcd will listen for peers
	TLS    transport.TLSInfo

	ClusterID func(Decision) string // see Next
	Record    func(Decision) error  // returns when the decision is on disk
	Log       *zap.Logger
}

// Run answers and asks until etcd may start under the decision that it returns;
// the addresses are free again then. It ends with an error when the start is
// refused, or when ctx ends: that one names the peers that were missing.
func Run(ctx context.Context, cfg Config) (Decision, error) {
	cfg.Self.Protocol = protocol
	ask, err := newAsker(cfg.TLS, cfg.Self)
	if err != nil {
		return Decision{}, err
	}
	var tls *transport.TLSInfo
	if !cfg.TLS.Empty() {
		tls = &cfg.TLS
	}
	s, err := serve(cfg.Listen, tls, cfg.Self, cfg.Log)
	if err != nil {
		return Decision{}, err
	}
	defer s.stop()
	r := &run{Config: cfg, ask: ask, server: s, warnAt: time.Now().Add(firstWarning)}
	if err := r.until(ctx); err != nil {
		return Decision{}, err
	}
	return *r.Self.Decision, nil
}

type run struct {
	Config
	ask    asker
	server *server
	warnAt time.Time        // of the next warning about missing peers
	last   map[string]Heard // in the last round that was not cut short
}

// until takes steps until one is the last.
func (r *run) until(ctx context.Context) error {
	r.Log.Info("waiting for the peers of a first start", zap.Strings("peers", r.ask.peers))
	for {
		heard := r.ask.round(ctx)
		if r.last == nil || ctx.Err() == nil {
			r.last = heard
		}
		r.Self.Clock = time.Now().UnixMicro()
		switch action := Next(r.Self, heard, r.ClusterID); action.Step {
		case Start:
			return nil
		case Refuse:
			pause(ctx, linger)
			return action.Err
		case Decide:
			if err := r.decide(*action.Decision); err != nil {
				return err
			}
			continue // with no pause: the others wait for this
		case Wait:
			r.warn()
		}
		if !pause(ctx, interval) {
			return fmt.Errorf("first start: %s: %w", missing(r.last), ctx.Err())
		}
	}
}

func (r *run) decide(d Decision) error {
	if err := r.Record(d); err != nil {
		return fmt.Errorf("first start: %w", err)
	}
	r.Self.Decision = &d
	r.server.set(r.Self)
	r.Log.Info("all members are new, and agree", zap.Any("decision", d))
	return nil
}

func (r *run) warn() {
	if now := time.Now(); now.After(r.warnAt) {
		r.warnAt = now.Add(nextWarning)
		r.Log.Warn("the first start needs all members, and waits", zap.String("why", missing(r.last)))
	}
}

// missing says what Wait waits for.
func missing(heard map[string]Heard) string {
	var silent, behind []string
	for member, h := range sortedByMember(heard) {
		switch {
		case h.silent():
			silent = append(silent, fmt.Sprintf("%s (%v)", member, cause(h.Err)))
		default:
			behind = append(behind, member)
		}
	}
	if len(silent) == 0 {
		return "these members have not come to the same decision yet: " + strings.Join(behind, ", ")
	}
	return fmt.Sprintf("a first start needs all members, and these have not answered: %s; start them, with the same --peers; if one has lost its disk, see `fencelock member replace`", strings.Join(silent, ", "))
}

// cause leaves out the method and the URL.
func cause(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// pause reports whether ctx has not ended before d is over.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
