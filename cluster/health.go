package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/fencelock/fencelock/cluster/monitor"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Why a member is not ready, as /readyz says it.
var (
	errStarting = errors.New("the member is starting")
	errStopping = errors.New("the member is being stopped")
	errLearner  = errors.New("the member is a learner: it has yet to catch up and be promoted")
	errFull     = errors.New(`the cluster's store is full (alarm NOSPACE): delete what can go, then run "fencelock alarm clear"`)
	errCorrupt  = errors.New(`the members' data differ (alarm CORRUPT): "fencelock alarm list" names the member that has to be replaced`)
)

// openMonitor starts to answer on ListenMetrics, before etcd starts: what takes
// long is worth watching.
func (m *Member) openMonitor() error {
	if m.cfg.ListenMetrics == "" {
		return nil
	}
	server, err := monitor.Listen(monitor.Config{
		Address: m.cfg.ListenMetrics,
		Ready:   m.whyNotReady,
		Metrics: monitor.NewCollector(m.counter),
	})
	if err != nil && m.cfg.MetricsOptional {
		m.log.Warn("no health and no metrics from this member: " + err.Error())
		return nil
	}
	m.monitor = server
	return err
}

func (m *Member) closeMonitor() {
	if m.monitor != nil {
		m.monitor.Close()
	}
}

// MetricsAddr returns where the member answers for health and metrics, host:port;
// empty: nowhere.
func (m *Member) MetricsAddr() string {
	if m.monitor == nil {
		return ""
	}
	return m.monitor.Address()
}

// whyNotReady returns nil while the member serves all there is to serve.
func (m *Member) whyNotReady(ctx context.Context) error {
	if m.isClosing() {
		return errStopping
	}
	if !m.serving.Load() {
		return errStarting
	}
	if m.etcd.Server.IsLearner() {
		return errLearner
	}
	if err := m.alarmed(); err != nil {
		return err
	}
	switch err := m.Ready(ctx); {
	case m.isClosing(): // meanwhile
		return errStopping
	case err != nil:
		return fmt.Errorf("no majority of the members has answered: %w", err)
	}
	return nil
}

func (m *Member) isClosing() bool {
	select {
	case <-m.closing:
		return true
	default:
		return false
	}
}

// isReady is whyNotReady in the time of a health check.
func (m *Member) isReady(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return m.whyNotReady(ctx) == nil
}

func (m *Member) alarmed() error {
	raised := m.raised()
	switch {
	case raised[pb.AlarmType_CORRUPT.String()]:
		return errCorrupt
	case raised[pb.AlarmType_NOSPACE.String()]:
		return errFull
	}
	return nil
}

// raised has every kind of alarm, and whether any member has raised it.
func (m *Member) raised() map[string]bool {
	kinds := map[string]bool{pb.AlarmType_NOSPACE.String(): false, pb.AlarmType_CORRUPT.String(): false}
	for _, a := range m.etcd.Server.Alarms() {
		kinds[a.Alarm.String()] = true
	}
	return kinds
}

// newSpace is the keys that the member counts.
func newSpace(namespace string) (keys.Space, error) {
	space, err := keys.NewSpace(namespace)
	if err != nil {
		return keys.Space{}, fmt.Errorf("namespace: %w", err)
	}
	return space, nil
}
