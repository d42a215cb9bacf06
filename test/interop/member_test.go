package interop

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/fencelock/fencelock/cluster"
)

// memberMode is the first argument of a process of this program that runs a member.
// The others are its folder, and its addresses for clients and peers. In the tests'
// own process a member would leave goroutines behind: etcd never closes the client
// by which its server offers v3lock.
const memberMode = "member-of-interop"

// ready is what servers print when they are; etcd 3.5 does in its log.
const ready = "ready to serve client requests"

// runMember runs a member until the process is killed.
func runMember(args []string) {
	_, err := cluster.Start(context.Background(), cluster.Config{
		DataDir:       args[0],
		ListenClient:  args[1:2],
		ListenPeer:    args[2:3],
		Heartbeat:     20 * time.Millisecond,
		Election:      200 * time.Millisecond,
		UnsafeNoFsync: true,
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(ready)
	select {}
}
