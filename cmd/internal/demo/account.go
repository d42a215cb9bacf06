package demo

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/kv"
)

// account is the data that the lock guards, as the lock's holder sees it.
type account interface {
	read(ctx context.Context) (balance int, err error)
	write(ctx context.Context, balance int) error
}

// balanceKey is the record of a fenced account.
const balanceKey = "balance"

// fileAccount is a file guarded by the lock alone, as most code does it. It looks
// at the lock as late as it can.
type fileAccount struct {
	path string
	lock *client.Lock
}

func (f fileAccount) read(context.Context) (int, error) { return readFile(f.path) }

func (f fileAccount) write(ctx context.Context, balance int) error {
	next := f.path + "." + f.lock.Token().String()
	if err := os.WriteFile(next, format(balance), 0o600); err != nil {
		return err
	}
	if err := f.lock.Err(); err != nil {
		return err
	}
	if err := depart(ctx); err != nil {
		return err
	}
	return os.Rename(next, f.path)
}

// fencedAccount is a record behind the lock's fence. Its handle looks at the lock
// before it sends a request, see departing for what comes then.
type fencedAccount struct{ kv *kv.KV }

func (f fencedAccount) read(ctx context.Context) (int, error) {
	record, err := f.kv.Get(ctx, balanceKey)
	if err != nil {
		return 0, err
	}
	return parse(record.Value)
}

func (f fencedAccount) write(ctx context.Context, balance int) error {
	_, err := f.kv.Put(ctx, balanceKey, format(balance))
	return err
}

func readFile(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return parse(text)
}

func format(balance int) []byte { return strconv.AppendInt(nil, int64(balance), 10) }

func parse(text []byte) (int, error) {
	balance, err := strconv.Atoi(string(text))
	if err != nil {
		return 0, fmt.Errorf("read balance: %w", err)
	}
	return balance, nil
}
