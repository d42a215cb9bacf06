package config

import (
	"strings"
	"testing"
)

// Every mistake of a file is named with its line, unknown keys and bad values alike.
func TestMistakesHaveLines(t *testing.T) {
	path := file(t, "# of this host\nclient:\n  ttl: 1ms\n  colour: red\n\nserver:\n  client-cert-auth: perhaps\n  Quota: lots\nclient.dial-timeout: 0s\n")
	mustFail(t, Sources{File: path},
		path+`:3: client.ttl "1ms"`, path+":4: unknown key client.colour", path+`:7: server.client-cert-auth "perhaps"`,
		path+`:8: server.quota "lots"`, path+`:9: client.dial-timeout "0s"`)
}

func TestSettings(t *testing.T) {
	path := file(t, "client:\n  ttl: 7s\n  password: secret\n  user: u\n")
	c := mustLoad(t, Sources{File: path, Env: []string{"FENCELOCK_SERVER_QUOTA=3GiB"}})
	want := map[string]Setting{
		"client.ttl":      {"client.ttl", "ttl", "FENCELOCK_CLIENT_TTL", "7s", false, Origin{File, path}},
		"client.password": {"client.password", "", "FENCELOCK_CLIENT_PASSWORD", "secret", true, Origin{File, path}},
		"server.quota":    {"server.quota", "quota", "FENCELOCK_SERVER_QUOTA", "3GiB", false, Origin{Environment, "FENCELOCK_SERVER_QUOTA"}},
		"server.name":     {"server.name", "name", "FENCELOCK_SERVER_NAME", "", false, Origin{}},
	}
	all := c.Settings()
	if len(all) != len(allSettings()) {
		t.Errorf("%d settings, want %d", len(all), len(allSettings()))
	}
	for _, got := range all {
		if want, ok := want[got.Key]; ok && got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := mustLoad(t, Sources{}).Check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	c := mustLoad(t, Sources{File: file(t, "client: {user: u}\nserver: {heartbeat: 1s, client-key: k, peers: [a:1, a:1]}\n")})
	err := c.Check()
	for _, want := range []string{"no password", "want at least 5 heartbeats", "peers: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %q", err, want)
		}
	}
}
