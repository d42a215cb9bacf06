package memfence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// A cache that only this process fills, behind the lock "cache".
func Example() {
	fence := memfence.New(memfence.Config{}) // Verify: client.Check, where there is one
	cache := map[string]string{}
	put := func(ctx context.Context, seq fencing.Sequencer, value string) error {
		_, leave, err := fence.Enter(ctx, "cache", seq)
		if err != nil {
			return err
		}
		defer leave()
		cache["key"] = value
		return nil
	}
	ctx := context.Background()
	fmt.Println(put(ctx, fencing.Sequencer{Lock: "cache", Token: 34}, "new"))
	err := put(ctx, fencing.Sequencer{Lock: "cache", Token: 33}, "late")
	fmt.Println(errors.Is(err, fencing.ErrStale), cache["key"])
	// Output:
	// <nil>
	// true new
}
