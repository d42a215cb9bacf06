package checks

import "fmt"

// What may be open at the end that was not at the start. A client must be exact, but
// for descriptors that its runtime opens when it first needs them. A member keeps
// connections to others, and log files, that come and go: measured were 10 files and
// 15 goroutines more at most, in runs of minutes.
const (
	clientFiles      = 2
	memberFiles      = 15
	memberGoroutines = 40
)

func leftoverCheck() check {
	return check{
		name: "nothing is left over",
		what: "at the end there is no claim and no lease, clients have ended without a goroutine more than at their start and at most 2 files, " +
			"members have at most 15 files and 40 goroutines more",
		look: leftovers,
	}
}

func leftovers(r *run, result *Result) {
	for _, o := range r.leaks {
		result.Counted++
		if o.Goroutines > 0 || o.Files > clientFiles {
			result.violate(o.Return, "", "%s has left goroutines: %d, and files: %d", o.Client, o.Goroutines, o.Files)
		}
	}
	for _, key := range r.End.Claims {
		result.violate(0, "", "the claim %s is left", key)
	}
	if r.End.Leases != 0 {
		result.violate(0, "", "leases that are left: %d", r.End.Leases)
	}
	files, goroutines := 0, 0
	for _, m := range r.End.Members {
		result.Counted++
		for _, before := range r.Start.Members {
			if before.Name != m.Name {
				continue
			}
			files, goroutines = max(files, m.Files-before.Files), max(goroutines, m.Goroutines-before.Goroutines)
			if m.Files > before.Files+memberFiles || m.Goroutines > before.Goroutines+memberGoroutines {
				result.violate(0, "", "%s has %d files and %d goroutines, and had %d and %d",
					m.Name, m.Files, m.Goroutines, before.Files, before.Goroutines)
			}
		}
	}
	result.Note = fmt.Sprintf("a member has %d files and %d goroutines more, at most", files, goroutines)
}
