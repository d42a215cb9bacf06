package main

const (
	kvFence   = "fencing/kv/fence.go"
	kvRequest = "fencing/kv/request.go"
	kvBarrier = "fencing/kv/barrier.go"
	kvHandle  = "fencing/kv/kv.go"
)

// fenceOfStoreMutants let in who should be refused, or refuse who should not.
var fenceOfStoreMutants = []Mutant{{
	Name: "read past the fence",
	Hole: "§5 every operation runs under the fence's own revision, a read too",
	Edits: edit(kvRequest, `	if req.write {
		return resp, send(ctx)
	}
`, `	if req.write {
		return resp, send(ctx)
	}
	if len(req.ops) > 0 {
		return kv.etcd.Txn(ctx).Then(req.ops...).Commit()
	}
`),
	Hunters: tests("./fencing/kv", "TestEveryOperationIsFenced"),
	Chaos:   underPauses(),
}, {
	Name: "first read does not claim the fence",
	Hole: "§5 a holder's first operation, a read too, claims the fence",
	Edits: []Edit{
		{kvFence, "	then, otherwise = append(then, req.ops...), append(otherwise, req.unmet...)\n", `	if !req.write && len(req.ops) > 0 {
		then = nil
	}
	then, otherwise = append(then, req.ops...), append(otherwise, req.unmet...)
`},
		{kvRequest, "		if kv.claims(fence) {\n			kv.learn", "		if kv.claims(fence) && (req.write || len(req.ops) == 0) {\n			kv.learn"},
	},
	Hunters: tests("./fencing/kv", "TestReadClaimsTheFence"),
}, {
	Name:    "unmet txn does not claim the fence",
	Hole:    "§5 a holder's first operation claims the fence; what an unmet compare tells is a read",
	Edits:   edit("fencing/kv/txn.go", "	if len(t.If) > 0 {\n		// What", "	if len(t.If) > MaxTxnOps {\n		// What"),
	Hunters: tests("./fencing/kv", "TestUnmetFirstTxnClaimsTheFence", "TestEveryOperationIsFenced"),
}, {
	Name: "delete past the fence",
	Hole: "§5 every operation runs under the fence's own revision, a delete too",
	Edits: edit(kvHandle, `	answer, err := kv.run(ctx, request{doing: name("delete", key), write: true, ops: []clientv3.Op{kv.records.delete(key)}})
`, `	answer, err := kv.etcd.Txn(ctx).Then(kv.records.delete(key)).Commit()
`),
	Hunters: tests("./fencing/kv", "TestEveryOperationIsFenced"),
	Chaos:   underStandstills("kv", "set"),
}, {
	Name: "delete forgets the fence",
	Hole: "§5 deleting data never lowers or removes a fence",
	Edits: edit(kvHandle, `	return answer.Responses[0].GetResponseDeleteRange().Deleted > 0, nil
`, `	if _, err := kv.etcd.Delete(ctx, kv.space.Fence(kv.seq.Lock)); err != nil {
		return false, err
	}
	return answer.Responses[0].GetResponseDeleteRange().Deleted > 0, nil
`),
	Hunters: tests("./fencing/kv", "TestDeletingEverythingKeepsTheFence"),
}, {
	Name: "check and write apart",
	Hole: "§5 one transaction compares the fence and writes",
	Edits: edit(kvRequest, `	if req.write {
		return resp, send(ctx)
	}
`, `	if req.write && !kv.claims(fence) {
		look := request{doing: req.doing, ifs: req.ifs, unmet: req.unmet}
		if resp, err = kv.flat(ctx, fence, look).Commit(); err != nil || !resp.Succeeded {
			return resp, err
		}
		return kv.etcd.Txn(ctx).Then(req.ops...).Commit()
	}
	if req.write {
		return resp, send(ctx)
	}
`),
	Hunters: tests("./fencing/kv", "TestNextHolderComesAtAnyMoment"),
}, {
	Name: "fence compared by value alone",
	Hole: "§5 why m, and not the value alone",
	Edits: edit(kvFence, `		clientv3.Compare(clientv3.ModRevision(key), "=", fence.revision),
`, `		clientv3.Compare(clientv3.ModRevision(key), []string{"=", ">"}[min(fence.revision, 1)], max(fence.revision-1, 0)),
`),
	Hunters: tests("./fencing/kv", "TestLostWriteCannotLandLate"),
}, {
	Name:    "claim not compared",
	Hole:    "§5 If CreateRevision(claim) = token",
	Edits:   edit(kvFence, `clientv3.Compare(clientv3.CreateRevision(kv.claimKey()), "=", int64(kv.seq.Token)),`, `clientv3.Compare(clientv3.CreateRevision(kv.claimKey()), ">", -1),`),
	Hunters: tests("./fencing/kv", "TestEndedClaimIsNotHeld"),
}, {
	Name:    "waiter's sequencer admitted",
	Hole:    "§5 a bare sequencer claims the fence only if nobody alive stands before it",
	Edits:   edit(kvFence, "compares = append(compares, kv.nobodyBefore())", "_ = kv.nobodyBefore"),
	Hunters: tests("./fencing/kv", "TestBareSequencersThatAreRefused"),
}, {
	Name:    "token that was never issued believed",
	Hole:    "§5 a wrong huge number locks nobody out",
	Edits:   edit("fencing/kv/bare.go", "	if found.claim == nil {\n		return kv.past(ctx)\n	}\n", "	if found.claim == nil {\n		_, err := kv.etcd.Put(ctx, kv.space.Fence(kv.seq.Lock), string(kv.mine))\n		return errors.Join(err, kv.past(ctx))\n	}\n"),
	Hunters: tests("./fencing/kv", "TestBareSequencersThatAreRefused"),
}, {
	Name:    "shared sequencer admitted",
	Hole:    "§5 a shared claim has no sequencer",
	Edits:   edit("fencing/kv/bare.go", ".Mode == keys.Exclusive {", ".Mode != \"\" {"),
	Hunters: tests("./fencing/kv", "TestSharedClaimHasNoSequencer"),
}, {
	Name:    "shared holder fences its co-holder",
	Hole:    "§5 shared holders claim the fence as hex(f)s",
	Edits:   edit(kvHandle, "keys.Shared(grant.Oldest), keys", "keys.Claimed(grant.Sequencer.Token), keys"),
	Hunters: tests("./fencing/kv", "TestSharedReadersDoNotFenceEachOther"),
	Chaos:   inCompany(),
}, {
	Name:    "shared holder above its fence",
	Hole:    "§5 shared holders are admitted while the fence is below hex(token+1)",
	Edits:   edit(kvHandle, "keys.Claimed(grant.Sequencer.Token+1)", "keys.Above(1<<62)"),
	Hunters: tests("./fencing/kv", "TestExclusiveHolderFencesReadersBefore"),
}}

