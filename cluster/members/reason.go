package members

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// reason says what a change that etcd has refused waits for; not passing: no wait
// helps.
func (c *Change) reason(list List, err error) (reason string, passing bool) {
	switch {
	case errors.Is(err, rpctypes.ErrTooManyLearners):
		return "its turn: etcd takes one learner at a time, and there is " + learners(list) + "; if that one never comes, remove it (member remove)", true
	case errors.Is(err, rpctypes.ErrUnhealthy):
		return fmt.Sprintf("the members (%s) to be connected to each other for 5 s; if one of them is down, start it, or replace it (member replace)", names(list.Voters())), true
	case errors.Is(err, rpctypes.ErrMemberNotEnoughStarted):
		return "members that were added to be started: " + names(idle(list)), true
	case errors.Is(err, rpctypes.ErrMemberLearnerNotReady):
		return "the learner to run and catch up with the leader", true
	case errors.Is(err, rpctypes.ErrPeerURLExist), errors.Is(err, rpctypes.ErrMemberExist),
		errors.Is(err, rpctypes.ErrMemberNotLearner), errors.Is(err, rpctypes.ErrMemberNotFound):
		return "the list of members to show what has changed", true
	case outcome.Passing(err):
		return "an answer from " + c.endpoints(), true
	}
	return "", false
}

func learners(list List) string {
	var found []Member
	for _, m := range list.Members {
		if m.Learner {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return "another" // gone meanwhile
	}
	return names(found)
}

// idle are the members that have never run.
func idle(list List) []Member {
	var found []Member
	for _, m := range list.Members {
		if m.Name == "" {
			found = append(found, m)
		}
	}
	return found
}

// Refusal adds what to do about a refusal for good.
func Refusal(err error) error {
	for _, rights := range []error{rpctypes.ErrPermissionDenied, rpctypes.ErrUserEmpty, rpctypes.ErrAuthFailed, rpctypes.ErrInvalidAuthToken} {
		if errors.Is(err, rights) {
			return fmt.Errorf("%w; who belongs to the cluster is for users with the role root: pass --user, and the password in FENCELOCK_CLIENT_PASSWORD, or a client certificate in root's name", err)
		}
	}
	return err
}
