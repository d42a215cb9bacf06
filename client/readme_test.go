package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fencelock/fencelock/client"
)

// The README shows this function; a test of the house rules holds it to that.
func deposit(ctx context.Context, c *client.Client) error { // c, err := client.New(client.Config{})
	return c.Do(ctx, "accounts/42", func(ctx context.Context, l *client.Lock) error {
		balance, err := l.KV().Get(ctx, "balance") // claims the fence: older holders are refused from here on
		if err != nil {
			return err
		}
		_, err = l.KV().Put(ctx, "balance", append(balance.Value, '0'))
		return err // *fencing.StaleError if this holder has been overtaken
	})
}

// The README's example: each deposit appends a zero, behind the lock's fence.
func ExampleClient() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c, err := client.New(client.Config{Endpoints: endpoints})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for range 3 {
		if err := deposit(ctx, c); err != nil {
			log.Fatal(err)
		}
	}
	l, err := c.Lock(ctx, "accounts/42")
	if err != nil {
		log.Fatal(err)
	}
	balance, err := l.KV().Get(ctx, "balance")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", balance.Value)
	// Output: 000
}
