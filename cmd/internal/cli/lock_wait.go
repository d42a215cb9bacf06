package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/fencelock/fencelock/client"
)

const (
	// tellAfter is how long a wait may take before it is mentioned.
	tellAfter = time.Second

	// tellEvery is how often the line on a terminal is rewritten.
	tellEvery = time.Second

	// askEvery is how often it is asked anew who holds the lock.
	askEvery = 5 * time.Second

	// shownOwners is how many of those who share a lock are named.
	shownOwners = 3

	// tellEnd is how long the writer gets to end. A terminal that was stopped
	// with Ctrl-S must not keep back a lock that is held.
	tellEnd = 100 * time.Millisecond
)

// waitTeller says on standard error who holds the lock that is waited for, and for
// how long: on a terminal in one line that is rewritten, elsewhere once.
type waitTeller struct {
	client   *client.Client
	plan     *lockPlan
	lease    int64 // of the session that waits
	to       io.Writer
	terminal bool
	width    int
	cancel   context.CancelFunc
	done     chan struct{}
}

// tellOfWaiting begins. It must be ended.
func (a *app) tellOfWaiting(ctx context.Context, c *client.Client, p *lockPlan, lease int64) *waitTeller {
	ctx, cancel := context.WithCancel(ctx)
	t := &waitTeller{client: c, plan: p, lease: lease, to: a.Stderr, terminal: isTerminal(a.Stderr), cancel: cancel, done: make(chan struct{})}
	t.width = widthOf(a.Stderr)
	go func() {
		defer close(t.done)
		t.tell(ctx)
	}()
	return t
}

// end returns when nothing more is written, as long as the writer is not stuck; a
// stuck one ends with the process.
func (t *waitTeller) end() {
	t.cancel()
	timer := time.NewTimer(tellEnd)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
}

func (t *waitTeller) tell(ctx context.Context) {
	began, asked := time.Now(), time.Time{}
	ticker := time.NewTicker(tellAfter)
	defer ticker.Stop()
	by := ""
	for {
		select {
		case <-ctx.Done():
			if !asked.IsZero() && t.terminal {
				fmt.Fprint(t.to, "\r\x1b[K")
			}
			return
		case <-ticker.C:
			ticker.Reset(tellEvery)
		}
		if time.Since(asked) >= askEvery {
			asked = time.Now()
			by = t.holder(ctx)
		}
		if ctx.Err() != nil { // meanwhile
			continue
		}
		line := fmt.Sprintf("fencelock: waiting for %s for %v%s", t.plan.what(), time.Since(began).Round(time.Second), by)
		if !t.terminal {
			fmt.Fprintln(t.to, line)
			return
		}
		fmt.Fprint(t.to, "\r"+runewidth.Truncate(line, t.width-1, "…")+"\x1b[K")
	}
}

// holder says who is in the way, as far as that can be found out.
func (t *waitTeller) holder(ctx context.Context) string {
	if t.plan.limit > 0 {
		info, err := t.client.InspectSemaphore(ctx, t.plan.names[0])
		if err != nil {
			return fmt.Sprintf(": all its permits (%d) are taken, and the cluster does not say by whom", t.plan.limit)
		}
		return t.aheadAtSemaphore(info)
	}
	for _, name := range t.plan.names {
		info, err := t.client.Inspect(ctx, name)
		if err != nil && info.Name == "" {
			return ": the cluster does not say who holds it"
		}
		if ahead := t.ahead(info); ahead != "" {
			return ahead
		}
	}
	return ""
}

// ahead words who stands before this session in one queue; empty if nobody does.
func (t *waitTeller) ahead(info client.LockInfo) string {
	owners := t.owners(info.Holders)
	if owners == "" {
		return ""
	}
	text := fmt.Sprintf(": held by %s, token %v", owners, info.Holders[0].Token)
	if len(t.plan.names) > 1 {
		text = fmt.Sprintf(": %q is%s", info.Name, text[1:])
	}
	if since := info.Holders[0].Since; !since.IsZero() {
		text += ", claimed " + claimOf(info.Holders[0]).age(time.Now())
	}
	return text + t.place(info.Waiters)
}

// aheadAtSemaphore is ahead for permits, which have no tokens that matter to others.
func (t *waitTeller) aheadAtSemaphore(info client.SemaphoreInfo) string {
	owners := t.owners(info.Holders)
	if owners == "" {
		return ""
	}
	text, claimed := ": the permit is held by "+owners, ", claimed "
	if info.Limit > 1 {
		text, claimed = fmt.Sprintf(": its %d permits are held by %s", info.Limit, owners), ", the first claimed "
	}
	if since := info.Holders[0].Since; !since.IsZero() {
		text += claimed + claimOf(info.Holders[0]).age(time.Now())
	}
	return text + t.place(info.Waiters)
}

// owners names the first who hold; empty if nobody does, or this session.
func (t *waitTeller) owners(holders []client.Claim) string {
	var owners []string
	for _, h := range holders {
		if h.Lease == t.lease {
			return ""
		}
		owners = append(owners, claimOf(h).who())
	}
	text := strings.Join(owners[:min(len(owners), shownOwners)], ", ")
	if more := len(owners) - shownOwners; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// place says how many wait before this session; empty if nobody does.
func (t *waitTeller) place(waiters []client.Claim) string {
	for i, w := range waiters {
		switch {
		case w.Lease != t.lease:
		case i == 1:
			return "; 1 waits before"
		case i > 1:
			return fmt.Sprintf("; %d wait before", i)
		}
	}
	return ""
}
