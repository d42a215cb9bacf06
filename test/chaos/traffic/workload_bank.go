package traffic

import (
	"context"
	"fmt"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	accounts       = 5
	firstBalance   = 100
	maxTransferred = 20

	lastKey = "last"
)

func accountKey(i int) string { return fmt.Sprintf("account/%d", i) }

// bankKeys are all keys of a bank.
func bankKeys() []string {
	keys := []string{lastKey}
	for i := range accounts {
		keys = append(keys, accountKey(i))
	}
	return keys
}

// bank is all that a bank has; there is nothing before the first write.
type bank struct {
	balances [accounts]int64
	last     string // identity of the last transfer
}

// transfer moves money from one account to another, in one step with the identity of
// the move. The first holder opens the accounts.
func (p *part) transfer(ctx context.Context) {
	now, ok := p.readBank()
	if !ok || !p.may(ctx) {
		return
	}
	changes := map[string]int64{}
	if now.last == "" {
		for i := range accounts {
			changes[accountKey(i)] = firstBalance
		}
	} else {
		from := p.rand.IntN(accounts)
		to := (from + 1 + p.rand.IntN(accounts-1)) % accounts
		amount := min(now.balances[from], 1+p.rand.Int64N(maxTransferred))
		changes[accountKey(from)] = now.balances[from] - amount
		changes[accountKey(to)] = now.balances[to] + amount
	}
	p.do(history.Event{Kind: history.Apply, Key: lastKey, Prev: now.last}, func(ctx context.Context, e *history.Event) error {
		values := map[string]string{lastKey: register{0, e.Value}.String()}
		for key, balance := range changes {
			values[key] = register{balance, e.Value}.String()
		}
		return p.store.Apply(ctx, values)
	})
}

// readBank reads everything at one moment.
func (p *part) readBank() (now bank, ok bool) {
	ok = p.do(history.Event{Kind: history.List}, func(ctx context.Context, e *history.Event) error {
		found, err := p.store.List(ctx, "")
		if err != nil {
			return err
		}
		for i := range accounts + 1 {
			key := lastKey
			if i < accounts {
				key = accountKey(i)
			}
			text, there := found[key]
			if !there {
				continue
			}
			r, err := parseRegister(text)
			if err != nil {
				return err
			}
			if i < accounts {
				now.balances[i] = r.number
				e.Sum += r.number
			} else {
				now.last, e.Seen = r.id, r.id
			}
		}
		return nil
	})
	return now, ok
}
