package top

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"github.com/fencelock/fencelock/client"
)

// drawDetail is all that is known of the lock under the cursor.
func (s *screen) drawDetail() []string {
	info, found := s.view.current()
	lines := []string{lipgloss.NewStyle().Bold(true).Render(s.fit(s.visible(info.Name)))}
	if !found {
		return append(lines, "free: nobody claims it any more")
	}
	var below []string
	for _, h := range info.Holders {
		below = append(below, s.claim("holds", h)...)
	}
	if len(info.Waiters) == 0 {
		below = append(below, "", "nobody waits")
	} else {
		below = append(below, "", fmt.Sprintf("%d waiting, in this order:", len(info.Waiters)))
	}
	for i, w := range info.Waiters {
		below = append(below, s.claim(fmt.Sprintf("%d.", i+1), w)...)
	}
	s.scroll = min(s.scroll, max(len(below)-s.rows(), 0))
	return append(lines, below[s.scroll:]...)
}

// claim is one place in the queue, in two lines if it has labels.
func (s *screen) claim(place string, c client.Claim) []string {
	lines := []string{s.fit(fmt.Sprintf("%-6s token %v  %s  %s  claimed %s ago  lease %x", place, c.Token, s.owner(c), c.Mode, s.age(c.Since), c.Lease))}
	if len(c.Labels) > 0 {
		lines = append(lines, s.fit("       "+s.visible(labelText(c.Labels))))
	}
	return lines
}
