package cluster

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// launch starts etcd. It does so in a goroutine of its own, which failStop can
// end. Whatever etcd had opened then stays open until the process ends: it gives
// no access to it.
func (m *Member) launch() error {
	cfg, err := embedConfig(m.cfg)
	if err != nil {
		return err
	}
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(m.fatal.guard(bounded(m.log.Named("etcd"))))
	cfg.GRPCAdditionalServerOptions = append(cfg.GRPCAdditionalServerOptions, m.gate.options()...)
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
	if errors.Is(err, errEnded) {
		return m.fatal.cause()
	}
	return explainListen(err)
}

func explainListen(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; another process listens there: stop it, or use another port", err)
	}
	return err
}
