package filefence_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
)

func seq(token fencing.Token) fencing.Sequencer {
	return fencing.Sequencer{Lock: "reports/daily", Token: token}
}

func open(t *testing.T, cfg filefence.Config) *filefence.File {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "report")
	}
	f, err := filefence.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustWrite(t *testing.T, f *filefence.File, token fencing.Token, text string) {
	t.Helper()
	if err := f.Write(t.Context(), seq(token), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, cfg := range map[string]filefence.Config{
		"no path":            {},
		"a folder":           {Path: "reports/"},
		"this folder":        {Path: "."},
		"a side file":        {Path: "report.fence"},
		"a fence's turn":     {Path: "report.fence.new"},
		"a fence's new side": {Path: "report.fence.tmp"},
		"a fence's new file": {Path: "report.fence.data"},
		"setuid":             {Path: "report", Mode: fs.ModeSetuid | 0o755},
	} {
		if _, err := filefence.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Without Config.Guard the first holder's lock guards the file, also for those who
// come with another idea.
func TestFirstUseBindsTheGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	mustWrite(t, open(t, filefence.Config{Path: path}), 7, "x")
	other := fencing.Sequencer{Lock: "reports/weekly", Token: 99}
	for name, cfg := range map[string]filefence.Config{
		"no guard":    {Path: path},
		"their guard": {Path: path, Guard: other.Lock},
	} {
		if err := open(t, cfg).Write(t.Context(), other, nil); !errors.Is(err, fencing.ErrWrongGuard) {
			t.Errorf("%s: got %v, want ErrWrongGuard", name, err)
		}
	}
	wantText(t, path, "x")
}

func TestReadOfNothingClaimsTheFence(t *testing.T) {
	f := open(t, filefence.Config{})
	if _, err := f.Read(t.Context(), seq(34)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if err := f.Append(t.Context(), seq(33), []byte("late")); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("got %v, want ErrStale", err)
	}
}

// A missing folder is not a missing file: no fence was claimed.
func TestMissingFolder(t *testing.T) {
	f := open(t, filefence.Config{Path: filepath.Join(t.TempDir(), "no", "report")})
	if _, err := f.Read(t.Context(), seq(34)); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error that is not fs.ErrNotExist", err)
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	f := open(t, filefence.Config{Path: path})
	for _, text := range []string{"a", "bc", ""} {
		if err := f.Append(t.Context(), seq(1), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	wantText(t, path, "abc")
}

func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	f := open(t, filefence.Config{Path: path, Mode: 0o640})
	mustWrite(t, f, 1, "x")
	if got, side := mode(path), mode(path+".fence"); got != 0o640 || side != 0o640 {
		t.Errorf("created: file %v, side file %v, want both 0640", got, side)
	}
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, f, 2, "y")
	if err := f.Append(t.Context(), seq(3), []byte("z")); err != nil {
		t.Fatal(err)
	}
	if got, side := mode(path), mode(path+".fence"); got != 0o604 || side != 0o640 {
		t.Errorf("replaced: file %v, side file %v, want 0604 and 0640", got, side)
	}
}

// Each name of a file leads to its one fence, and links stay links.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	path, link, chain := filepath.Join(dir, "report"), filepath.Join(dir, "latest"), filepath.Join(dir, "sub", "current")
	if err := errors.Join(os.Symlink("report", link), os.Mkdir(filepath.Dir(chain), 0o700), os.Symlink("../latest", chain)); err != nil {
		t.Fatal(err)
	}
	far := open(t, filefence.Config{Path: chain})
	mustWrite(t, far, 2, "through a chain of links that leads nowhere yet")
	mustWrite(t, open(t, filefence.Config{Path: link}), 3, "linked")
	wantText(t, path, "linked")
	if err := far.Write(t.Context(), seq(2), nil); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("got %v, want ErrStale", err)
	}
	if err := far.Delete(t.Context(), seq(3)); err != nil {
		t.Error(err)
	}
	mustWrite(t, far, 3, "again")
	wantText(t, path, "again")
	if entries, _ := filepath.Glob(filepath.Join(dir, "sub", "*")); len(entries) != 1 {
		t.Errorf("beside the link lie %q", entries)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("latest", path); err != nil {
		t.Fatal(err)
	}
	if err := far.Write(t.Context(), seq(4), nil); err == nil {
		t.Error("wrote through links that lead to each other")
	}
}

// Only whole files are fenced: a rename would put one in the place of something else.
func TestOtherThanFiles(t *testing.T) {
	f := open(t, filefence.Config{Path: t.TempDir()})
	for name, operate := range map[string]func() error{
		"read":   func() error { _, err := f.Read(t.Context(), seq(1)); return err },
		"write":  func() error { return f.Write(t.Context(), seq(1), nil) },
		"append": func() error { return f.Append(t.Context(), seq(1), nil) },
		"delete": func() error { return f.Delete(t.Context(), seq(1)) },
	} {
		if err := operate(); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s of a folder: got %v, want it refused", name, err)
		}
	}
}

