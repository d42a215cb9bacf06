package model

import (
	"testing"
	"time"
)

const limit = 10 * time.Second

// Each operation of these histories is written as: token, call, return, what.

func grant(token, call, ret int64) Op {
	return Op{Guard: "l", Kind: Grant, Token: token, Call: call, Return: ret}
}

func read(token, call, ret int64, seen string) Op {
	return Op{Guard: "g", Key: "k", Kind: Read, Token: token, Call: call, Return: ret, Value: seen}
}

func write(token, call, ret int64, value string) Op {
	return Op{Guard: "g", Key: "k", Kind: Write, Token: token, Call: call, Return: ret, Value: value}
}

func add(token, call, ret int64, prev, item string) Op {
	return Op{Guard: "g", Key: "k", Kind: Append, Token: token, Call: call, Return: ret, Prev: prev, Value: item}
}

func show(token, call, ret int64, items ...string) Op {
	return Op{Guard: "g", Key: "k", Kind: Read, Token: token, Call: call, Return: ret, Items: items}
}

func (o Op) but(outcome Outcome) Op { o.Outcome = outcome; return o }

type history struct {
	name  string
	check func([]Op, time.Duration) Report
	ops   []Op
}

func TestRightHistories(t *testing.T) {
	for _, h := range []history{
		{"tokens rise", Mutex, []Op{grant(1, 1, 2), grant(2, 3, 4), grant(9, 5, 6)}},
		{"grants overlap", Mutex, []Op{grant(2, 1, 9), grant(1, 2, 8)}},
		{"locks are apart", Mutex, []Op{grant(2, 1, 2), {Guard: "m", Kind: Grant, Token: 2, Call: 3, Return: 4}}},
		{"read and write", Register, []Op{read(1, 1, 2, ""), write(1, 3, 4, "a"), read(2, 5, 6, "a"), write(2, 7, 8, "b"), read(3, 9, 10, "b")}},
		{"unknown, done", Register, []Op{write(1, 1, Never, "a").but(Unknown), read(2, 5, 6, "a")}},
		{"unknown, not done", Register, []Op{write(1, 1, Never, "a").but(Unknown), read(2, 5, 6, "")}},
		{"unknown, done late", Register, []Op{write(1, 1, Never, "a").but(Unknown), read(1, 3, 4, ""), read(2, 5, 6, "a")}},
		{"stale is refused", Register, []Op{read(2, 1, 2, ""), write(1, 3, 4, "a").but(Stale), read(3, 5, 6, "")}},
		{"stale by another key", Register, []Op{{Guard: "g", Key: "j", Kind: Read, Token: 2, Call: 1, Return: 2}, write(1, 3, 4, "a").but(Stale)}},
		{"stale by a break", Register, []Op{{Guard: "g", Kind: Raise, Token: 2, Call: 1, Return: 2}, write(1, 3, 4, "a").but(Stale)}},
		{"not held", Register, []Op{write(1, 1, 2, "a").but(NotHeld), read(1, 3, 4, "")}},
		{"shared readers", Register, []Op{write(2, 1, 2, "a"), read(0, 3, 6, "a"), read(0, 4, 5, "a"), write(2, 7, 8, "b")}},
		{"anything before", Register, []Op{{Guard: "g", Key: "k", Kind: Forget, Token: 5}, read(6, 3, 4, "x"), write(6, 5, 6, "y")}},
		{"appended", List, []Op{show(1, 1, 2), add(1, 3, 4, "", "a"), add(1, 5, 6, "a", "b"), show(2, 7, 8, "a", "b")}},
		{"unknown append, done", List, []Op{add(1, 1, Never, "", "a").but(Unknown), show(2, 2, 3, "a"), add(2, 4, 5, "a", "b"), show(3, 6, 7, "a", "b")}},
		{"unknown append, not done", List, []Op{add(1, 1, Never, "", "a").but(Unknown), show(2, 2, 3), add(2, 4, 5, "", "b"), show(3, 6, 7, "b")}},
		{"any list before", List, []Op{{Guard: "g", Key: "k", Kind: Forget}, add(1, 1, 2, "x", "a"), show(1, 3, 4, "w", "x", "a")}},
	} {
		t.Run(h.name, func(t *testing.T) {
			if got := h.check(h.ops, limit).Verdict(); got != OK {
				t.Errorf("verdict %s, want %s", got, OK)
			}
		})
	}
}

