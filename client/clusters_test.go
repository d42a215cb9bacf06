package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
)

// Whoever is given endpoints of two clusters is told so, and does not take a lock
// now in one of them and now in the other.
func TestEndpointsOfTwoClusters(t *testing.T) {
	t.Parallel()
	one, other := oneMember(t), oneMember(t)
	c := connect(t, client.Config{Endpoints: append(one.Endpoints(), other.Endpoints()...)})
	var err error
	for end := time.Now().Add(limit); !errors.Is(err, client.ErrTwoClusters) && time.Now().Before(end); { // until then locks may be lost
		err = lockOnce(t, c)
	}
	if !errors.Is(err, client.ErrTwoClusters) || !strings.Contains(err.Error(), "endpoints of one only") {
		t.Errorf("got %v, want ErrTwoClusters and what to do", err)
	}
}

func lockOnce(t *testing.T, c *client.Client) error {
	s, err := c.NewSession(t.Context(), time.Minute)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.Lock(t.Context(), "orders")
	if err != nil {
		return err
	}
	return l.Unlock(t.Context())
}
