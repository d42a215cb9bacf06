package upkeep

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// room is the share of the quota that has to be free before the alarm is cleared:
// with less it would soon be raised again.
const room = 0.1

// Alarm is one alarm that a member has raised.
type Alarm struct {
	Member uint64
	Kind   string // "NOSPACE" or "CORRUPT"
}

// Alarms lists what members have raised.
func Alarms(ctx context.Context, etcd *clientv3.Client) ([]Alarm, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	resp, err := etcd.AlarmList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the alarms: %w", err)
	}
	var alarms []Alarm
	for _, a := range resp.Alarms {
		alarms = append(alarms, Alarm{a.MemberID, a.Alarm.String()})
	}
	return alarms, nil
}

// ErrCorrupt: clearing the alarm would hide that members disagree.
var ErrCorrupt = errors.New(`the data of members differ, and clearing the alarm would only hide it: replace the member that "fencelock alarm list" names`)

// Clear makes room in a full store, and ends the alarms: compact, defragment,
// disarm. If that does not make enough room the alarms stay.
func Clear(ctx context.Context, etcd *clientv3.Client, done func(Defragmented)) error {
	alarms, err := Alarms(ctx, etcd)
	if err != nil || len(alarms) == 0 {
		return err
	}
	for _, a := range alarms {
		if a.Kind != pb.AlarmType_NOSPACE.String() {
			return ErrCorrupt
		}
	}
	if err := compact(ctx, etcd); err != nil {
		return err
	}
	if err := Defragment(ctx, etcd, 0, done); err != nil {
		return err
	}
	if err := checkRoom(ctx, etcd); err != nil {
		return err
	}
	if alarms, err = Alarms(ctx, etcd); err != nil { // every member raises its own, some a little later
		return err
	}
	return disarm(ctx, etcd, alarms)
}

// compact drops all history, and waits until that is done.
func compact(ctx context.Context, etcd *clientv3.Client) error {
	members, err := Members(ctx, etcd)
	if err != nil {
		return err
	}
	var revision int64
	for _, m := range members {
		revision = max(revision, m.Revision)
	}
	ctx, cancel := context.WithTimeout(ctx, defragWait)
	defer cancel()
	_, err = etcd.Compact(ctx, revision, clientv3.WithCompactPhysical())
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact: %w", err)
	}
	return nil
}

func checkRoom(ctx context.Context, etcd *clientv3.Client) error {
	members, err := Members(ctx, etcd)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Quota > 0 && float64(m.Size) > (1-room)*float64(m.Quota) {
			return fmt.Errorf("the alarm stays: after compaction and defragmentation member %s still needs %d of %d bytes, and would be full again at once; "+
				"delete records (\"fencelock kv del\" works), or restart the members with a larger --quota, then try again", m.Name, m.Size, m.Quota)
		}
	}
	return nil
}

func disarm(ctx context.Context, etcd *clientv3.Client, alarms []Alarm) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	for _, a := range alarms {
		if _, err := etcd.AlarmDisarm(ctx, &clientv3.AlarmMember{MemberID: a.Member, Alarm: pb.AlarmType_NOSPACE}); err != nil {
			return fmt.Errorf("clear the alarm of member %x: %w", a.Member, err)
		}
	}
	return nil
}
