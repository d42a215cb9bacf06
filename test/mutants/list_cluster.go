package main

const (
	editFile    = "cluster/snapshot/edit.go"
	restoreFile = "cluster/snapshot/restore.go"
	clockFile   = "cluster/snapshot/clock.go"
	nextFile    = "cluster/bootstrap/next.go"
)

var restoreMutants = []Mutant{{
	Name:    "restore without a floor",
	Hole:    "§6 floor = microseconds since 1970: no token twice",
	Edits:   edit(clockFile, "clock > revision {\n\t\treturn clock, nil", "clock > revision {\n\t\treturn revision + 1, nil"),
	Hunters: tests("./cluster/snapshot", "TestRestoreTwiceRises"),
	Chaos:   underRestores(),
}, {
	Name:    "restore's floor without the clock",
	Hole:    "§6 floor = microseconds since 1970: a second restore is above the first",
	Edits:   edit(clockFile, "clock > revision {\n\t\treturn clock, nil", "clock > revision {\n\t\treturn revision + margin, nil"),
	Hunters: tests("./cluster/snapshot", "TestRestoreTwiceRises"),
}, {
	Name:    "restore's floor beyond the clock",
	Hole:    "§6 floor = microseconds since 1970: a second restore of a restored cluster, or a rebuild above the present, is above the first",
	Edits:   edit(clockFile, "clock > revision {\n\t\treturn clock, nil", "clock > revision {\n\t\treturn max(clock, revision+margin), nil"),
	Hunters: tests("./cluster/snapshot", "TestRestoreOfARestore"),
	Chaos:   underSecondRestores(),
}, {
	Name:    "restore's floor above the snapshot, by a clock that is behind",
	Hole:    "§6 floor = microseconds since 1970; where the clock is behind, a second restore would have the floor of the first",
	Edits:   edit(clockFile, "if clock > revision {\n\t\treturn clock, nil", "if true {\n\t\treturn max(clock, revision+margin), nil"),
	Hunters: tests("./cluster/snapshot", "TestRestoreAheadOfTheClock"),
}, {
	Name:    "a floor from a clock that has lost its battery",
	Hole:    "§6 floor = microseconds since 1970: a clock that is certainly wrong makes none",
	Edits:   edit(clockFile, "now.After(written) && ", ""),
	Hunters: tests("./cluster/snapshot", "TestClockFloor"),
}, {
	Name: "restore edits fences in place",
	Hole: "§6 put every fence at a new revision: edited in place, a cached m would pass",
	Edits: []Edit{
		{editFile, "at := mvcc.RevToBytes(mvcc.Revision{Main: floor, Sub: sub}, mvcc.NewRevBytes())", "at := mvcc.RevToBytes(e.at, mvcc.NewRevBytes())"},
		{editFile, "ModRevision: floor, Version: old.Version + 1,", "ModRevision: old.ModRevision, Version: old.Version + sub*0,"},
	},
	Hunters: tests("./cluster/snapshot", "TestRestoreEdits"),
}, {
	Name:    "restore leaves the fences' values",
	Hole:    "§6 every fence as hex(floor)~",
	Edits:   edit(editFile, "Value: []byte(keys.Closed(fencing.Token(floor))),", "Value: append(old.Value, keys.Closed(fencing.Token(floor))[:0]...),"),
	Hunters: tests("./cluster/snapshot", "TestRestoreEdits"),
}, {
	Name:    "restore leaves claims",
	Hole:    "§6 delete every key bound to a lease: otherwise A's claim comes back to life",
	Edits:   edit(editFile, "	return claim || e.lease != 0\n", "	return !claim && e.lease != 0\n"),
	Hunters: tests("./cluster/snapshot", "TestRestoreEdits"),
	Chaos:   underRestores(),
}, {
	Name:    "restore leaves leases",
	Hole:    "§6 delete every lease record",
	Edits:   edit(editFile, "[][]byte{schema.Auth.Name(), schema.AuthRoles.Name()", "[][]byte{schema.Lease.Name(), schema.Auth.Name(), schema.AuthRoles.Name()"),
	Hunters: tests("./cluster/snapshot", "TestRestoreEdits"),
}, {
	Name:    "restore not marked compacted",
	Hole:    "§6 mark compacted",
	Edits:   edit(editFile, "	if err := s.putCompacted(floor); err != nil {\n", "	if err := s.putCompacted(1); err != nil {\n"),
	Hunters: tests("./cluster/snapshot", "TestRestoreEdits"),
}, {
	Name:    "token floor forgotten",
	Hole:    "§6 token floor: an empty cluster above N",
	Edits:   edit("cluster/snapshot/empty.go", "		return s.putCompacted(floor)\n", "		return s.putCompacted(1)\n"),
	Hunters: tests("./cluster/snapshot", "TestEmptyStartsAboveTheFloor"),
	Chaos:   underEmptyStarts(),
}, {
	Name:    "snapshot of a member that is cut off",
	Hole:    "§6 snapshots begin with a linearizable read and are refused if older",
	Edits:   edit("cluster/snapshot/save.go", "	case info.Revision < cfg.AtLeast:\n", "	case info.Revision < 0:\n"),
	Hunters: tests("./cluster/snapshot", "TestSaveRefusesACutOffMember"),
}}

var bootstrapMutants = []Mutant{{
	Name:    "first start without round 1",
	Hole:    "§6 write D when every peer named has answered",
	Edits:   edit(nextFile, "	case anySilent(heard):\n		return Action{Step: Wait}\n", "	case anySilent(heard) && stranger != \"\":\n		return Action{Step: Wait}\n"),
	Hunters: tests("./cluster/bootstrap", "TestNoSecondHistory"),
}, {
	Name:    "first start without round 2",
	Hole:    "§6 start etcd when every peer has shown the same D",
	Edits:   edit(nextFile, "	case shown == len(heard):\n", "	case shown >= 0:\n"),
	Hunters: tests("./cluster/bootstrap", "TestNoSecondHistory"),
}, {
	Name:    "another folder's decision adopted",
	Hole:    "§6 adopt a peer's D that contains my birth",
	Edits:   edit(nextFile, "return d.Births[self.Member] == self.Birth && len", "return d.Births[self.Member] != \"\" && len"),
	Hunters: tests("./cluster/bootstrap", "TestNoSecondHistory"),
}, {
	Name:    "half-wiped folder starts",
	Hole:    "§6 note \"ran\", so that a half-wiped folder refuses",
	Edits:   edit(nextFile, "	if self.Ran {\n		return refuse(lostData(self))\n	}\n", "	if self.Ran && self.Decision == nil {\n		return refuse(lostData(self))\n	}\n"),
	Hunters: tests("./cluster", "TestHalfWiped"),
}}
