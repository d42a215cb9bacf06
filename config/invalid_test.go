package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func mustFail(t *testing.T, from Sources, want ...string) {
	t.Helper()
	_, err := Load(from)
	if err == nil {
		t.Fatalf("Load succeeded, want an error with %q", want)
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not contain %q", err, part)
		}
	}
}

// Each kind of bad value is refused in each place, with the place and the reason.
func TestBadValues(t *testing.T) {
	tests := []struct{ key, value, reason string }{
		{"client.ttl", "abc", "want a number with a unit"},
		{"client.ttl", "0", "want at least 1s"},
		{"client.ttl", "-1", "want a number with a unit"},
		{"client.ttl", "-1s", "want at least 1s"},
		{"client.ttl", "1ms", "want at least 1s"},
		{"client.ttl", "15", "want a number with a unit"},
		{"client.dial-timeout", "0s", "want more than zero"},
		{"client.namespace", "a//b", "a segment between"},
		{"client.endpoints", "localhost", "want a host and a port"},
		{"client.endpoints", "a:1,,b:2", "want a host and a port"},
		{"client.endpoints", "a:99999", "want"},
		{"client.endpoints", "ftp://a:1", "want http or https"},
		{"client.endpoints", "http://a:1/x", "nothing more"},
		{"client.user", "me:secret", "FENCELOCK_CLIENT_PASSWORD"},
		{"output", "xml", "want one of table, json, yaml"},
		{"server.quota", "lots", "want a number of bytes"},
		{"server.quota", "0", "want a number of bytes"},
		{"server.quota", "99999999999GiB", "want a number of bytes"},
		{"server.retention", "10ms", "want at least 1s"},
		{"server.token-floor", "0", "want a number from 1 to 4503599627370496, or now"},
		{"server.token-floor", "-1", "or now"},
		{"server.token-floor", "4503599627370497", "or now"},
		{"server.token-floor", "tomorrow", "or now"},
		{"server.heartbeat", "1us", "want at least 1ms"},
		{"server.name", "a,b", "want a name without"},
		{"server.log-level", "loud", "want one of"},
		{"server.client-cert-auth", "perhaps", "want"},
		{"server.peers", "a", "want a host and a port"},
	}
	for _, test := range tests {
		t.Run(test.key+"="+test.value, func(t *testing.T) {
			s := find(t, test.key)
			mustFail(t, Sources{Env: []string{s.variable() + "=" + test.value}}, s.variable(), test.value, test.reason)
			path := inFile(t, test.key, "'"+test.value+"'")
			mustFail(t, Sources{File: path}, path, test.key, test.value, test.reason)
			err := allFlags().Parse([]string{"--" + s.flag + "=" + test.value})
			if err == nil || !strings.Contains(err.Error(), "--"+s.flag) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("flag: error %v, want one that names --%s and %q", err, s.flag, test.reason)
			}
		})
	}
}

func find(t *testing.T, key string) setting {
	t.Helper()
	for _, s := range allSettings() {
		if s.key == key {
			return s
		}
	}
	t.Fatalf("no setting %s", key)
	return setting{}
}

// YAML makes something else of what looks like text to people.
func TestBadTypesInFile(t *testing.T) {
	for content, want := range map[string]string{
		"client:\n  owner: 0123\n":                 "want a string; put text in quotes",
		"client:\n  owner: no\n":                   "", // text in YAML 1.2
		"client:\n  owner: false\n":                "put text in quotes",
		"client:\n  ttl: 15\n":                     "want a duration",
		"client:\n  endpoints: [a:1, 2]\n":         "put it in quotes",
		"client:\n  endpoints: {a: 1}\n":           "unknown key client.endpoints.a",
		"server:\n  quota: 1.5\n":                  "want a size",
		"server:\n  client-cert-auth: \"maybe\"\n": "want true or false",
		"client: 5\n":                              "unknown key client",
		"- a\n- b\n":                               ":1: want sections and settings",
		"client:\n\tttl: 5s\n":                     ":2: found character",
	} {
		path := file(t, content)
		if want == "" {
			mustLoad(t, Sources{File: path})
			continue
		}
		mustFail(t, Sources{File: path}, path, want)
	}
}

func TestPasswordIsNotShown(t *testing.T) {
	_, err := Load(Sources{File: inFile(t, "client.password", "31415")})
	if err == nil || strings.Contains(err.Error(), "31415") {
		t.Errorf("error %v, want one without the password", err)
	}
}

func TestUnknownKeys(t *testing.T) {
	for content, want := range map[string]string{
		"client:\n  endpoint: a:1\n":        "unknown key client.endpoint; did you mean client.endpoints?",
		"client:\n  dial_timeout: 3s\n":     "did you mean client.dial-timeout?",
		"client:\n  TTLs: 3s\n":             "did you mean client.ttl?",
		"clients:\n  ttl: 3s\n":             "did you mean client.ttl?",
		"endpoints: a:1\n":                  "did you mean client.endpoints?",
		"server:\n  peer: [a:1]\n":          "did you mean server.peers?",
		"client:\n  colour: red\n":          "unknown key client.colour; the sections are client and server",
		"client:\n  token: 5\n":             "unknown key client.token",
		"client:\n  ttl: 3s\n  ttl: 4s\n":   "already defined",
		"client:\n  ttl:\n    seconds: 3\n": "unknown key client.ttl.seconds",
	} {
		path := file(t, content)
		mustFail(t, Sources{File: path}, path, want)
	}
}

// Every mistake is reported at once, not one for each try.
func TestAllMistakesAreNamed(t *testing.T) {
	mustFail(t, Sources{File: file(t, "client:\n  a: 1\nserver:\n  b: 2\n")}, "client.a", "server.b")
	mustFail(t, Sources{Env: []string{"FENCELOCK_CLIENT_TTL=0", "FENCELOCK_OUTPUT=xml"}}, "FENCELOCK_CLIENT_TTL", "FENCELOCK_OUTPUT")
}

func TestFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	mustFail(t, Sources{File: missing}, missing, "no such file")
	mustFail(t, Sources{Env: []string{"FENCELOCK_CONFIG=" + missing}}, missing, "no such file")
	mustFail(t, Sources{File: t.TempDir()}, "read configuration")

	for _, content := range []string{"", "client:\nserver:\n", "# nothing\n", "client:\n  ttl:\n"} {
		c := mustLoad(t, Sources{File: file(t, content)})
		if got := c.Origin("client.ttl"); got != (Origin{}) {
			t.Errorf("file %q: origin of client.ttl = %v, want the default", content, got)
		}
	}
	if c := mustLoad(t, Sources{File: file(t, "client.ttl: 3s\n")}); c.Client.TTL != 3*time.Second {
		t.Errorf("TTL %v by a key with its section, want 3s", c.Client.TTL)
	}
	c := mustLoad(t, Sources{File: file(t, "client:\n  endpoints:\n  - a:1\n  - b:2\nserver:\n  quota: 4096\n  client-cert-auth: true\n")})
	if got := c.Client.Endpoints; len(got) != 2 || got[0] != "a:1" || got[1] != "b:2" {
		t.Errorf("endpoints %q, want a:1 and b:2", got)
	}
	if c.Server.Quota != 4096 || !c.Server.ClientTLS.CertAuth {
		t.Errorf("quota %d, cert-auth %v; want 4096, true", c.Server.Quota, c.Server.ClientTLS.CertAuth)
	}
}
