package main

// What test/chaos is asked to do to mutants: few kinds of faults, each of which meets
// some hole with near certainty within seconds.

// underPauses: holders are stopped until others have their locks, and go on as if
// nothing had happened.
func underPauses() []string {
	return storm("0.4", "^SIGSTOP of (a holder|two clients)$", "kv,sql,redis,file", "counter,list,set")
}

// underStandstills: holders stand still between their reads and their writes until
// others have their locks. The target is aimed at alone.
func underStandstills(target, workloads string) []string {
	return storm("0.4", "^a client stands still between its reads and its writes$", target, workloads)
}

// underLateWords: what members say to each other is late, but within the lives of holds.
func underLateWords() []string {
	return storm("0.5", "^a follower is heard late", "kv", "counter,list,set,bank")
}

// underBreaks: locks are broken while their holders hear late of it.
func underBreaks() []string {
	return []string{"-minutes", "0.5", "-faults", "^(locks are broken one after the other|requests or replies are held.*)$", "-targets", "kv", "-workloads", "counter,set"}
}

// underHeldEvents: waiters learn late that the one before them has ended, who stands behind
// them meanwhile. No locks that are taken together: one that is stuck would take the
// other along, and nobody would be granted any.
func underHeldEvents() []string {
	return storm("0.5", "^requests or replies are held", "kv", "counter,list,bank")
}

// underHeldWords: requests and replies are late, but within the lives of holds.
func underHeldWords() []string {
	return storm("0.4", "^requests or replies are held", "kv", "counter,list,set,bank")
}

// underRestores: the cluster is set back to a snapshot.
func underRestores() []string {
	return storm("0.1", "^all disks are lost, a snapshot is restored$", "kv,file", "counter")
}

// underSecondRestores: the cluster begins anew twice from one snapshot, and again
// from one of the cluster that came of it.
func underSecondRestores() []string {
	return storm("0.4", "one snapshot is restored twice$", "kv,file", "counter")
}

// underEmptyStarts: the cluster begins anew, above a floor.
func underEmptyStarts() []string {
	return storm("0.1", "^all disks are lost, an empty cluster has a token floor$", "kv,file", "counter")
}

// inPeace: nothing happens that could cost anybody anything.
func inPeace() []string { return storm("0.2", "^history is compacted$", "kv", "counter,set") }

// inCompany: everybody contends for one lock, so that shared holders come together.
func inCompany() []string { return storm("0.4", "^history is compacted$", "kv", "counter") }

func storm(minutes, faults, targets, workloads string) []string {
	return []string{"-minutes", minutes, "-faults", faults, "-together", "1", "-targets", targets, "-workloads", workloads}
}
