package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// shell is a screen of 80 columns and 12 lines without a program around it.
func shell() *screen {
	s := newScreen(Config{Visible: func(text string) string { return strings.ReplaceAll(text, "\x1b", "?") }})
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 12})
	return s
}

func claimed(token int, owner string, ago time.Duration, labels map[string]string) client.Claim {
	return client.Claim{Token: fencing.Token(token), ClaimValue: keys.ClaimValue{Owner: owner, Mode: keys.Exclusive, Since: time.Now().Add(-ago), Labels: labels}}
}

func sample() snapshot {
	return snapshot{at: time.Now(), locks: []client.LockInfo{
		{Name: "b", Holders: []client.Claim{claimed(30, "bob", time.Minute, nil)}},
		{Name: "c", Holders: []client.Claim{claimed(10, "eve\x1b", time.Hour, map[string]string{"job": "7"})},
			Waiters: []client.Claim{claimed(11, "w1", time.Second, nil), claimed(12, "w2", time.Second, map[string]string{"why": "x"})}},
		{Name: "a", Holders: []client.Claim{claimed(20, "", 2*time.Second, nil)}, Waiters: []client.Claim{claimed(21, "w3", 0, nil)}},
	}}
}

// press types keys, by name or as text.
func (s *screen) pressAll(names ...string) (quit bool) {
	codes := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp},
		"backspace": {Code: tea.KeyBackspace}, "pgdown": {Code: tea.KeyPgDown}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	}
	for _, name := range names {
		key, ok := codes[name]
		if !ok {
			key = tea.Key{Code: rune(name[0]), Text: name}
		}
		if _, cmd := s.Update(tea.KeyPressMsg(key)); cmd != nil {
			_, quit = cmd().(tea.QuitMsg)
		}
	}
	return quit
}

func (s *screen) text() string { return ansi.Strip(s.View().Content) }

// rowsShown are the names in the table, from top to bottom.
func (s *screen) rowsShown() (names string) {
	for _, info := range s.view.shown {
		names += info.Name
	}
	return names
}

func TestSorting(t *testing.T) {
	s := shell()
	s.Update(sample())
	for _, test := range []struct{ key, want string }{
		{"", "abc"}, {"a", "cba"}, {"a", "abc"}, {"w", "cab"}, {"t", "bac"}, {"t", "cab"}, {"n", "abc"}, {"n", "cba"},
	} {
		if test.key != "" {
			s.pressAll(test.key)
		}
		if got := s.rowsShown(); got != test.want {
			t.Errorf("after %q: %s, want %s", test.key, got, test.want)
		}
	}
}

func TestTable(t *testing.T) {
	s := shell()
	s.Update(sample())
	lines := strings.Split(s.text(), "\n")
	if len(lines) != 12 || !strings.Contains(lines[0], "3 locks, 3 waiting") {
		t.Errorf("%d lines, the first %q; want 12, and the counts", len(lines), lines[0])
	}
	if got := strings.Fields(lines[5]); strings.Join(got, " ") != "c 10 eve? 1h0m0s 2 job=7" {
		t.Errorf("line of c: %q", got)
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > 80 {
			t.Errorf("line %q has %d columns", line, w)
		}
	}
}

// The cursor stays with its lock, whatever comes, goes and moves around it.
// The head counts what was read, and nothing before.
func TestHead(t *testing.T) {
	s := shell()
	if head, _, _ := strings.Cut(s.text(), "\n"); strings.Contains(head, "0 locks") {
		t.Errorf("before the first answer: %q, want no number", head)
	}
	one := sample()
	one.locks = one.locks[:1]
	s.Update(one)
	if head, _, _ := strings.Cut(s.text(), "\n"); !strings.Contains(head, "fencelock top   1 lock   by name") {
		t.Errorf("of one lock: %q", head)
	}
}

