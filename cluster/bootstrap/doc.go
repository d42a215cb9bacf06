// Package bootstrap is how the members of a new cluster agree that it is new,
// before etcd starts in any of them. Three identical commands then make one
// cluster, and a folder that was wiped or restored cannot begin a second history
// in which tokens are issued again.
//
// # The protocol
//
// A folder in which no member ever ran holds a random birth id, on disk before
// anyone is told of it. A wiped folder gets a new one, and so does a folder into
// which a snapshot is restored. Until etcd takes the peer port over, the member
// serves its [Answer] there and asks every other member for theirs:
//
//	no decision ──every peer answered──▶ decided ──every peer shows it,──▶ etcd starts
//	     │                                  ▲       or one peer runs under it
//	     └───────a peer's decision names────┘
//	             my birth: adopt it
//
// Round 1. When every peer has answered that it never ran, with births that all
// differ and the same peers, token floor and snapshot, the member writes the
// decision: which birth is at which address. It is synced, and never replaced.
//
// Round 2. When every peer has shown that same decision, or one of them already
// runs etcd under it, the member starts etcd. The token of etcd's cluster is a
// hash of the decision, so a peer port that etcd has taken over tells by its
// cluster id which decision it runs under. One round is not enough: a member that
// started at once would leave the others with a peer that no longer answers.
//
// # What follows, for any order, crash or stale answer
//
//   - Two members never run under different decisions that both reach a majority,
//     while one of three folders survives. An exhaustive model of [Next] shows it.
//   - Whoever is killed anywhere finishes with the same command.
//   - The first start needs all members up once. Later starts do not come here: a
//     folder with data starts at once.
//
// What cannot be resolved is refused: [ErrReplace], [ErrInterrupted],
// [ErrDisagree]. A member that refuses goes on answering for a second, so that its
// peers see the reason, too. A peer that does not answer is waited for, since
// nothing is known about what it holds.
//
// Not promised: anything when all folders are wiped. Nothing is left then that
// could remember, and the commands make a new cluster; that is what a token floor
// is for.
package bootstrap
