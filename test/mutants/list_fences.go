package main

const (
	sqlDo       = "fencing/sqlfence/do.go"
	sqlPostgres = "fencing/sqlfence/postgres.go"
	sqlLite     = "fencing/sqlfence/sqlite.go"
	redisScript = "fencing/redisfence/script.go"
	fileFile    = "fencing/filefence/filefence.go"
	changeFile  = "fencing/filefence/change.go"
)

var sqlMutants = []Mutant{{
	Name:    "sql: equal token refused",
	Hole:    "sqlfence: a token that the fence has admitted is admitted again",
	Edits:   edit(sqlPostgres, "WHERE fence.token <= excluded.token", "WHERE fence.token < excluded.token"),
	Hunters: tests("./fencing/sqlfence", "TestConformance"),
}, {
	Name:    "sql: lower token admitted",
	Hole:    "sqlfence: a lower token than the fence has admitted is refused",
	Edits:   edit(sqlLite, "SET token = excluded.token WHERE token <= excluded.token`,\n			Highest", "SET token = excluded.token WHERE token <> 0`,\n			Highest"),
	Hunters: tests("./fencing/sqlfence", "TestConformance"),
}, {
	Name:    "sql: lower token admitted by PostgreSQL",
	Hole:    "sqlfence: a lower token than the fence has admitted is refused",
	Edits:   edit(sqlPostgres, "WHERE fence.token <= excluded.token", "WHERE fence.token <> 0"),
	Hunters: tests("./fencing/sqlfence", "TestConformance"),
	Chaos:   underPauses(),
}, {
	Name:    "sql: lower token admitted by MySQL",
	Hole:    "sqlfence: a lower token than the fence has admitted is refused",
	Edits:   edit("fencing/sqlfence/mysql.go", "LAST_INSERT_ID(GREATEST(token, VALUES(token)))", "LAST_INSERT_ID(VALUES(token))"),
	Hunters: tests("./fencing/sqlfence", "TestConformance"),
}, {
	Name: "sql: fence raised after the write",
	Hole: "sqlfence: Advance must be the first statement, what was read before may be older than the fence",
	Edits: []Edit{
		{sqlDo, "	for _, seq := range seqs {\n		if err := f.advance(ctx, tx, statement, seq); err != nil {\n", "	for _, seq := range seqs[:0] {\n		if err := f.advance(ctx, tx, statement, seq); err != nil {\n"},
		{sqlDo, "	if err := f.unmark(ctx, tx, seqs); err != nil {\n", "	for _, seq := range seqs {\n		if err := f.advance(ctx, tx, f.sql.Advance, seq); err != nil {\n			return err\n		}\n	}\n	if err := f.unmark(ctx, tx, seqs); err != nil {\n"},
	},
	Hunters: tests("./fencing/sqlfence", "TestConformance"),
}, {
	Name: "sql: check and write apart",
	Hole: "sqlfence: until the transaction ends, nobody else passes this fence",
	Edits: edit(sqlDo, "	tx, err := f.begin(ctx, db, seqs)\n", `	fence, err := f.begin(ctx, db, seqs)
	if err != nil {
		return err
	}
	if err := fence.Commit(); err != nil {
		return err
	}
	tx, err := f.begin(ctx, db, nil)
`),
	Hunters: tests("./fencing/sqlfence", "TestConformance"),
}, {
	Name:    "sql: lost commit reported as success",
	Hole:    "sqlfence: an answer to the commit that was lost is ErrUncertain",
	Edits:   edit("fencing/sqlfence/commit.go", "	return fmt.Errorf(\"commit: %w: %w\", fencing.ErrUncertain, err)\n", "	_ = fencing.ErrUncertain\n	return nil\n"),
	Hunters: tests("./fencing/sqlfence", "TestLostCommitIsUncertain"),
}, {
	Name:    "sql: database believes whoever has ever passed",
	Hole:    "sqlfence: Protect refuses a transaction that has not passed the fence",
	Edits:   edit("fencing/sqlfence/protect_postgres.go", "WHERE guard = missing AND xact = pg_current_xact_id() AND age(xmin) <= 0;", "WHERE guard = missing;"),
	Hunters: tests("./fencing/sqlfence", "TestProtectRefusesTheNextTransactionOfAConnection"),
}}

