package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// secured is a caller who is root on a cluster with authentication, made by
// commands alone.
func secured(t *testing.T) (cluster *clustertest.Cluster, root caller) {
	t.Helper()
	cluster = clustertest.Start(t, 1)
	c := at(cluster.Endpoints()...)
	c.run("auth", "enable").want(t, codeFailure, "there is no user root", "fencelock auth user add root")
	c.with("FENCELOCK_NEW_PASSWORD=secret").run("auth", "user", "add", "root").want(t, codeOK)
	c.run("auth", "enable").want(t, codeOK)
	c.run("auth", "user", "list").want(t, codeFailure, "log in with --user root")
	return cluster, c.with("FENCELOCK_CLIENT_USER=root", "FENCELOCK_CLIENT_PASSWORD=secret")
}

// as is a caller of that user, whose password is its name.
func (c caller) as(user string) caller {
	return c.with("FENCELOCK_CLIENT_USER="+user, "FENCELOCK_CLIENT_PASSWORD="+user)
}

// One command gives a user what it needs under a prefix, for every command of a
// client, and nothing next to it.
func TestAuthGrant(t *testing.T) {
	cluster, root := secured(t)
	root.with("FENCELOCK_NEW_PASSWORD=clerk").run("auth", "grant", "clerk", "--prefix", "orders/").want(t, codeOK)
	root.run("auth", "grant", "clerk", "--prefix", "orders/").want(t, codeOK) // again: nobody asks for a password
	clerk := root.as("clerk")
	useLocks(t, cluster.Endpoints(), "clerk", "orders/")
	clerk.run("locks", "orders/").want(t, codeOK)
	clerk.run("status").want(t, codeOK)
	for _, name := range []string{"orders2/1", "order", "bills/7"} {
		clerk.run("locks", name).want(t, codeFailure, "permission denied", name, "fencelock auth grant USER --prefix")
		mustBeDenied(t, cluster.Endpoints(), "clerk", name)
		clerk.run("kv", "get", name, "k", "--peek").want(t, codeFailure, "permission denied", name)
	}
	for _, args := range []string{"auth user list", "auth role list", "auth disable", "auth grant me --prefix a/ --no-password"} {
		clerk.run(strings.Fields(args)...).want(t, codeFailure, "only a user with the role root may")
	}
	root.run("auth", "role", "revoke", "clerk.locks", "--prefix", "orders/").want(t, codeOK)
	clerk.run("locks", "orders/").want(t, codeFailure, "permission denied")
}

func TestAuthUsersAndRoles(t *testing.T) {
	_, root := secured(t)
	root.stdin = "first\r\n"
	root.run("auth", "user", "add", "u").want(t, codeOK)
	root.run("auth", "user", "add", "u").want(t, codeFailure, "already exists")
	root.run("auth", "role", "add", "r").want(t, codeOK)
	root.run("auth", "role", "grant", "r", "--prefix", "a/b/").want(t, codeOK)
	root.run("auth", "user", "grant", "u", "r").want(t, codeOK)
	root.run("auth", "user", "list", "-o", "json").want(t, codeOK).prints(t,
		"[\n  {\n    \"name\": \"root\",\n    \"roles\": [\n      \"root\"\n    ]\n  },\n  {\n    \"name\": \"u\",\n    \"roles\": [\n      \"r\"\n    ]\n  }\n]\n")
	if got := root.run("auth", "role", "list").want(t, codeOK).stdout; !strings.Contains(got, "fencelock/semaphore/a/b/*") {
		t.Errorf("roles: %s", got)
	}
	u := root.with("FENCELOCK_CLIENT_USER=u", "FENCELOCK_CLIENT_PASSWORD=first")
	u.run("locks", "a/b/").want(t, codeOK)
	root.stdin = "second"
	root.run("auth", "user", "passwd", "u").want(t, codeOK)
	u.run("locks", "a/b/").want(t, codeFailure, "authentication failed")
	u = root.with("FENCELOCK_CLIENT_USER=u", "FENCELOCK_CLIENT_PASSWORD=second")
	u.run("locks", "a/b/").want(t, codeOK)
	root.run("auth", "user", "revoke", "u", "r").want(t, codeOK)
	u.run("locks", "a/b/").want(t, codeFailure, "permission denied")
	root.run("auth", "role", "delete", "r").want(t, codeOK)
	root.run("auth", "user", "delete", "u").want(t, codeOK)
	root.run("auth", "user", "delete", "u").want(t, codeNotFound, "not found", "delete user u")
	root.run("auth", "user", "delete", "root").want(t, codeFailure, "turn it off first")
	root.run("auth", "disable").want(t, codeOK)
	at(strings.TrimPrefix(root.env[0], "FENCELOCK_CLIENT_ENDPOINTS=")).run("auth", "status", "-o", "json").want(t, codeOK)
}

