package filefence_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
)

// A is paused, B takes the lock and reads; then A wakes up and writes. With a
// client the sequencers are those of Lock.Sequencer.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	report, err := filefence.New(filefence.Config{
		Path:  filepath.Join(dir, "report.json"),
		Guard: "reports/daily",
		// Verify: client.Check, where there is a client
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	a := fencing.Sequencer{Lock: "reports/daily", Token: 33}
	b := fencing.Sequencer{Lock: "reports/daily", Token: 34}

	fmt.Println("A writes:", report.Write(ctx, a, []byte("100")))
	data, err := report.Read(ctx, b)
	fmt.Println("B reads:", string(data), err)
	err = report.Write(ctx, a, []byte("110"))
	fmt.Println("A is stale:", errors.Is(err, fencing.ErrStale))
	fmt.Println("B writes:", report.Write(ctx, b, []byte("120")))
	// Output:
	// A writes: <nil>
	// B reads: 100 <nil>
	// A is stale: true
	// B writes: <nil>
}

// A service that gets its sequencers with each request finds them in the context.
func ExampleFile_Append() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	journal, err := filefence.New(filefence.Config{Path: filepath.Join(dir, "journal"), Guard: "journal"})
	if err != nil {
		log.Fatal(err)
	}
	record := func(ctx context.Context, line string) error {
		seq, err := fencing.ForGuard(ctx, "journal")
		if err != nil {
			return err
		}
		return journal.Append(ctx, seq, []byte(line+"\n"))
	}
	ctx := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "journal", Token: 7})
	fmt.Println(record(ctx, "paid 20"))
	fmt.Println(errors.Is(record(context.Background(), "paid 20"), fencing.ErrMissing))
	// Output:
	// <nil>
	// true
}
