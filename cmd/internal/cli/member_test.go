package cli

import (
	"strings"
	"testing"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// memberList runs member list and returns its members by name.
func memberList(t *testing.T, c caller, code int) map[string]map[string]any {
	t.Helper()
	byName := map[string]map[string]any{}
	r := c.run("member", "list", "-o", "json")
	if r.code != code {
		t.Fatalf("member list: exit code %d, want %d; standard error: %s", r.code, code, r.stderr)
	}
	for _, m := range decode(t, r.stdout).([]any) {
		m := m.(map[string]any)
		byName[m["name"].(string)] = m
	}
	return byName
}

func TestMemberList(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	learner := cluster.AddLearner()
	c := at(cluster.Endpoint(learner), cluster.Endpoint(0)) // a learner among the endpoints does no harm
	list := memberList(t, c, codeOK)
	if m := list["m0"]; m["role"] != "leader" || m["reachable"] != true || m["revision"] == "0" || m["db_size"].(float64) == 0 || m["raft_behind"] != "0" {
		t.Errorf("the leader: %v", m)
	}
	if m := list["m1"]; m["role"] != "learner" || m["reachable"] != true {
		t.Errorf("the learner: %v", m)
	}
	cluster.Kill(learner)
	out := c.with("FENCELOCK_CLIENT_DIAL_TIMEOUT=1s").run("member", "list").want(t, codeOK).stdout
	lines := strings.Split(out, "\n")
	if got, want := strings.Join(strings.Fields(lines[0]), " "), "ID NAME PEER CLIENT ROLE STATE REVISION BEHIND DB SIZE"; got != want {
		t.Errorf("header %q, want %q", got, want)
	}
	if got := strings.Fields(lines[2]); got[1] != "m1" || got[4] != "learner" || got[5] != "unreachable" {
		t.Errorf("the learner that is down: %q", lines[2])
	}
	c.run("locks").want(t, codeOK)
}

func TestMemberPromote(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	cluster.AddLearner()
	c := at(cluster.Endpoints()...)
	r := c.run("member", "promote", "m1")
	if r.code != codeOK || !strings.HasPrefix(r.stdout, "promoted m1, id ") || !strings.Contains(r.stderr, "a cluster of two members (m0, m1) stops when either") {
		t.Errorf("promote: %+v, want a warning of two members", r)
	}
	if got := memberList(t, c, codeOK)["m1"]["role"]; got != "voter" {
		t.Errorf("role %v, want voter", got)
	}
	if r := c.run("member", "promote", "m1"); r.code != codeOK { // again: it is one
		t.Errorf("promote again: %+v", r)
	}
	c.run("member", "promote", "m7").want(t, codeNotFound, `member "m7": not found`, "member list")
}

func TestMemberUsage(t *testing.T) {
	c := at(deadEndpoint(t)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=300ms")
	c.run("member").want(t, codeUsage, "want one of add, list, promote, remove, replace")
	c.run("member", "list", "x").want(t, codeUsage, "no arguments")
	c.run("member", "remove").want(t, codeUsage, "NAME or ID")
	c.run("member", "remove", "x", "--wait", "0s").want(t, codeUsage, "--wait")
	c.run("member", "list").want(t, codeFailure, "member list: ", "gave up waiting for an answer from", c.env[0][len("FENCELOCK_CLIENT_ENDPOINTS="):])
	c.run("member", "remove", "x", "--wait", "1s").want(t, codeFailure, "gave up waiting for an answer from")
}

// From three members to one; the leader goes first, and a client sees none of it.
func TestMemberRemove(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	c := at(cluster.Endpoints()...)
	tester := newTestClient(t, cluster.Endpoints())
	held := mustLock(t, tester, "kept")

	leader := cluster.Leader(testContext(t))
	name := cluster.Members[leader].Name()
	r := c.run("member", "remove", name)
	if r.code != codeOK || !strings.HasPrefix(r.stdout, "removed "+name) || !strings.Contains(r.stderr, "a cluster of two members") {
		t.Fatalf("remove the leader: %+v", r)
	}
	cluster.Kill(leader)
	list := memberList(t, c, codeOK)
	var rest []string
	for name := range list {
		rest = append(rest, name)
	}
	if len(rest) != 2 {
		t.Fatalf("members %v, want two", list)
	}
	if r := c.run("member", "remove", list[rest[0]]["id"].(string), "-o", "json"); r.code != codeOK || !strings.Contains(r.stdout, `"change": "removed"`) {
		t.Fatalf("remove the second by its id: %+v", r)
	}
	c.run("member", "remove", rest[1]).want(t, codeFailure, "is the last member")
	mustLock(t, tester, "more")
	if err := held.Err(); err != nil {
		t.Errorf("the lock that was held: %v", err)
	}
}

// One of three is down: another one must stay, the dead one may go.
func TestMemberRemoveKeepsQuorum(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	c := at(cluster.Endpoints()...).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=2s")
	cluster.Kill(2)
	cluster.Leader(testContext(t))
	c.run("member", "remove", "m1").want(t, codeFailure, "member m1 is not removed: it would break the quorum: 2 would be left (m0, m2), of which 2 must answer, and 1 do (m0)")
	if r := c.run("member", "remove", "m2"); r.code != codeOK {
		t.Errorf("remove the dead member: %+v", r)
	}
	if list := memberList(t, c, codeOK); len(list) != 2 || list["m2"] != nil {
		t.Errorf("members %v, want m0 and m1", list)
	}
}

func TestMemberListWithoutQuorum(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	cluster.Kill(0)
	cluster.Kill(1)
	c := at(cluster.Endpoint(2)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=2s")
	list := memberList(t, c, codeFailure)
	if len(list) != 3 || list["m2"]["reachable"] != true || list["m0"]["reachable"] != false {
		t.Errorf("members %v, want three of which m2 answers", list)
	}
	c.run("member", "list").want(t, codeFailure, "no quorum, this is what one member knows")
}

// A dead member makes way for its successor, whose command is printed; run again,
// the same command prints it again.
func TestMemberReplace(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	c := at(cluster.Endpoints()...).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=2s")
	c.run("member", "replace", "m2").want(t, codeFailure, "member m2 is alive", "--force")
	cluster.Kill(2)
	cluster.Leader(testContext(t))
	c.run("member", "replace", "m2", "--peer", cluster.Config(0).ListenPeer[0]).want(t, codeFailure, "is the address of member m0")
	c.run("member", "replace", "m9").want(t, codeNotFound, "--peer")
	r := c.run("member", "replace", "m2")
	want := "--advertise-peer http://" + cluster.Config(2).ListenPeer[0] + " --name m2 --listen-client " + cluster.Endpoint(2)
	if r.code != codeOK || !strings.Contains(r.stdout, want) || !strings.Contains(r.stderr, "if this is interrupted, finish it with: fencelock member replace m2 --peer http://"+cluster.Config(2).ListenPeer[0]) {
		t.Fatalf("replace: %+v, want the command to have %q", r, want)
	}
	again := c.run("member", "replace", "m2", "--peer", cluster.Config(2).ListenPeer[0])
	if again.code != codeOK || !strings.Contains(again.stdout, "--advertise-peer http://"+cluster.Config(2).ListenPeer[0]) {
		t.Errorf("replace again: %+v", again)
	}
	if list := memberList(t, c, codeOK); len(list) != 3 || list[""]["role"] != "learner" {
		t.Errorf("members %v, want m0, m1 and a learner without a name", list)
	}
	c.run("member", "add", cluster.Config(0).ListenPeer[0]).want(t, codeFailure, "is the address of member")
}
