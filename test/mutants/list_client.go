package main

const (
	lifelineFile = "client/lifeline.go"
	releaseFile  = "client/release.go"
	breakFile    = "client/break.go"
)

// sessionMutants trust a lease for too long.
var sessionMutants = []Mutant{{
	Name:    "deadline counted from the reply",
	Hole:    "§3 deadline = when the last successful renewal was sent + granted TTL - margin",
	Edits:   edit(lifelineFile, "		l.renewed(sent, ttl)\n", "		l.renewed(l.clock.now(), ttl)\n"),
	Hunters: tests("./client", "TestDeadlineCountsFromTheSend"),
}, {
	Name:    "first deadline counted from the reply",
	Hole:    "§3 the deadline of a new session, too, counts from when its lease was asked for",
	Edits:   edit("client/session.go", "time.Duration(lease.TTL)*time.Second, s.lost)", "time.Duration(lease.TTL)*time.Second+c.clock.now()-sent, s.lost)"),
	Hunters: tests("./client", "TestFirstDeadlineCountsFromTheSend"),
}, {
	Name:    "no margin before the lease's end",
	Hole:    "§3 margin: 10 % of the TTL, at least 500 ms",
	Edits:   edit(lifelineFile, "return sent + ttl - max(ttl/10, leastMargin)", "return sent + ttl - 0*max(ttl/10, leastMargin)"),
	Hunters: tests("./client", "TestMarginIsATenthAndAtLeastHalfASecond"),
}, {
	Name:    "late renewal revives a lost session",
	Hole:    "§3 loss is final: a late reply revives nothing",
	Edits:   edit(lifelineFile, "	if l.check() != nil {\n		return\n	}\n	l.mu.Lock()\n", "	l.mu.Lock()\n"),
	Hunters: tests("./client", "TestLateReplyRevivesNothing"),
}, {
	Name:    "suspend not counted",
	Hole:    "§3 look at the clock inline in Err",
	Edits:   edit("client/session.go", "func (s *Session) Err() error { return s.life.check() }", "func (s *Session) Err() error {\n	s.life.mu.Lock()\n	defer s.life.mu.Unlock()\n	return s.life.cause\n}"),
	Hunters: tests("./client", "TestFirstQuestionAfterASuspendIsAnsweredLost"),
}, {
	Name:    "one renewal may use all the time",
	Hole:    "§3 each attempt has its own time limit, at most a third of what is left",
	Edits:   edit(lifelineFile, "max(l.left()/3, time.Millisecond)", "max(l.left(), time.Millisecond)"),
	Hunters: tests("./client", "TestAttemptGetsAThirdOfWhatIsLeft"),
}, {
	Name:    "granted after the deadline",
	Hole:    "§4 grant only before the local deadline",
	Edits:   edit("client/session.go", "	if err := s.life.check(); err != nil {\n		return err\n	}\n	s.mu.Lock()\n	defer s.mu.Unlock()\n	if s.held == nil { // it has ended since\n		return s.life.check()\n	}\n", "	s.mu.Lock()\n	defer s.mu.Unlock()\n	if s.held == nil {\n		s.held = map[*holding]struct{}{}\n	}\n"),
	Hunters: tests("./client", "TestGrantAfterTheDeadlineIsLost"),
}, {
	Name:    "broken claim not watched",
	Hole:    "§3 outside revocation is noticed within about a second",
	Edits:   edit("client/acquire.go", "	h.guardLater()\n	return h, nil\n", "	return h, nil\n"),
	Hunters: tests("./client", "TestBrokenClaimIsNoticed"),
}}