func TestWrongHistories(t *testing.T) {
	for _, h := range []history{
		{"a lower token is granted later", Mutex, []Op{grant(2, 1, 2), grant(1, 3, 4)}},
		{"the same token twice", Mutex, []Op{grant(1, 1, 2), grant(1, 3, 4)}},
		{"the same token twice at once", Mutex, []Op{grant(1, 1, 4), grant(1, 2, 3)}},
		{"tokens start again", Mutex, []Op{grant(7, 1, 2), grant(8, 3, 4), grant(1, 5, 6), grant(2, 7, 8)}},
		{"no token", Mutex, []Op{grant(0, 1, 2)}},
		{"lower behind two that overlap", Mutex, []Op{grant(5, 1, 4), grant(6, 2, 3), grant(4, 5, 6)}},

		{"lost update", Register, []Op{write(1, 1, 2, "a"), read(2, 3, 4, "")}},
		{"stale read after a newer claim", Register, []Op{write(1, 1, 2, "a"), write(2, 3, 4, "b"), read(1, 5, 6, "b")}},
		{"stale value", Register, []Op{write(1, 1, 2, "a"), write(2, 3, 4, "b"), read(3, 5, 6, "a")}},
		{"write below a read's token", Register, []Op{read(2, 1, 2, ""), write(1, 3, 4, "a"), write(2, 5, 6, "b")}},
		{"the same, of unknown outcome and seen", Register, []Op{read(2, 2, 3, ""), write(1, 1, Never, "a").but(Unknown), read(3, 5, 6, "a")}},
		{"an unknown write lands behind an acknowledged newer one", Register, []Op{
			write(1, 1, 5, "a").but(Unknown), write(1, 6, 7, "b"), read(2, 8, 9, "a")}},
		{"an unknown write lands behind a higher token's", Register, []Op{
			write(1, 1, Never, "a").but(Unknown), write(2, 6, 7, "b"), read(2, 8, 9, "a")}},
		{"an unknown write comes and goes", Register, []Op{
			write(1, 1, Never, "a").but(Unknown), read(1, 2, 3, "a"), read(1, 4, 5, "")}},
		{"a refused write had an effect", Register, []Op{read(2, 1, 2, ""), write(1, 3, 4, "a").but(Stale), read(2, 5, 6, "a")}},
		{"one without claim had an effect", Register, []Op{write(1, 3, 4, "a").but(NotHeld), read(2, 5, 6, "a")}},
		{"refused without a reason", Register, []Op{read(2, 1, 2, ""), write(2, 3, 4, "a").but(Stale)}},
		{"a value of the future", Register, []Op{read(1, 1, 2, "a"), write(1, 3, 4, "a")}},
		{"a value that nobody wrote", Register, []Op{read(1, 1, 2, "z")}},
		{"a shared reader is behind", Register, []Op{write(1, 1, 2, "a"), read(0, 3, 4, "")}},
		{"a fence forgets", Register, []Op{write(3, 1, 2, "a"), write(2, 3, 4, "b"), read(3, 5, 6, "b")}},
		{"below what was before", Register, []Op{{Guard: "g", Key: "k", Kind: Forget, Token: 5}, read(4, 3, 4, "x")}},

		{"items change places", List, []Op{add(1, 1, 2, "", "a"), add(1, 3, 4, "a", "b"), show(2, 5, 6, "b", "a")}},
		{"item lost", List, []Op{add(1, 1, 2, "", "a"), add(1, 3, 4, "a", "b"), show(2, 5, 6, "a")}},
		{"first item lost", List, []Op{add(1, 1, 2, "", "a"), add(1, 3, 4, "a", "b"), show(2, 5, 6, "b")}},
		{"item twice", List, []Op{add(1, 1, 2, "", "a"), show(2, 5, 6, "a", "a")}},
		{"item of the future", List, []Op{show(1, 1, 2, "a"), add(1, 3, 4, "", "a")}},
		{"appended to what was no more", List, []Op{add(1, 1, 2, "", "a"), add(2, 3, 4, "", "b"), show(3, 5, 6, "b")}},
		{"refused item is there", List, []Op{show(2, 1, 2), add(1, 3, 4, "", "a").but(Stale), show(2, 5, 6, "a")}},
		{"appended below a read's token", List, []Op{show(2, 1, 2), add(1, 3, 4, "", "a"), show(2, 5, 6, "a")}},
		{"unknown item lands below a read's token", List, []Op{
			add(1, 1, Never, "", "a").but(Unknown), show(2, 2, 3), show(3, 5, 6, "a")}},
		{"an open list changes its end", List, []Op{{Guard: "g", Key: "k", Kind: Forget}, add(1, 1, 2, "x", "a"), show(1, 3, 4, "a", "x")}},
	} {
		t.Run(h.name, func(t *testing.T) {
			if got := h.check(h.ops, limit).Verdict(); got != Illegal {
				t.Errorf("verdict %s, want %s", got, Illegal)
			}
		})
	}
}
