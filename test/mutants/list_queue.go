package main

const (
	claimFile   = "client/claim.go"
	enqueueFile = "client/enqueue.go"
	enterFile   = "client/enter.go"
	lookFile    = "client/look.go"
	waitFile    = "client/wait.go"
)

// enqueueMutants put claims wrongly.
var enqueueMutants = []Mutant{{
	Name:    "enqueue onto an existing key",
	Hole:    "§2 every claim put compares CreateRevision(key) = 0",
	Edits:   edit(claimFile, `clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0)`, `clientv3.Compare(clientv3.CreateRevision(p.key), ">", -1)`),
	Hunters: tests("./client", "TestExistingClaimIsNotAdopted"),
}, {
	Name:    "uncertain key used again",
	Hole:    "§2 an uncertain n is never used again",
	Edits:   edit(enterFile, "s.slots.giveBack(p.queue, p.slot, !uncertain)", "s.slots.giveBack(p.queue, p.slot, true)"),
	Hunters: tests("./client", "TestEnqueueThatLandsLateIsRemoved"),
}, {
	Name:    "key used again after an uncertain delete",
	Hole:    "§2 a key is used again only when its deletion is certain",
	Edits:   edit(releaseFile, "s.slots.giveBack(p.queue, p.slot, err == nil && done.certain)", "s.slots.giveBack(p.queue, p.slot, err == nil)"),
	Hunters: tests("./client", "TestLateDeleteLeavesTheNewerLock"),
}, {
	Name:    "uncertain claim not swept",
	Hole:    "§4 after any uncertain claim write the session keeps an eye on that key",
	Edits:   edit(enterFile, "		if uncertain {\n			s.sweep.add(", "		if uncertain && p.limit > MaxLimit {\n			s.sweep.add("),
	Hunters: tests("./client", "TestEnqueueOfACancelledLockThatLandsLateIsRemoved"),
}, {
	Name:    "claim of an uncertain delete not swept",
	Hole:    "§4 after any uncertain claim write the session keeps an eye on that key",
	Edits:   edit(releaseFile, "		if err != nil {\n			s.sweep.add(", "		if err != nil && p.limit > MaxLimit {\n			s.sweep.add("),
	Hunters: tests("./client", "TestUnlockThatNeverArrivedIsMadeUpFor"),
}, {
	Name: "unanswered enqueue adopted",
	Hole: "§4 never adopt an existing claim; enqueue a new one",
	Edits: edit(enqueueFile, "	case err != nil:\n		return nil, fmt.Errorf(\"%w: %w\", errUncertain, err)\n", `	case err != nil:
		if found, err := s.etcd.Get(ctx, places[0].key); err == nil && len(places) == 1 && len(found.Kvs) == 1 {
			places[0].token = fencing.Token(found.Kvs[0].CreateRevision)
			return []standing{{mine: true, unsure: true}}, nil
		}
		return nil, fmt.Errorf("%w: %w", errUncertain, err)
`),
	Hunters: tests("./client", "TestEnqueueWithoutAnAnswerIsReplaced"),
}, {
	Name: "claim names the revision of its grant",
	Hole: "§1 token: the create revision of the claim, never Header().Revision of a later request",
	Edits: []Edit{
		{"client/acquire.go", "	\"github.com/fencelock/fencelock/fencing/keys\"\n", "	\"github.com/fencelock/fencelock/fencing\"\n	\"github.com/fencelock/fencelock/fencing/keys\"\n"},
		{"client/acquire.go", "	h := newHolding(a.session, a.goal.what(), places, now, a.turn)\n", `	for i := range places {
		if seen, err := a.session.etcd.Get(a.ctx, places[i].key); err == nil {
			places[i].token = fencing.Token(seen.Header.Revision)
		}
	}
	h := newHolding(a.session, a.goal.what(), places, now, a.turn)
`},
	},
	Hunters: tests("./client", "TestTokenIsOfTheEnqueue", "TestTokenIsTheCreateRevisionOfTheClaim"),
	Chaos:   inPeace(),
}, {
	Name:    "TryLock without range compare",
	Hole:    "§4 TryLock: put if the prefix is still empty",
	Edits:   edit(enqueueFile, "		return []clientv3.Cmp{p.nobodyAfter(since)}\n", "		return []clientv3.Cmp{p.absent()}\n"),
	Hunters: tests("./client", "TestTryThatIsOvertakenWaitsForNobody"),
}, {
	Name:    "TryLockShared without range compare",
	Hole:    "§4 TryLockShared: put If ModRevision(prefix) < readRevision+1",
	Edits:   edit(enqueueFile, "	return []clientv3.Cmp{p.absent(), p.nobodyAfter(since)}\n", "	return []clientv3.Cmp{p.absent()}\n"),
	Hunters: tests("./client", "TestTryThatIsOvertakenWaitsForNobody"),
}, {
	Name:    "semaphore's limit not compared",
	Hole:    "§4 the limit is set by the first user and compared in the enqueue",
	Edits:   edit(enqueueFile, "		ifs = append(ifs, clientv3.Compare(clientv3.Value(s.space.Limit(p.lock)), \"=\", strconv.Itoa(p.limit)))\n", ""),
	Hunters: tests("./client", "TestSemaphoreWithAnotherLimit"),
}, {
	Name: "LockAll one name after the other",
	Hole: "§4 LockAll: one transaction, all claims bear one revision, so nobody can deadlock",
	Edits: edit(enqueueFile, "	resp, err := s.commitEnqueue(ctx, places, value, since)\n", `	if len(places) > 1 {
		var now []standing
		for i := range places {
			one, err := s.enqueue(ctx, places[i:i+1], value, since)
			if err != nil {
				return nil, err
			}
			now = append(now, one...)
		}
		return now, nil
	}
	resp, err := s.commitEnqueue(ctx, places, value, since)
`),
	Hunters: tests("./client", "TestLockAllTakesEachNameOnce"),
}}