// The order is the promise: the fence is on the disk before the data has its name.
func TestSteps(t *testing.T) {
	f := open(t, filefence.Config{})
	var steps []string
	f.OnStep(func(name string) { steps = append(steps, name) })
	replace := func(suffix string) []string {
		return []string{"create " + suffix, "fill " + suffix, "sync " + suffix, "rename " + suffix, "sync the folder"}
	}
	side, change := replace(".fence.tmp"), replace(".fence.data")
	first := slices.Concat([]string{"create .fence.new", "lock .fence.new"}, side[:4], side, change) // created, then raised
	for _, want := range [][]string{first, slices.Concat([]string{"lock the side file"}, change)} {
		steps = nil
		mustWrite(t, f, 1, "x")
		if !slices.Equal(steps, want) {
			t.Errorf("got steps %q, want %q", steps, want)
		}
	}
}

// Another File cannot know that the fence is on the disk: its writer may have died
// before it synced the folder.
func TestFenceIsSyncedByWhoeverFindsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	mustWrite(t, open(t, filefence.Config{Path: path}), 1, "x")
	var steps []string
	f := open(t, filefence.Config{Path: path})
	f.OnStep(func(name string) { steps = append(steps, name) })
	for range 2 {
		if err := f.Advance(t.Context(), seq(1)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"lock the side file", "sync the folder", "lock the side file"}; !slices.Equal(steps, want) {
		t.Errorf("got steps %q, want %q", steps, want)
	}
}

func TestUnsyncedChangeIsUncertain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := open(t, filefence.Config{Path: filepath.Join(dir, "report")})
	mustWrite(t, f, 1, "old")
	for name, operate := range map[string]func() error{
		"write":  func() error { return f.Write(t.Context(), seq(1), []byte("new")) },
		"delete": func() error { return f.Delete(t.Context(), seq(1)) },
	} {
		f.OnStep(func(step string) {
			if step == "sync the folder" {
				if err := os.Rename(dir, dir+".away"); err != nil {
					t.Fatal(err)
				}
			}
		})
		if err := operate(); !errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("%s: got %v, want ErrUncertain", name, err)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		f.OnStep(func(string) {})
		mustWrite(t, f, 1, "old")
	}
}

// If raising the fence fails in the middle, nothing of the data has changed.
func TestFenceThatCannotBeSyncedWritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "report")
	f := open(t, filefence.Config{Path: path})
	mustWrite(t, f, 1, "old")
	f.OnStep(func(step string) {
		if step == "sync the folder" {
			if err := os.Rename(dir, dir+".away"); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := f.Write(t.Context(), seq(2), []byte("new")); err == nil || errors.Is(err, fencing.ErrUncertain) {
		t.Errorf("got %v, want an error other than ErrUncertain", err)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	wantText(t, path, "old")
}

// One operation at a time, between Files and within one; whoever waits can give up.
func TestWaitingEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	inside, goOn := make(chan struct{}), make(chan struct{})
	slow := open(t, filefence.Config{Path: path, Verify: func(context.Context, fencing.Sequencer) error {
		close(inside)
		<-goOn
		return nil
	}})
	done := make(chan error)
	go func() { done <- slow.Write(t.Context(), seq(1), []byte("slow")) }()
	<-inside
	for name, f := range map[string]*filefence.File{"same File": slow, "another": open(t, filefence.Config{Path: path})} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := f.Write(ctx, seq(2), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want DeadlineExceeded", name, err)
		}
		cancel()
	}
	waits := make(chan error)
	go func() { waits <- open(t, filefence.Config{Path: path}).Write(t.Context(), seq(2), []byte("waited")) }()
	close(goOn)
	if err := errors.Join(<-done, <-waits); err != nil {
		t.Error(err)
	}
	wantText(t, path, "waited")
}

// The new side file is locked before it has the name.
func TestNobodyGetsInBetweenSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	f, other := open(t, filefence.Config{Path: path}), open(t, filefence.Config{Path: path})
	mustWrite(t, f, 1, "x")
	f.OnStep(func(step string) {
		if step == "lock the side file" {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := other.Read(ctx, seq(3)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before %q: got %v, want DeadlineExceeded", step, err)
		}
	})
	mustWrite(t, f, 2, "y")
}

// Between its open and its lock the side file is replaced: what was locked is not
// the fence any more.
func TestSideFileIsReplacedWhileWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	late, newer := open(t, filefence.Config{Path: path}), open(t, filefence.Config{Path: path})
	mustWrite(t, late, 1, "x")
	overtake := sync.OnceFunc(func() { mustWrite(t, newer, 2, "newer") })
	late.OnStep(func(string) { overtake() })
	if err := late.Write(t.Context(), seq(1), []byte("late")); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("got %v, want ErrStale", err)
	}
	wantText(t, path, "newer")
}

// A Verify that outlasts the context changes nothing.
func TestVerifyOutlastsTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "report")
	f := open(t, filefence.Config{Path: path, Verify: func(context.Context, fencing.Sequencer) error { cancel(); return nil }})
	if err := f.Write(ctx, seq(9), []byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
	wantText(t, path+".fence", filefence.Encode(fencing.Sequencer{}))
}
