package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/etcdserver/api/snap"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

// firstTerm is that of the entries in the log that every member begins with.
const firstTerm uint64 = 1

// writeLog writes the log that all members of cluster begin with, in wal, and the
// Raft snapshot at its end, in snapDir. The log adds one member after the other, in
// the order of their ids. It returns the index of its last entry.
func writeLog(walDir, snapDir string, cluster *membership.RaftCluster, name string) (last uint64, err error) {
	entries, err := additions(cluster)
	if err != nil {
		return 0, err
	}
	last = uint64(len(entries))
	voters := numbers(cluster.MemberIDs())
	state := &raftpb.HardState{Term: proto.Uint64(firstTerm), Vote: proto.Uint64(voters[0]), Commit: &last}
	conf := &raftpb.ConfState{Voters: voters}
	if err := writeWAL(walDir, cluster, name, state, entries, conf); err != nil {
		return 0, fmt.Errorf("write log: %w", err)
	}
	err = snap.New(zap.NewNop(), snapDir).SaveSnap(&raftpb.Snapshot{
		Data:     etcdserver.GetMembershipInfoInV2Format(zap.NewNop(), cluster),
		Metadata: &raftpb.SnapshotMetadata{Index: &last, Term: proto.Uint64(firstTerm), ConfState: conf},
	})
	if err != nil {
		return 0, fmt.Errorf("write Raft snapshot: %w", err)
	}
	return last, nil
}

func writeWAL(dir string, cluster *membership.RaftCluster, name string, state *raftpb.HardState, entries []*raftpb.Entry, conf *raftpb.ConfState) error {
	own := cluster.MemberByName(name)
	metadata, err := proto.Marshal(&etcdserverpb.Metadata{
		NodeID: proto.Uint64(uint64(own.ID)), ClusterID: proto.Uint64(uint64(cluster.ID())),
	})
	if err != nil {
		return err
	}
	w, err := wal.Create(zap.NewNop(), dir, metadata)
	if err != nil {
		return err
	}
	err = w.Save(state, entries)
	if err == nil {
		err = w.SaveSnapshot(&walpb.Snapshot{Index: state.Commit, Term: state.Term, ConfState: conf})
	}
	return errors.Join(err, w.Close())
}

// additions are the entries that add the members of cluster.
func additions(cluster *membership.RaftCluster) ([]*raftpb.Entry, error) {
	var entries []*raftpb.Entry
	for i, id := range cluster.MemberIDs() {
		member, err := json.Marshal(cluster.Member(id))
		if err != nil {
			return nil, fmt.Errorf("encode member: %w", err)
		}
		change, err := proto.Marshal(&raftpb.ConfChange{
			Type: raftpb.ConfChangeAddNode.Enum(), NodeId: proto.Uint64(uint64(id)), Context: member,
		})
		if err != nil {
			return nil, fmt.Errorf("encode member: %w", err)
		}
		entries = append(entries, &raftpb.Entry{
			Type: raftpb.EntryConfChange.Enum(), Term: proto.Uint64(firstTerm), Index: proto.Uint64(uint64(i + 1)), Data: change,
		})
	}
	return entries, nil
}

func numbers(ids []types.ID) []uint64 {
	list := make([]uint64, len(ids))
	for i, id := range ids {
		list[i] = uint64(id)
	}
	return list
}
