package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// TestScripts runs testdata/script/*.txt, each against a member of its own whose
// store is new, so that tokens are known beforehand. "fencelock" is this program
// in a process of its own; what scripts can do besides is in scriptCommands.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("scripts: %v, %v", files, err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			cluster := clustertest.Start(t, 1)
			testscript.Run(t, testscript.Params{
				Files: []string{file},
				Cmds:  scriptCommands(),
				Setup: func(env *testscript.Env) error {
					bin := filepath.Join(env.WorkDir, ".bin")
					env.Setenv("FENCELOCK_TEST_MAIN", "1")
					env.Setenv("FENCELOCK_CLIENT_ENDPOINTS", cluster.Endpoint(0))
					env.Setenv("FENCELOCK_CLIENT_OWNER", "me")
					env.Setenv("NOBODY", deadEndpoint(t))
					env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
					if err := os.Mkdir(bin, 0o755); err != nil {
						return err
					}
					return os.Symlink(program, filepath.Join(bin, "fencelock"))
				},
			})
		})
	}
}

func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"eventually": eventually,
		"code":       code,
		"cmptext":    compareText,
	}
}

// eventually runs a command until it succeeds: for what happens in the background.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: eventually COMMAND [ARGUMENT]...")
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(testTime / 2); ; <-ticker.C {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%q: %v, for %v", args, err, testTime/2)
		}
	}
}

// code runs a command that must end with an exit code: code N COMMAND.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND [ARGUMENT]...")
	}
	err := ts.Exec("sh", append([]string{"-c", `"$@"; code=$?; test $code = "$0" || { echo "exit code $code, want $0" >&2; exit 1; }; exit 0`}, args...)...)
	ts.Check(err)
}

// compareText compares what a command printed with a file, without what cannot be
// known beforehand: cmptext stdout FILE. Ages, times left and times of day become
// AGE, LEFT and TIME, and runs of spaces one.
func compareText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmptext stdout|stderr FILE")
	}
	got, want := known(ts.ReadFile(args[0])), known(ts.ReadFile(args[1]))
	if got != want {
		ts.Fatalf("%s:\n%s\nwant, as in %s:\n%s", args[0], got, args[1], want)
	}
}