func TestAuthWrongUsage(t *testing.T) {
	c := at(deadEndpoint(t)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=1h")
	for args, want := range map[string]string{
		"auth":                                     "want one of disable, enable, grant, role, status, user",
		"auth enabel":                              `did you mean "enable"?`,
		"auth grant":                               "want USER",
		"auth grant u":                             "want one that ends with a slash",
		"auth grant u --prefix orders":             "orders2 would be meant as well",
		"auth grant u --prefix a//":                "invalid name",
		"auth grant root --prefix a/":              "root may do everything already",
		"auth grant a:b --prefix a/":               "without ':'",
		"auth user":                                "want one of add, delete, grant, list, passwd, revoke",
		"auth user add u":                          "the new password is empty",
		"auth user grant u":                        "want USER and ROLE",
		"auth role grant r --prefix x":             "ends with a slash",
		"auth user add " + strings.Repeat("u", 65): "want 1 to 64 characters",
	} {
		c.run(strings.Fields(args)...).want(t, codeUsage, want)
	}
	c.with("FENCELOCK_NEW_PASSWORD="+strings.Repeat("x", 73)).run("auth", "user", "add", "u").want(t, codeUsage, "73 bytes")
}

func TestAuthNoCluster(t *testing.T) {
	c := at(deadEndpoint(t)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=300ms", "FENCELOCK_NEW_PASSWORD=x")
	for args, code := range map[string]int{
		"auth enable": codeFailure, "auth status": codeFailure, "auth user list": codeFailure, "auth role list": codeFailure,
		"auth grant u --prefix a/": codeFailure, "auth user add u": codeUncertain, "auth role add r": codeUncertain, "auth disable": codeUncertain,
	} {
		c.run(strings.Fields(args)...).want(t, code, deadEndpointText(c))
	}
}

func deadEndpointText(c caller) string {
	return strings.TrimPrefix(c.env[0], "FENCELOCK_CLIENT_ENDPOINTS=")
}

// useLocks does with locks under prefix whatever a client can do.
func useLocks(t *testing.T, endpoints []string, user, prefix string) {
	t.Helper()
	ctx := testContext(t)
	c := loggedIn(t, endpoints, user)
	seen := make(chan error, 1)
	go func() {
		for _, err := range c.Watch(ctx, prefix) {
			seen <- err
			return
		}
	}()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	l, err := c.Lock(ctx, prefix+"1")
	must("lock", err)
	_, err = l.KV().Put(ctx, "k", []byte("v"))
	must("put", err)
	_, err = c.Inspect(ctx, prefix+"1")
	must("inspect", err)
	must("check", c.Check(ctx, l.Sequencer()))
	must("break", c.Break(ctx, prefix+"1", l.Token()))
	shared, err := c.LockShared(ctx, prefix+"2")
	must("lock shared", err)
	must("unlock shared", shared.Unlock(ctx))
	all, err := c.LockAll(ctx, prefix+"1", prefix+"2")
	must("lock all", err)
	must("unlock all", all.Unlock(ctx))
	permit, err := c.Semaphore(prefix+"s", 2).Acquire(ctx)
	must("acquire a permit", err)
	must("release it", permit.Release(ctx))
	leader, err := c.Campaign(ctx, prefix+"e", []byte("me"))
	must("campaign", err)
	_, err = c.Leader(ctx, prefix+"e")
	must("leader", err)
	must("resign", leader.Unlock(ctx))
	for watched := false; !watched; { // something is to be seen once it watches
		must("lock", c.Do(ctx, prefix+"1", func(context.Context, *client.Lock) error { return nil }))
		select {
		case err := <-seen:
			must("watch", err)
			watched = true
		default:
		}
	}
	must("close", c.Close())
}

func mustBeDenied(t *testing.T, endpoints []string, user, name string) {
	t.Helper()
	c := loggedIn(t, endpoints, user)
	_, lock := c.Lock(testContext(t), name)
	_, all := c.LockAll(testContext(t), "orders/1", name)
	_, permit := c.Semaphore(name, 1).Acquire(testContext(t))
	for what, err := range map[string]error{"lock": lock, "lock all": all, "semaphore": permit} {
		if !errors.Is(err, rpctypes.ErrPermissionDenied) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "fencelock auth grant") {
			t.Errorf("%s of %s: got %v, want it denied, named, and what to grant", what, name, err)
		}
	}
}

// loggedIn is a client of a user whose password is its name.
func loggedIn(t *testing.T, endpoints []string, user string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Endpoints: endpoints, Username: user, Password: user})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
