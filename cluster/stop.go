package cluster

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

const (
	// drainWait is for requests in flight when the member is closed. They take
	// milliseconds, unless the cluster has no quorum, and then longer than this.
	drainWait = time.Second

	// cutWait is for requests to notice that they were ended: milliseconds, and
	// longer only for what takes no notice, a defragmentation.
	cutWait = time.Second

	// stopWait is for etcd's server to stop and its files to be closed. It takes
	// some 50 ms, and longer while the disk is slow.
	stopWait = 10 * time.Second

	// connWait is for etcd to close its connections after that. It takes up to
	// 1 s among peers, and has no end while a client is connected that never
	// sent a byte, such as a health check: cmux waits for that byte.
	connWait = 3 * time.Second
)

// errStuck: the files may still be in use. The process should end.
var errStuck = errors.New("etcd has not stopped")

// Close hands leadership over, if the member leads others, and stops it. That
// takes about 1 s; at most an election time-out, plus 2 s for requests in flight,
// plus 13 s. Later calls wait for the first and return the same.
//
// Afterwards folder and ports are free. Goroutines of etcd may last a little
// longer, since it does not close every connection: 5 s for those from peers, 5
// min for idle ones to peers, and for clients that are silent (see connWait) until
// they go away.
func (m *Member) Close() error {
	m.stopOnce.Do(func() { m.stopErr = m.end(true) })
	return m.stopErr
}

// Kill stops the member without a word: it keeps the leadership until the others
// miss it, and cuts requests off. It is for tests, and it is not kill -9: what
// etcd has buffered is written, files are closed, and connections end in order.
func (m *Member) Kill() error {
	m.stopOnce.Do(func() { m.stopErr = m.end(false) })
	return m.stopErr
}

func (m *Member) end(graceful bool) error {
	close(m.closing)
	<-m.watched
	m.endTask()
	if graceful {
		handedOver := m.handOver()
		defer func() { <-handedOver }()
		m.gate.drain(drainWait)
	}
	m.tasks.Wait() // a defragmentation has no way to end early, and etcd would wait for it too
	return m.stop()
}

// handOver gives leadership to the member connected the longest, or gives up
// after an election time-out, when Raft does. etcd goes on trying until it is
// stopped; the channel it returns is closed when that has ended.
func (m *Member) handOver() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.etcd.Server.TryTransferLeadershipOnShutdown(); err != nil {
			m.log.Info("leadership was not handed over", zap.Error(err))
		}
	}()
	_ = wait(done, m.cfg.Election)
	return done
}

// stop stops etcd and gives the folder back. The server comes first: in its own
// order etcd would try for 7 s to hand leadership to a follower that is silent.
func (m *Member) stop() error {
	defer m.closeMonitor() // last: it says that the member is being stopped
	m.gate.cut(cutWait)
	m.fatal.setServing(false)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		m.etcd.Server.HardStop()
		m.etcd.Close()
	}()
	if !wait(m.etcd.Server.StopNotify(), stopWait) {
		return fmt.Errorf("close member %q: %w in %v", m.Name(), errStuck, stopWait)
	}
	m.folder.close()
	if !wait(closed, connWait) {
		m.log.Warn("closed, but for connections that nothing was ever sent on")
		m.closeListeners()
	}
	return nil
}

// isStopping reports whether etcd's server has begun to stop, by itself or not.
func (m *Member) isStopping() bool {
	select {
	case <-m.etcd.Server.StoppingNotify():
		return true
	default:
		return false
	}
}

// closeListeners is for when etcd has not come to it.
func (m *Member) closeListeners() {
	for _, l := range m.etcd.Clients {
		_ = l.Close()
	}
	for _, l := range m.etcd.Peers {
		_ = l.Listener.Close()
	}
}

// wait reports whether done is closed within limit.
func wait(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