// waitMutants grant to who does not hold, or never.
var waitMutants = []Mutant{{
	Name:    "predecessor checked by existence",
	Hole:    "§4 ask for a smaller create revision than mine, never whether that key exists",
	Edits:   edit(lookFile, `clientv3.Compare(clientv3.CreateRevision(ahead.Key), "=", int64(ahead.Token))`, `clientv3.Compare(clientv3.CreateRevision(ahead.Key), ">", 0)`),
	Hunters: tests("./client", "TestForeignKeyThatComesBackKeepsNobodyWaiting"),
	Chaos:   underHeldEvents(),
}, {
	Name:    "grant without one's own claim",
	Hole:    "§4 grant only on an observation of one's own claim",
	Edits:   edit(waitFile, "	if err == nil && !now.mine {\n", "	if err == nil && !now.mine && now.ahead != nil {\n"),
	Hunters: tests("./client", "TestWaiterDeletedWithTheHolderIsLost"),
}, {
	Name:    "one of several claims is enough",
	Hole:    "§4 LockAll: losing one cancels the handle",
	Edits:   edit(waitFile, "		if err == nil && gone {\n", "		if err == nil && gone && a.places == nil {\n"),
	Hunters: tests("./client", "TestLockAllWithALostClaimIsNotGranted"),
}, {
	Name:    "key without a lease waited for",
	Hole:    "§2 a key without a lease is reported, never waited for silently",
	Edits:   edit(claimFile, "	if ahead.Lease != 0 {\n", "	if ahead.Lease >= 0 {\n"),
	Hunters: tests("./client", "TestKeyWithoutALeaseIsReported"),
}, {
	Name:    "shared waiter looks at one page",
	Hole:    "§4 a shared claim waits for the last exclusive one before it, read backwards in pages",
	Edits:   edit(lookFile, "		if len(older) < sharedPage {\n", "		if len(older) <= sharedPage {\n"),
	Hunters: tests("./client", "TestSharedWaiterFindsAWriterFarAhead"),
}, {
	Name:    "shared claim waits for nobody",
	Hole:    "§4 a shared claim waits for the last exclusive one before it",
	Edits:   edit("client/queue/queue.go", "func (c Claim) Exclusive() bool { return c.Mode != keys.SharedMode }", "func (c Claim) Exclusive() bool { return c.Mode == keys.Exclusive && c.Lock == \"\" }"),
	Hunters: tests("./client", "TestSharedHoldersAndWriters"),
	Chaos:   inPeace(),
}, {
	Name:    "foreign claim taken for a shared one",
	Hole:    "§2 a claim with an empty or foreign value is exclusive",
	Edits:   edit("client/queue/queue.go", "return c.Mode != keys.SharedMode", "return c.Mode != keys.SharedMode && c.Owner != \"\""),
	Hunters: tests("./client", "TestForeignMutexExcludesSharedLocks"),
}, {
	Name:    "semaphore waiter watches its predecessor",
	Hole:    "§4 waiters of a semaphore watch the whole prefix",
	Edits:   edit(waitFile, "		return target{key: p.queue, prefix: true}\n", "		return target{key: now.ahead.Key}\n"),
	Hunters: tests("./client", "TestAnyFreePermitWakesTheNext"),
}, {
	Name:    "semaphore grants one permit too many",
	Hole:    "§4 the first limit claims hold",
	Edits:   edit(enqueueFile, "	case p.kind == permit && len(latest) <= p.limit, len(latest) < 2:\n", "	case p.kind == permit && len(latest) <= p.limit+1, len(latest) < 2:\n"),
	Hunters: tests("./client", "TestSemaphoreNeverExceedsItsLimit"),
}, {
	Name:    "watch begun without a look",
	Hole:    "§4 when \"created\" has come, read the queue once for what fell between",
	Edits:   edit(waitFile, "look := w.from, now.at < w.from //", "look := w.from, now.at < 0 //"),
	Hunters: tests("./client", "TestLockThatIsFreedBeforeTheWatch"),
}, {
	Name:    "grant by an event that ends one's own claim too",
	Hole:    "§4 grant only on an observation of one's own claim no older than the predecessor's end",
	Edits:   edit(waitFile, "ends.ahead && !ends.own && next", "ends.ahead && next"),
	Hunters: tests("./client", "TestWaiterDeletedWithTheHolderIsLost"),
}, {
	Name:    "kept watch believed of an earlier claim",
	Hole:    "§4 keys come back: what ends is a claim, not a key",
	Edits:   edit(waitFile, "		if at <= seen {\n", "		if at <= 0 {\n"),
	Hunters: tests("./client", "TestKeptWatchTellsOfEarlierEnds"),
}, {
	Name:    "waiter behind a waiter takes itself for the next",
	Hole:    "§4 ask for a smaller create revision than mine",
	Edits:   edit(enqueueFile, "GetResponseRange().Count == 2", "GetResponseRange().Count >= 2"),
	Hunters: tests("./client", "TestWaiterBehindAWaiterThatLeaves"),
}, {
	Name:    "watches kept for every lock",
	Hole:    "§3 a session keeps nothing for a lock that is neither held nor wanted",
	Edits:   edit("client/keep.go", "time.AfterFunc(keepWatch,", "time.AfterFunc(1000*keepWatch,"),
	Hunters: tests("./client", "TestKeptWatchesAreFew"),
}}
