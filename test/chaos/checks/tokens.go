package checks

import (
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/model"
)

// modelTime is how long porcupine may take for one kind of model.
const modelTime = time.Minute

func tokensCheck() check {
	return check{
		name: "tokens rise in the order of the grants",
		what: "whoever asks for a lock after another was granted it gets a higher token, across restores too, and no token of a lock is granted twice",
		look: tokens,
	}
}

func tokens(r *run, result *Result) {
	var grants []model.Op
	for _, l := range r.locks {
		twice := map[int64]*op{}
		// A shared holder's token is not told.
		exclusive := only(l.grants, func(o *op) bool { return !shared(o) })
		done := slices.Clone(exclusive)
		slices.SortFunc(done, byReturn)
		var highest *op // of those that had returned
		next := 0
		for _, o := range exclusive {
			result.Counted++
			grants = append(grants, model.Op{Guard: l.name, Kind: model.Grant, Token: o.Token, Call: int64(o.Call), Return: int64(o.Return)})
			for ; next < len(done) && done[next].Return < o.Call; next++ {
				if highest == nil || done[next].Token > highest.Token {
					highest = done[next]
				}
			}
			if highest != nil && highest.Token >= o.Token {
				result.violate(o.Return, l.name, "%s was granted token %d after %s had %d", o.Name(), o.Token, highest.Name(), highest.Token)
			}
			if other := twice[o.Token]; other != nil {
				result.violate(o.Return, l.name, "%s and %s were both granted token %d", other.Name(), o.Name(), o.Token)
			}
			twice[o.Token] = o
		}
	}
	result.model("mutex", model.Mutex(grants, modelTime))
}