func TestCursor(t *testing.T) {
	s := shell()
	s.Update(sample())
	s.pressAll("down", "w")
	if s.view.selected != "b" || s.view.cursor() != 2 {
		t.Errorf("cursor on %s, line %d; want b, 2", s.view.selected, s.view.cursor())
	}
	without := sample()
	without.locks = without.locks[1:]
	s.Update(without)
	if s.view.selected != "a" {
		t.Errorf("cursor on %s, want a, where b was", s.view.selected)
	}
	s.Update(snapshot{at: time.Now()})
	if s.pressAll("down", "up", "pgdown", "enter"); s.detail || !strings.Contains(s.text(), "no lock is held") {
		t.Errorf("with no locks: %s", s.text())
	}
}

func TestManyLocks(t *testing.T) {
	s := shell()
	many := snapshot{at: time.Now()}
	for i := range 100 {
		many.locks = append(many.locks, client.LockInfo{Name: fmt.Sprintf("lock%02d", i), Holders: []client.Claim{claimed(i+1, "o", 0, nil)}})
	}
	s.Update(many)
	s.pressAll("G")
	if text := s.text(); !strings.Contains(text, "lock99") || strings.Contains(text, "lock50") || strings.Count(text, "\n") != 11 {
		t.Errorf("at the end: %s", text)
	}
}

func TestFilter(t *testing.T) {
	s := shell()
	s.Update(sample())
	for filter, want := range map[string]string{"BO": "b", "eve": "c", "w3": "a", "job=7": "c", "why": "c", "zzz": ""} {
		s.pressAll("/")
		s.pressAll(strings.Split(filter, "")...)
		s.pressAll("enter")
		if got := s.rowsShown(); got != want {
			t.Errorf("filter %q: %s, want %s", filter, got, want)
		}
		s.pressAll("esc")
	}
	if s.pressAll("/", "q", "backspace", "b"); s.view.filter != "b" {
		t.Errorf("filter %q, want b: q is text there", s.view.filter)
	}
	if s.pressAll("esc"); s.rowsShown() != "abc" {
		t.Errorf("after escape: %s, want all", s.rowsShown())
	}
}

func TestDetail(t *testing.T) {
	s := shell()
	s.Update(sample())
	s.pressAll("down", "down", "enter")
	text := s.text()
	for _, part := range []string{"holds  token 10  eve?", "job=7", "2 waiting, in this order", "1.     token 11  w1", "2.     token 12  w2", "why=x"} {
		before, after, found := strings.Cut(text, part)
		if !found {
			t.Fatalf("no %q in the rest of the detail: %s%s", part, before, after)
		}
		text = after
	}
	gone := sample()
	gone.locks = nil
	s.Update(gone)
	if !strings.Contains(s.text(), "nobody claims it any more") {
		t.Errorf("the lock is free: %s", s.text())
	}
	if s.pressAll("esc"); s.detail {
		t.Error("escape does not leave the detail")
	}
}

func TestFault(t *testing.T) {
	s := shell()
	s.Update(fault{errors.New("cut\x1boff")})
	if !strings.Contains(s.text(), "no answer from the cluster: cut?off") {
		t.Errorf("before the first answer: %s", s.text())
	}
	s.Update(sample())
	s.Update(fault{errors.New("cut off")})
	if text := s.text(); !strings.Contains(text, "no answer; as it was at") || !strings.Contains(text, "bob") {
		t.Errorf("after it: %s", text)
	}
	s.Update(sample())
	if strings.Contains(s.text(), "no answer") {
		t.Errorf("when it is over: %s", s.text())
	}
}

func TestQuit(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"/", "ctrl+c"}, {"enter", "q"}} {
		s := shell()
		s.Update(sample())
		if !s.pressAll(keys...) {
			t.Errorf("%q does not quit", keys)
		}
	}
}

// However small the window, it can be drawn.
func TestSmallWindows(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{}, {Width: 1, Height: 1}, {Width: 5, Height: 3}, {Width: 300, Height: 6}} {
		s := shell()
		s.Update(size)
		s.Update(sample())
		if lines := strings.Count(s.text(), "\n") + 1; lines > max(size.Height, 2) {
			t.Errorf("%v: %d lines", size, lines)
		}
		s.pressAll("enter", "down")
		s.text()
	}
}
