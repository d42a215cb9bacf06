package cli

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// completions are the words that a shell would offer, without descriptions, and what
// it is told about files: ":4" for none.
func (c caller) completions(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	r := c.run(append([]string{"__complete"}, args...)...)
	if r.code != codeOK {
		t.Fatalf("%q: exit code %d, %s", args, r.code, r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words = append(words, word)
	}
	return words[:len(words)-1], words[len(words)-1]
}

func TestCompletionFromTheCluster(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c := newTestClient(t, cluster.Endpoints())
	held := mustLock(t, c, "acct/1")
	mustLock(t, c, "acct/2")
	mustLock(t, c, "jobs")
	if _, err := c.LockShared(testContext(t), "acct/s"); err != nil {
		t.Fatal(err)
	}
	token := held.Token().String()
	for _, test := range []struct{ args, want, directive string }{
		{"lock |", "acct/1 acct/2 acct/s jobs", ":4"},
		{"lock acct/|", "acct/1 acct/2 acct/s", ":4"},
		{"lock acct/1 acct/|", "acct/2 acct/s", ":4"},
		{"lock acct/1 -- |", "", ":0"},
		{"locks j|", "jobs", ":4"},
		{"inspect acct/|", "acct/1 acct/2 acct/s", ":4"},
		{"inspect acct/1 |", "", ":4"},
		{"watch acct//|", "", ":4"},
		{"break acct/1 --token |", token, ":4"},
		{"break --token |", "", ":4"},
		{"check acct/1|", "acct/1#" + token, ":4"},
		{"check acct/s|", "", ":4"},
		{"kv get j|", "jobs", ":4"},
		{"kv get jobs |", "", ":4"},
		{"locks -o |", "table json yaml", ":4"},
		{"server --log-level |", "debug info warn error", ":4"},
		{"server --defrag |", "off", ":4"},
		{"completion |", "bash zsh fish", ":4"},
		{"config |", "show validate", ":4"},
	} {
		args := strings.Split(strings.TrimSuffix(test.args, "|"), " ")
		words, directive := at(cluster.Endpoint(0)).completions(t, args...)
		if got := strings.Join(words, " "); got != test.want || directive != test.directive {
			t.Errorf("%s: %q %s, want %q %s", test.args, got, directive, test.want, test.directive)
		}
	}
	r := at(cluster.Endpoint(0)).run("__complete", "inspect", "acct/1")
	if !strings.Contains(r.stdout, "acct/1\ttester\n") {
		t.Errorf("%q, want the holder as a description", r.stdout)
	}
}

// Without a cluster, or with settings that cannot be, nothing is offered, soon and
// silently.
func TestCompletionWithoutACluster(t *testing.T) {
	start := time.Now()
	for _, c := range []caller{at(deadEndpoint(t)), at("nonsense"), at(deadEndpoint(t)).with("FENCELOCK_CLIENT_USER=u", "FENCELOCK_CLIENT_PASSWORD=p")} {
		r := c.run("__complete", "lock", "")
		if r.code != codeOK || r.stdout != ":4\n" || strings.Contains(r.stderr, "fencelock:") {
			t.Errorf("exit code %d, %q, standard error %q; want nothing offered", r.code, r.stdout, r.stderr)
		}
	}
	if took := time.Since(start); took > 5*completionTime {
		t.Errorf("took %v, want at most %v each", took, completionTime)
	}
}

func TestCompletionScripts(t *testing.T) {
	for shell, part := range map[string]string{"bash": "complete -o default", "zsh": "#compdef fencelock", "fish": "complete -c fencelock"} {
		r := caller{}.run("completion", shell).want(t, codeOK)
		if !strings.Contains(r.stdout, part) {
			t.Errorf("%s: no %q", shell, part)
		}
		if shell == "bash" {
			check := exec.CommandContext(testContext(t), "bash", "-n")
			check.Stdin = strings.NewReader(r.stdout)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("bash -n: %v: %s", err, out)
			}
		}
	}
	caller{}.run("completion", "tcsh").want(t, codeUsage, "want one of bash, zsh, fish")
}
