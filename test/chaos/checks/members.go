package checks

func membersCheck() check {
	return check{
		name: "members agree",
		what: "at the end every member has the same keys, by their hash at one revision",
		look: func(r *run, result *Result) {
			for _, m := range r.End.Members {
				result.Counted++
				first := r.End.Members[0]
				if m.Hash != first.Hash || m.Revision != first.Revision {
					result.violate(0, "", "%s has hash %08x at revision %d, %s %08x at %d", m.Name, m.Hash, m.Revision, first.Name, first.Hash, first.Revision)
				}
			}
		},
	}
}
