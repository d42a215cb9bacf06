//go:build linux

package world

import (
	"encoding/json"
	"strings"
	"testing"
)

// replaceMember: a member whose disk is gone is replaced as the program says.
func replaceMember(t *testing.T, w *World) {
	ctx := bounded(t)
	m := w.Members[2]
	must(t, m.Kill())
	must(t, m.Disk.Wipe())
	out, err := w.CLI(ctx, "member", "replace", strings.TrimPrefix(m.PeerURL, "http://"), "-o", "json")
	must(t, err)
	var added struct{ Command string }
	must(t, json.Unmarshal([]byte(out), &added))
	m.SetCommand(strings.Fields(added.Command))
	must(t, m.Start(ctx))
	must(t, w.Settle(ctx))
	must(t, m.Terminate(ctx))
	must(t, m.Start(ctx))
	must(t, w.Settle(ctx))
}

// cutResource: what a PostgreSQL and a Redis have acknowledged outlives a power cut
// of their disks, and they stand still while they are paused.
func cutResource(t *testing.T, w *World) {
	for _, r := range []*Resource{w.Postgres, w.Redis} {
		must(t, r.Pause())
		if w.Has("loop") {
			must(t, r.Disk.Copy())
		}
		must(t, r.Kill())
		must(t, r.Kill())
		if w.Has("loop") {
			must(t, r.Disk.Restore())
		}
		must(t, r.Start())
		must(t, r.Pause())
		must(t, r.Resume())
		must(t, r.Stop())
		must(t, r.Start())
	}
	must(t, w.Redis.Kill())
	must(t, w.Redis.Start("--appendfsync", "everysec"))
}
