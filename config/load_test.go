package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// sample is a value that s accepts and that is not its default.
func sample(t *testing.T, s setting) string {
	t.Helper()
	switch kind := s.value.Type(); kind {
	case kindText:
		return "sample"
	case kindBool:
		return "true"
	case kindList:
		return "10.0.0.7:17,https://b.example:18"
	case kindDuration:
		return "7s"
	case kindSize:
		return "3GiB"
	default: // one of several, the default first
		return kind[strings.LastIndex(kind, "|")+1:]
	}
}

// shown is the text of the setting with this key, as c has it.
func shown(t *testing.T, c Config, key string) string {
	t.Helper()
	for _, s := range settings(&c) {
		if s.key == key {
			return s.value.String()
		}
	}
	t.Fatalf("no setting %s", key)
	return ""
}

func allSettings() []setting { return settings(new(Config)) }

// allFlags has every flag there is.
func allFlags() *pflag.FlagSet {
	var keys []string
	for _, s := range allSettings() {
		keys = append(keys, s.key)
	}
	flags := pflag.NewFlagSet("all", pflag.ContinueOnError)
	AddFlags(flags, keys...)
	return flags
}

// inFile is a file that sets one key.
func inFile(t *testing.T, key, value string) string {
	t.Helper()
	section, name, found := strings.Cut(key, ".")
	if !found {
		return file(t, key+": "+value+"\n")
	}
	return file(t, section+":\n  "+name+": "+value+"\n")
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fencelock.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLoad(t *testing.T, from Sources) Config {
	t.Helper()
	c, err := Load(from)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

// Each setting takes effect when it is given in one place alone.
func TestEachSettingFromEachPlace(t *testing.T) {
	for _, s := range allSettings() {
		t.Run(s.key, func(t *testing.T) {
			want := sample(t, s)
			path := inFile(t, s.key, want)
			places := map[Layer]Sources{
				File:        {File: path},
				Environment: {Env: []string{s.variable() + "=" + want}},
			}
			if s.flag != "" {
				flags := allFlags()
				if err := flags.Parse([]string{"--" + s.flag + "=" + want}); err != nil {
					t.Fatal(err)
				}
				places[Flag] = Sources{Flags: flags}
			}
			names := map[Layer]string{File: path, Environment: s.variable(), Flag: "--" + s.flag}
			for layer, from := range places {
				c := mustLoad(t, from)
				if got := shown(t, c, s.key); got != want {
					t.Errorf("layer %v: %s = %q, want %q", layer, s.key, got, want)
				}
				if got, want := c.Origin(s.key), (Origin{layer, names[layer]}); got != want {
					t.Errorf("origin of %s = %v, want %v", s.key, got, want)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	c := mustLoad(t, Sources{Flags: allFlags(), Env: []string{"FENCELOCK_CLIENT_TTL="}})
	for _, s := range allSettings() {
		if got := shown(t, c, s.key); got != s.def && !(strings.HasPrefix(s.value.Type(), kindDuration) && sameDuration(got, s.def)) {
			t.Errorf("%s = %q, want the default %q", s.key, got, s.def)
		}
		if got := c.Origin(s.key); got != (Origin{}) {
			t.Errorf("origin of %s = %v, want the default", s.key, got)
		}
	}
}

func sameDuration(a, b string) bool {
	x, _ := time.ParseDuration(a)
	y, err := time.ParseDuration(b)
	return err == nil && x == y
}

func TestOrder(t *testing.T) {
	flags := allFlags()
	if err := flags.Parse([]string{"--ttl", "4s"}); err != nil {
		t.Fatal(err)
	}
	path := file(t, "client:\n  ttl: 2s\n  owner: file\n  namespace: file/\n")
	c := mustLoad(t, Sources{Flags: flags, File: path,
		Env: []string{"FENCELOCK_CLIENT_TTL=3s", "FENCELOCK_CLIENT_OWNER=environment"}})
	if c.Client.TTL != 4*time.Second || c.Client.Owner != "environment" || c.Client.Namespace != "file/" {
		t.Errorf("TTL %v, owner %q, namespace %q; want 4s by flag, by environment, by file", c.Client.TTL, c.Client.Owner, c.Client.Namespace)
	}
}

// The file's own name follows the same order.
func TestFileByVariable(t *testing.T) {
	one, two := inFile(t, "client.owner", "one"), inFile(t, "client.owner", "two")
	c := mustLoad(t, Sources{Env: []string{"FENCELOCK_CONFIG=" + one}})
	if c.Client.Owner != "one" {
		t.Errorf("owner %q, want that of FENCELOCK_CONFIG", c.Client.Owner)
	}
	c = mustLoad(t, Sources{Env: []string{"FENCELOCK_CONFIG=" + one}, File: two})
	if c.Client.Owner != "two" {
		t.Errorf("owner %q, want that of the file given", c.Client.Owner)
	}
}

// What "fencelock lock" tells its command must not come back as a setting, and
// what Kubernetes sets must not be one either.
func TestNamesThatAreNoSettings(t *testing.T) {
	taken := []string{"FENCELOCK_LOCK", "FENCELOCK_TOKEN", "FENCELOCK_SEQUENCER", "FENCELOCK_SEQUENCERS",
		"FENCELOCK_CONFIG", "FENCELOCK_PORT", "FENCELOCK_SERVICE_HOST", "FENCELOCK_SERVER_PORT", "FENCELOCK_CLIENT_PORT"}
	var env []string
	for _, name := range taken {
		if name != FileVariable {
			env = append(env, name+"=tcp://10.0.0.1:2379")
		}
	}
	for _, s := range allSettings() {
		if slices.Contains(taken, s.variable()) {
			t.Errorf("%s is read from %s", s.key, s.variable())
		}
		if slices.Contains([]string{"lock", "token", "sequencer"}, s.flag) {
			t.Errorf("%s has the flag --%s", s.key, s.flag)
		}
	}
	mustLoad(t, Sources{Env: env})
}

func TestNamesAreDistinct(t *testing.T) {
	seen := map[string]string{}
	for _, s := range allSettings() {
		names := []string{s.key, s.variable()}
		if s.flag != "" {
			names = append(names, "--"+s.flag)
		}
		for _, name := range names {
			if other, ok := seen[name]; ok {
				t.Errorf("%s names %s and %s", name, other, s.key)
			}
			seen[name] = s.key
		}
	}
}

func TestSecretsHaveNoFlag(t *testing.T) {
	for _, s := range allSettings() {
		if s.secret && s.flag != "" {
			t.Errorf("%s has the flag --%s: everybody sees a process's arguments", s.key, s.flag)
		}
		if strings.Contains(s.key, "password") && !s.secret {
			t.Errorf("%s is no secret", s.key)
		}
	}
}
