package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fileOf is a file of settings.
func fileOf(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fencelock.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigShow(t *testing.T) {
	path := fileOf(t, "client:\n  ttl: 7s\n  user: u\n  password: opensesame\n")
	c := caller{}.with("FENCELOCK_SERVER_QUOTA=3GiB", "FENCELOCK_CONFIG="+path)
	r := c.run("config", "show", "--namespace", "n/", "-o", "json").want(t, codeOK)
	var list []map[string]string
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range list {
		got[s["key"]] = strings.Join([]string{s["value"], s["origin"], s["from"], s["variable"], s["flag"]}, " ")
	}
	for key, want := range map[string]string{
		"client.namespace":    "n/ flag --namespace FENCELOCK_CLIENT_NAMESPACE --namespace",
		"server.quota":        "3GiB environment FENCELOCK_SERVER_QUOTA FENCELOCK_SERVER_QUOTA --quota",
		"client.ttl":          "7s file " + path + " FENCELOCK_CLIENT_TTL --ttl",
		"client.dial-timeout": "5s default  FENCELOCK_CLIENT_DIAL_TIMEOUT --dial-timeout",
		"client.password":     "(hidden) file " + path + " FENCELOCK_CLIENT_PASSWORD ",
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	for _, format := range []string{"table", "yaml", "json"} {
		if r := c.run("config", "show", "-o", format).want(t, codeOK); strings.Contains(r.stdout, "opensesame") || !strings.Contains(r.stdout, path) {
			t.Errorf("-o %s prints %s, want no password, and the file", format, r.stdout)
		}
	}
	c.with("FENCELOCK_CLIENT_TTL=1ms").run("config", "show").want(t, codeUsage, "FENCELOCK_CLIENT_TTL", "want at least 1s")
}

func TestConfigValidate(t *testing.T) {
	good, bad := fileOf(t, "client:\n  ttl: 7s\n"), fileOf(t, "client:\n  ttl: 1ms\n\n  colour: red\n")
	c := caller{}
	c.run("config", "validate", good).want(t, codeOK).prints(t, good+" is valid\n")
	c.run("config", "validate").want(t, codeOK).prints(t, "no file; the environment is valid\n")
	for _, r := range []result{
		c.run("config", "validate", bad), c.run("config", "validate", "--config", bad), c.with("FENCELOCK_CONFIG="+bad).run("config", "validate"),
		c.with("FENCELOCK_CLIENT_TTL=9s").run("config", "validate", bad), // the environment does not mend the file
	} {
		r.want(t, codeFailure, "fencelock: "+bad+`:2: client.ttl "1ms"`, "fencelock: "+bad+":4: unknown key client.colour").prints(t, "")
	}
	r := c.run("config", "validate", bad, "-o", "json")
	var got validity
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || got.File != bad || got.Valid || len(got.Errors) != 2 || r.code != codeFailure || r.stderr != "" {
		t.Errorf("%+v, %v; exit code %d, standard error %q; want two errors and 1", got, err, r.code, r.stderr)
	}
	c.run("config", "validate", good+".none").want(t, codeFailure, "no such file")
	tab := fileOf(t, "client:\n\tttl: 7s\n")
	c.run("config", "validate", tab).want(t, codeFailure, "fencelock: "+tab+":2: found character")
	twice := fileOf(t, "client:\n  ttl: 7s\n  ttl: 8s\n")
	c.run("config", "validate", twice).want(t, codeFailure, "fencelock: "+twice+`:3: mapping key "ttl" already defined at line 2`)
	c.run("config", "validate", fileOf(t, "client: {cert: x}\n")).want(t, codeFailure, "--cert and --key go together")
	c.with("FENCELOCK_CLIENT_KEY=/none", "FENCELOCK_CLIENT_CERT=/none").run("config", "validate", good).want(t, codeFailure, "/none")
	c.run("config", "validate", "a", "b").want(t, codeUsage, "at most FILE")
	c.run("config").want(t, codeUsage, "want one of show, validate")
}

// A variable that is misspelt sets nothing: the two commands that look at settings
// say so, and do what they do all the same.
func TestConfigWarnsOfVariables(t *testing.T) {
	const warning = "fencelock: warning: FENCELOCK_CLIENT_TLL: no such setting; did you mean FENCELOCK_CLIENT_TTL?\n"
	plain := caller{}.with("FENCELOCK_LOCK=a", "FENCELOCK_TOKEN=1", "FENCELOCK_SEQUENCER=a:1", "FENCELOCK_SEQUENCERS=a:1", "FENCELOCK_NEW_PASSWORD=p", "FENCELOCK_PORT=tcp://10.0.0.1:2379")
	misspelt := plain.with("FENCELOCK_CLIENT_TLL=9s")
	for _, args := range [][]string{{"config", "show"}, {"config", "validate"}, {"config", "validate", "-o", "json"}, {"config", "show", "-o", "yaml"}} {
		want := plain.run(args...).want(t, codeOK)
		if got := misspelt.run(args...); got.code != codeOK || got.stdout != want.stdout || got.stderr != warning {
			t.Errorf("%v: exit code %d, standard error %q, standard output %q; want 0, %q, %q", args, got.code, got.stderr, got.stdout, warning, want.stdout)
		}
	}
	bad := fileOf(t, "client:\n  ttl: 1ms\n")
	misspelt.run("config", "validate", bad).want(t, codeFailure, warning, bad+":2: ")
}
