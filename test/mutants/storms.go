package main

// What test/chaos is asked to do to mutants: few kinds of faults, each of which meets
// some hole with near certainty within seconds.

// underPauses: holders are stopped until others have their locks, and go on as if
// nothing had happened.
func underPauses() []string {
	return storm("0.4", "^SIGSTOP of (a holder|two clients)$", "kv,sql,redis,file", "counter,list,set")
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

func storm(minutes, faults, targets, workloads string) []string {
	return []string{"-minutes", minutes, "-faults", faults, "-together", "1", "-targets", targets, "-workloads", workloads}
}
