package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func createCerts(t *testing.T, args ...string) certFiles {
	t.Helper()
	r := caller{}.run(append([]string{"cert", "create", "-o", "json"}, args...)...).want(t, codeOK)
	var files certFiles
	if err := json.Unmarshal([]byte(r.stdout), &files); err != nil {
		t.Fatalf("%q: %v", r.stdout, err)
	}
	return files
}

func TestCertCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	peers := "a.example:2380,b.example:2380,[::1]:2380"
	files := createCerts(t, "--dir", dir, "--peers", peers, "--client", "root,billing", "--jwt")
	if len(files.Files) != 7 || len(files.Servers) != 3 {
		t.Fatalf("made %+v, want a CA, three members, two clients, a key pair", files)
	}
	for _, f := range files.Files {
		if info, err := os.Stat(f.Key); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("key %s: %v, %v; want mode 0600", f.Key, info, err)
		}
	}
	if got := files.Servers[0]; !strings.Contains(got, "--peers 'a.example:2380,b.example:2380,[::1]:2380'") && !strings.Contains(got, "--peer-cert-auth") {
		t.Errorf("command %q", got)
	}
	again := createCerts(t, "--dir", dir, "--peers", peers, "--client", "later")
	if again.Files[1].Kept != true || again.Files[4].Kept {
		t.Errorf("made again: %+v, want the members kept, and the client made", again.Files)
	}
	caller{}.run("cert", "create", "--dir", dir, "--peers", peers).want(t, codeOK)
}

func TestCertCreateRefusals(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"":                               "nothing to make",
		"--client a/b":                   "want letters, digits",
		"--client .a":                    "does not begin with",
		"--client ca":                    "share the file ca.pem",
		"--client a,A":                   "share the file",
		"--client a --days 0":            "want a number, 1 to 3650",
		"--client a --days -1":           "want a number, 1 to 3650",
		"--client a --renew --force":     "give one of both",
		"--client a --also b:1":          "without a port",
		"--peers a --client b":           "want a host and a port",
		"--client x --dir /proc/nowhere": "make folder",
	} {
		full := append([]string{"cert", "create", "--dir", dir}, strings.Fields(args)...)
		r := caller{}.run(full...)
		if want != "" && (r.code == codeOK || !strings.Contains(r.stderr, want)) {
			t.Errorf("%s: code %d, %q; want %q", args, r.code, r.stderr, want)
		}
	}
}
