package cluster

import "context"

// Occupy stands for a request of a client that has no end of its own, until leave.
func (m *Member) Occupy(ctx context.Context) (leave func(), err error) {
	if err := m.gate.enter(ctx); err != nil {
		return nil, err
	}
	return m.gate.leave, nil
}
