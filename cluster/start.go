package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// Start runs one member and returns when it is ready, that is after a
// linearizable read. If that does not happen until ctx ends or StartTimeout has
// passed, it stops everything again and returns an error. It may exceed its time
// by the seconds that etcd takes to stop, or to give up on peers that do not
// answer: 1 s for each on the first start.
//
// The member's life does not depend on ctx; end it with Close.
func Start(ctx context.Context, cfg Config) (*Member, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("member configuration: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	folder, err := openFolder(cfg)
	if err != nil {
		return nil, err
	}
	m, err := startIn(ctx, cfg, folder)
	if err != nil {
		return nil, fmt.Errorf("start member %q: %w", cfg.Name, err)
	}
	return m, nil
}

// startIn owns folder: it ends up with the member, or closed.
func startIn(ctx context.Context, cfg Config, folder *folder) (*Member, error) {
	m, err := newMember(cfg, folder)
	if err != nil {
		folder.close()
		return nil, err
	}
	restart := folder.hasData()
	if err := m.launch(); err != nil {
		folder.close()
		return nil, err
	}
	if err := m.admit(ctx, restart); err != nil {
		return nil, errors.Join(err, m.stop())
	}
	m.fatal.setServing(true)
	m.gate.open()
	go m.watch() // waited for by end
	return m, nil
}

func newMember(cfg Config, folder *folder) (*Member, error) {
	a, err := cfg.addresses()
	if err != nil {
		return nil, err
	}
	m := &Member{
		cfg:     cfg,
		client:  texts(a.advertiseClient),
		peer:    texts(a.advertisePeer),
		folder:  folder,
		fatal:   newFailStop(),
		gate:    newGate(),
		log:     cfg.Logger,
		errs:    make(chan error, 1),
		closing: make(chan struct{}),
		watched: make(chan struct{}),
	}
	m.warnPlain(a)
	return m, nil
}

// warnPlain is loud, and once per start.
func (m *Member) warnPlain(a addresses) {
	var open []string
	if !m.cfg.ClientTLS.enabled() {
		open = append(open, beyondLoopback(a.listenClient)...)
	}
	if !m.cfg.PeerTLS.enabled() {
		open = append(open, beyondLoopback(a.listenPeer)...)
	}
	if len(open) > 0 {
		m.log.Warn("NO TLS: whoever reaches these addresses can read, break and forge every lock", zap.Strings("listen", open))
	}
}

// launch starts etcd. It does so in a goroutine of its own, which failStop can
// end. Whatever etcd had opened then stays open until the process ends: it gives
// no access to it.
func (m *Member) launch() error {
	cfg, err := embedConfig(m.cfg)
	if err != nil {
		return err
	}
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(m.fatal.guard(m.log.Named("etcd")))
	cfg.GRPCAdditionalServerOptions = m.gate.options()
	started := make(chan error, 1)
	go func() {
		err := errEnded
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("etcd panicked: %v", p)
			}
			started <- err
		}()
		m.etcd, err = embed.StartEtcd(cfg)
	}()
	return m.launched(started)
}

// errEnded stands for a goroutine that failStop has ended.
var errEnded = errors.New("etcd ended its own start")

func (m *Member) launched(started <-chan error) error {
	select {
	case err := <-started:
		return m.explainStart(err)
	case <-m.fatal.died:
	}
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case err := <-started:
		return m.explainStart(err)
	case <-timer.C: // etcd waits for the goroutine that died
		return m.fatal.cause()
	}
}

func (m *Member) explainStart(err error) error {
	switch {
	case errors.Is(err, errEnded):
		return m.fatal.cause()
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w; another process listens there: stop it, or use another port", err)
	}
	return err
}

// admit returns when the member may serve clients.
func (m *Member) admit(ctx context.Context, restart bool) error {
	select {
	case <-m.etcd.Server.ReadyNotify():
	case <-m.etcd.Server.StopNotify():
		return m.removed()
	case err := <-m.etcd.Err():
		return m.ended(err)
	case <-m.fatal.died:
		return m.fatal.cause()
	case <-ctx.Done():
		return m.notReady(ctx)
	}
	if err := m.firstRead(ctx); err != nil {
		return err
	}
	return m.checkCorruption(restart)
}

// readRetry spaces reads that fail at once, as around a change of leader.
const readRetry = 50 * time.Millisecond

func (m *Member) firstRead(ctx context.Context) error {
	for {
		if m.Ready(ctx) == nil {
			return nil
		}
		select {
		case <-time.After(readRetry):
		case <-m.etcd.Server.StopNotify():
			return m.removed()
		case <-ctx.Done():
			return m.notReady(ctx)
		}
	}
}

// checkCorruption compares the data with the peers' at one revision. Peers that
// do not answer are skipped, after up to 5 s each.
func (m *Member) checkCorruption(restart bool) error {
	if !restart || len(m.etcd.Server.Cluster().Members()) == 1 {
		return nil
	}
	if err := m.etcd.Server.CorruptionChecker().InitialCheck(); err != nil {
		return fmt.Errorf("compare data with peers: %w; restore this member from the others: remove it and add it anew", err)
	}
	return nil
}

func (m *Member) notReady(ctx context.Context) error {
	state := "it has a leader, but has not caught up"
	if m.Leader() == 0 {
		state = "no leader: a majority of its members must run and reach each other"
	}
	return fmt.Errorf("not ready, %s; members %s: %w", state, m.peerList(), ctx.Err())
}

func (m *Member) peerList() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m.cfg.InitialCluster)) {
		list = append(list, name+"="+strings.Join(m.cfg.InitialCluster[name], "|"))
	}
	return strings.Join(list, ", ")
}