// endMutants end locks that they should not, or say that they did.
var endMutants = []Mutant{{
	Name:    "unlock without compare",
	Hole:    "§4 Unlock: delete If CreateRevision(claim) = token",
	Edits:   edit(releaseFile, "		return s.etcd.Txn(ctx).If(p.present()).\n", "		return s.etcd.Txn(ctx).\n"),
	Hunters: tests("./client", "TestLateDeleteLeavesTheNewerLock"),
	Chaos:   underBreaks(),
}, {
	Name:    "several unlocked without compare",
	Hole:    "§4 release of several: one nested transaction per claim, each compared",
	Edits:   edit(releaseFile, "clientv3.OpTxn([]clientv3.Cmp{p.present()}, ", "clientv3.OpTxn(nil, "),
	Hunters: tests("./client", "TestEveryReleaseThatLandsLate"),
}, {
	Name:    "hand-over of a broken claim",
	Hole:    "§4 hand-over: If CreateRevision(mine) = token",
	Edits:   edit(releaseFile, "If(old.present(), next.absent())", "If(next.absent())"),
	Hunters: tests("./client", "TestLineGoesOnAfterABrokenClaim"),
}, {
	Name:    "uncertain unlock reported as success",
	Hole:    "§4 an answer that never came is ErrUncertain, never success",
	Edits:   edit("client/holding.go", "		return h.Err(), fmt.Errorf(\"%w: %w\", ErrUncertain, err)\n", "		return h.Err(), nil\n"),
	Hunters: tests("./client", "TestUnlockWithoutAnAnswer"),
}, {
	Name:    "unlock of a lost lock reported as success",
	Hole:    "§4 after loss ErrLost",
	Edits:   edit("client/holding.go", "	case err == nil && done.mine && (done.certain", "	case err == nil && (done.certain"),
	Hunters: tests("./client", "TestUnlockFindsThatTheClaimIsGone"),
}, {
	Name:    "break lowers the fence",
	Hole:    "§4 Break moves the fence to hex(token)~, never down",
	Edits:   edit(breakFile, "		if keys.FenceValue(v.fence.GetValue()) < closed {\n", "		if keys.FenceValue(v.fence.GetValue()) != closed {\n"),
	Hunters: tests("./client", "TestBreakNeverLowersAFence"),
}, {
	Name:    "break fences with token+1",
	Hole:    "§4 a plain token+1 could be a cancelled waiter's token, which would then be admitted",
	Edits:   edit(breakFile, "closed := keys.Closed(v.claim.Token)", "closed := keys.Claimed(v.claim.Token + 1)"),
	Hunters: tests("./client", "TestBreakDoesNotAdmitACancelledWaiter"),
}, {
	Name:    "break without fence",
	Hole:    "§4 Break fences the victim in the KV layer",
	Edits:   edit(breakFile, "			then = append(then, clientv3.OpPut(v.fenceKey, string(closed)))\n", ""),
	Hunters: tests("./client", "TestBreakFencesAVictimThatDoesNotKnow"),
}, {
	Name:    "break of a waiter fences the holder",
	Hole:    "§4 only if it is exclusive and first, the fence moves",
	Edits:   edit(breakFile, "	if v.claim.Token == v.head.Token && v.claim.Exclusive() {\n", "	if v.claim.Exclusive() {\n"),
	Hunters: tests("./client", "TestBreakFencesNobodyElse"),
}, {
	Name:    "break does not name the token",
	Hole:    "§4 Break names the lock and the token: deleted if that is its create revision",
	Edits:   edit(breakFile, `		clientv3.Compare(clientv3.CreateRevision(v.claim.Key), "=", int64(v.claim.Token)),`, `		clientv3.Compare(clientv3.CreateRevision(v.claim.Key), ">", 0),`),
	Hunters: tests("./client", "TestBreakOfAClaimWhoseKeyCameBack"),
}, {
	Name:    "break overwrites a fence that moves",
	Hole:    "§4 Break: never down, the fence compared by its mod revision",
	Edits:   edit(breakFile, "		ifs = append(ifs, clientv3.Compare(clientv3.ModRevision(v.fenceKey), \"=\", v.fence.GetModRevision()))\n", ""),
	Hunters: tests("./client", "TestBreakWhileTheFenceMoves"),
}}
