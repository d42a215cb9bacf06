package cluster

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster/monitor"
)

// Start runs one member and returns when it is ready, that is after a
// linearizable read. On a cluster's first start it waits for all members. If that does not happen until ctx ends or StartTimeout has
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
	if err := cfg.checkFiles(); err != nil {
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
	if err := m.openMonitor(); err != nil {
		folder.close()
		return nil, err
	}
	if err := m.bootstrap(ctx); err != nil {
		m.closeMonitor()
		folder.close()
		return nil, err
	}
	if err := m.enter(ctx, restart); err != nil {
		return nil, errors.Join(err, m.stop())
	}
	m.fatal.setServing(true)
	m.gate.stopping = m.isStopping
	m.gate.open()
	m.serve()
	m.warnTwo()
	go m.watch() // waited for by end
	return m, nil
}

// bootstrap starts etcd, once it is certain which cluster it belongs to.
func (m *Member) bootstrap(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	return m.launch()
}

// enter returns when etcd, which has started, may serve clients.
func (m *Member) enter(ctx context.Context, restart bool) error {
	if err := errors.Join(m.folder.noteRan(), m.folder.dropStaged()); err != nil {
		return err
	}
	return m.admit(ctx, restart)
}

// serve starts what a running member does by itself; end waits for it.
func (m *Member) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	m.endTask = cancel
	m.serving.Store(true)
	m.tasks.Go(func() { m.counter.Run(ctx) })
	m.tasks.Go(func() { m.upkeep(ctx) })
	m.tasks.Go(func() {
		m.gate.following.run(ctx, m.cfg.Heartbeat, func() bool { return m.Leader() != 0 })
	})
}

func newMember(cfg Config, folder *folder) (*Member, error) {
	a, err := cfg.addresses()
	if err != nil {
		return nil, err
	}
	space, err := newSpace(cfg.Namespace)
	if err != nil {
		return nil, err
	}
	m := &Member{
		cfg:     cfg,
		space:   space,
		client:  texts(a.advertiseClient),
		peer:    texts(a.advertisePeer),
		folder:  folder,
		fatal:   newFailStop(),
		gate:    newGate(cfg.Election),
		log:     cfg.Logger,
		errs:    make(chan error, 1),
		closing: make(chan struct{}),
		watched: make(chan struct{}),
	}
	m.counter = monitor.NewCounter(m.census)
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