// outcomeMutants forget that a request may land late, or was answered by nobody.
var outcomeMutants = []Mutant{{
	Name:    "no barrier after an uncertain write",
	Hole:    "§5 after ErrUncertain there is a barrier",
	Edits:   edit(kvRequest, "if !outcome.Answered(err) && !kv.claims(fence) {", "if outcome.Answered(err) && !kv.claims(fence) {"),
	Hunters: tests("./fencing/kv", "TestLostWriteCannotLandLate"),
	Chaos:   underLateWords(),
}, {
	Name: "barrier that only reads",
	Hole: "§5 the barrier puts the fence again: m has changed",
	Edits: []Edit{
		{kvBarrier, "Then(clientv3.OpPut(key, string(kv.mine)))", "Then(clientv3.OpGet(key))"},
		{kvBarrier, "		kv.learn(view{value: kv.mine, revision: resp.Header.Revision})\n", ""},
	},
	Hunters: tests("./fencing/kv", "TestLostWriteCannotLandLate"),
	Chaos:   underLateWords(),
}, {
	Name: "barrier given up with its call",
	Hole: "§5 the barrier runs in the background until it commits",
	Edits: edit(kvBarrier, "		kv.config.Background(kv.barrierLoop(kv.barrier))\n", `		run := kv.barrierLoop(kv.barrier)
		kv.config.Background(func(context.Context) { run(ctx) })
`),
	Hunters: tests("./fencing/kv", "TestBarrierRunsInTheBackground"),
}, {
	Name:    "no operation waits for the barrier",
	Hole:    "§5 while a write's fate is unknown nothing else goes out",
	Edits:   edit(kvBarrier, "		if current == nil || refusal != nil {", "		if current != nil || refusal != nil || of == nil {"),
	Hunters: tests("./fencing/kv", "TestOperationsWaitForTheBarrier"),
}, {
	Name:    "compare-only read",
	Hole:    "§5 every read-only transaction carries at least one Get",
	Edits:   edit(kvFence, "		then = append(then, clientv3.OpGet(fenceKey))\n", "		return kv.etcd.Txn(ctx).If(ifs...)\n"),
	Hunters: tests("./fencing/kv", "TestMemberThatIsCutOffAdmitsNothing"),
}, {
	Name: "serializable reads",
	Hole: "§5 never serializable",
	Edits: []Edit{
		{kvFence, "[]clientv3.Op{clientv3.OpGet(fenceKey), clientv3.OpGet(claimKey)}\n", "[]clientv3.Op{clientv3.OpGet(fenceKey, clientv3.WithSerializable()), clientv3.OpGet(claimKey, clientv3.WithSerializable())}\n"},
		{"fencing/kv/record.go", "clientv3.OpGet(r.prefix + key)", "clientv3.OpGet(r.prefix+key, clientv3.WithSerializable())"},
	},
	Hunters: tests("./fencing/kv", "TestMemberThatIsCutOffAdmitsNothing"),
}, {
	Name: "uncertain put reported as success",
	Hole: "§4 an answer that never came is ErrUncertain, never success",
	Edits: []Edit{
		{kvHandle, "import (\n	\"context\"\n", "import (\n	\"context\"\n	\"errors\"\n"},
		{kvHandle, "ops: []clientv3.Op{kv.records.put(key, value)}})\n	if err != nil {\n", "ops: []clientv3.Op{kv.records.put(key, value)}})\n	if errors.Is(err, fencing.ErrUncertain) {\n		return 0, nil\n	}\n	if err != nil {\n"},
	},
	Hunters: tests("./fencing/kv", "TestLostClaimingWriteCannotLandLate"),
	Chaos:   underHeldWords(),
}, {
	Name:    "lost connection taken for a refusal",
	Hole:    "§4 a request that timed out may still commit a second later",
	Edits:   edit("fencing/kv/outcome/outcome.go", "	known, ok := etcdError(err).(rpctypes.EtcdError)\n	if !ok {\n		return false\n	}\n", "	known, ok := etcdError(err).(rpctypes.EtcdError)\n	if !ok {\n		return true\n	}\n"),
	Hunters: tests("./fencing/kv/outcome", "TestOnlyARefusalIsCertain"),
	Chaos:   underHeldWords(),
}, {
	Name:    "write sent twice",
	Hole:    "§5 a write is sent once: the second could land after a later one",
	Edits:   edit("fencing/kv/outcome/once.go", "if err == nil || ctx.Err() != nil || !writes(req) {", "if err == nil || ctx.Err() != nil || writes(req) {"),
	Hunters: tests("./fencing/kv/outcome", "TestSendOnceHidesWhatWouldBeRepeated"),
}}