var redisMutants = []Mutant{{
	Name:    "redis: tokens compared as numbers",
	Hole:    "redisfence: tokens are decimal text, numbers lose digits beyond 2^53",
	Edits:   edit(redisScript, "	if #a ~= #b then return #a > #b end\n", "	if tonumber(a) then return tonumber(a) > tonumber(b) end\n"),
	Hunters: tests("./fencing/redisfence", "TestConformance"),
}, {
	Name:    "redis: lower token admitted",
	Hole:    "redisfence: a lower token than the fence has admitted is refused",
	Edits:   edit(redisScript, "if higher(stands, token) then return {'stale', stands} end\n", ""),
	Hunters: tests("./fencing/redisfence", "TestConformance"),
	Chaos:   underStandstills("redis", "counter,set"),
}, {
	Name:    "redis: read does not raise the fence",
	Hole:    "redisfence: a holder's first operation, a read too, claims the fence",
	Edits:   edit(redisScript, "	local err = stand(fresh)\n	if err then return {'error', err} end\n	version = fresh\nelseif", "	local err = op ~= 'get' and stand(fresh)\n	if err then return {'error', err} end\n	version = op ~= 'get' and fresh or ''\nelseif"),
	Hunters: tests("./fencing/redisfence", "TestConformance"),
}, {
	Name:    "redis: version not compared",
	Hole:    "redisfence: a write that was given up cannot land after the next one",
	Edits:   edit(redisScript, "elseif known ~= version and not reads then\n", "elseif known ~= version and op == 'none' then\n"),
	Hunters: tests("./fencing/redisfence", "TestLostWriteCannotLandLate"),
}, {
	Name:    "redis: lost fence not noticed",
	Hole:    "redisfence: a fence below what the handle has claimed was lost",
	Edits:   edit(redisScript, "	if known ~= '' then return {'lost', stands} end\n", ""),
	Hunters: tests("./fencing/redisfence", "TestReplicaThatTakesOver", "TestEviction"),
}, {
	Name:    "redis: lost answer reported as success",
	Hole:    "redisfence: an answer that never came is ErrUncertain",
	Edits:   edit("fencing/redisfence/call.go", "		return nil, fmt.Errorf(\"%w: %w\", fencing.ErrUncertain, err)\n", "		return words{\"ok\", version}, nil\n"),
	Hunters: tests("./fencing/redisfence", "TestLostAnswer"),
}}

var fileMutants = []Mutant{{
	Name:    "file: no flock",
	Hole:    "filefence: one operation runs at a time, in all processes",
	Edits:   edit("fencing/filefence/flock_unix.go", "syscall.LOCK_EX|syscall.LOCK_NB", "syscall.LOCK_SH|syscall.LOCK_NB"),
	Hunters: tests("./fencing/filefence", "TestNobodyGetsInBetweenSteps"),
}, {
	Name: "file: fence written after the data",
	Hole: "filefence: the fence is on the disk before an operation begins",
	Edits: edit(fileFile, "	if err := g.admit(ctx, seq); err != nil {\n		return err\n	}\n	return work(g)\n", `	if seq.Token < g.record.Token {
		return g.admit(ctx, seq)
	}
	if err := work(g); err != nil {
		return err
	}
	return g.admit(ctx, seq)
`),
	Hunters: tests("./fencing/filefence", "TestCrash"),
}, {
	Name:    "file: fence not synced",
	Hole:    "filefence: the fence is on the disk before an operation begins",
	Edits:   edit(changeFile, "	if err := g.syncFolder(); err != nil {\n		return fmt.Errorf(\"raise the fence: %w\", err)\n	}\n", ""),
	Hunters: tests("./fencing/filefence", "TestFenceThatCannotBeSyncedWritesNothing", "TestFenceIsSyncedByWhoeverFindsIt"),
}, {
	Name:    "file: lower token admitted",
	Hole:    "filefence: a lower token than the fence has admitted is refused",
	Edits:   edit("fencing/filefence/grip.go", "	if seq.Token < g.record.Token {\n", "	if seq.Token < g.record.Token && g.turn == nil {\n"),
	Hunters: tests("./fencing/filefence", "TestConformance"),
	Chaos:   underPauses(),
}, {
	Name:    "file: a fence cut to nothing is none",
	Hole:    "filefence: a lower token than the fence has admitted is refused",
	Edits:   edit("fencing/filefence/record.go", "	if text == encode(fencing.Sequencer{}) {\n", "	if text == \"\" || text == encode(fencing.Sequencer{}) {\n"),
	Hunters: tests("./fencing/filefence", "TestDamagedSideFileAdmitsNobody"),
}, {
	Name:    "file: a late creator replaces the fence",
	Hole:    "filefence: one operation runs at a time, in all processes",
	Edits:   edit(changeFile, "!errors.Is(err, fs.ErrNotExist) {\n		return false, err // somebody", "err != nil && !errors.Is(err, fs.ErrNotExist) {\n		return false, err // somebody"),
	Hunters: tests("./fencing/filefence", "TestSideFileIsCreatedOnce"),
}, {
	Name:    "http: handler does not hold the guard",
	Hole:    "httpfence: a newer holder's request waits for an older one's handler",
	Edits:   edit("fencing/httpfence/handler.go", "		defer leave()\n", "		leave()\n"),
	Hunters: tests("./fencing/httpfence", "TestNewerRequestWaitsForOlderHandler"),
}, {
	Name:    "http: sequencer of another lock admitted",
	Hole:    "httpfence: a sequencer is good for its own guard only",
	Edits:   edit("fencing/httpfence/handler.go", "			err = seq.CheckGuard(name)\n", "			name = seq.Lock\n"),
	Hunters: tests("./fencing/httpfence", "TestHandlerAnswers"),
}, {
	Name:    "memory: lower token admitted",
	Hole:    "memfence: a lower token than the fence has admitted is refused",
	Edits:   edit("fencing/memfence/memfence.go", "	if seq.Token < p.highest {\n", "	if seq.Token < 0 {\n"),
	Hunters: []Hunter{{Package: "./fencing/memfence", Run: "."}},
}}
