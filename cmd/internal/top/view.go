package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fencelock/fencelock/client"
)

// order is what locks are sorted by.
type order int

const (
	byName order = iota
	byHeld       // the oldest first
	byWaiters
	byToken
	orders
)

func (o order) String() string { return [orders]string{"name", "held for", "waiters", "token"}[o] }

// view is what is shown of a snapshot.
type view struct {
	all      []client.LockInfo
	filter   string // in names, owners and labels; empty: everything
	order    order
	reversed bool
	shown    []client.LockInfo
	selected string // the name of the lock under the cursor, which stays with it
}

// take takes over a snapshot.
func (v *view) take(locks []client.LockInfo) {
	v.all = locks
	v.arrange()
}

// sortBy sorts; asked for twice it turns the order round.
func (v *view) sortBy(o order) {
	v.reversed = v.order == o && !v.reversed
	v.order = o
	v.arrange()
}

// narrow shows only what has the text somewhere.
func (v *view) narrow(filter string) {
	v.filter = filter
	v.arrange()
}

func (v *view) arrange() {
	before := v.cursor()
	v.shown = nil
	for _, info := range v.all {
		if matches(info, strings.ToLower(v.filter)) {
			v.shown = append(v.shown, info)
		}
	}
	slices.SortStableFunc(v.shown, v.compare)
	if _, found := v.current(); !found && len(v.shown) > 0 {
		v.selected = v.shown[min(before, len(v.shown)-1)].Name
	}
}

func (v *view) compare(a, b client.LockInfo) int {
	c := 0
	switch x, y := head(a), head(b); v.order {
	case byHeld:
		c = x.Since.Compare(y.Since)
	case byWaiters:
		c = cmp.Compare(len(b.Waiters), len(a.Waiters))
	case byToken:
		c = cmp.Compare(y.Token, x.Token)
	}
	c = cmp.Or(c, strings.Compare(a.Name, b.Name))
	if v.reversed {
		return -c
	}
	return c
}

// head is the first holder, a zero one if there is none.
func head(info client.LockInfo) client.Claim {
	if len(info.Holders) == 0 {
		return client.Claim{}
	}
	return info.Holders[0]
}

func matches(info client.LockInfo, filter string) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), filter) }
	if filter == "" || has(info.Name) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(info.Holders, info.Waiters), func(c client.Claim) bool {
		return has(c.Owner) || has(labelText(c.Labels))
	})
}

// cursor is the place of the lock under it, 0 if that has gone.
func (v *view) cursor() int {
	i := slices.IndexFunc(v.shown, func(info client.LockInfo) bool { return info.Name == v.selected })
	return max(i, 0)
}

// current is the lock under the cursor.
func (v *view) current() (client.LockInfo, bool) {
	i := slices.IndexFunc(v.shown, func(info client.LockInfo) bool { return info.Name == v.selected })
	if i < 0 {
		return client.LockInfo{Name: v.selected}, false
	}
	return v.shown[i], true
}

// move moves the cursor, as far as there are locks.
func (v *view) move(by int) {
	if len(v.shown) > 0 {
		v.selected = v.shown[min(max(v.cursor()+by, 0), len(v.shown)-1)].Name
	}
}
