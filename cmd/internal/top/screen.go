package top

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// clockTick is how often ages are counted anew.
const clockTick = time.Second

// tick says that a second has passed.
type tick time.Time

// screen is the model of the program.
type screen struct {
	config        Config
	view          view
	width, height int
	now           time.Time

	read  time.Time // when the locks were read last; zero: never
	fault error     // why they cannot be now; nil: they can

	detail bool // of the lock under the cursor
	scroll int  // lines that the detail is scrolled by
	typing bool // the filter
}

func newScreen(cfg Config) *screen {
	return &screen{config: cfg, now: time.Now(), width: 80, height: 24}
}

// Init begins to count.
func (s *screen) Init() tea.Cmd { return nextTick() }

func nextTick() tea.Cmd {
	return tea.Tick(clockTick, func(t time.Time) tea.Msg { return tick(t) })
}

// Update takes in what has happened.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
	case tick:
		s.now = time.Time(msg)
		return s, nextTick()
	case snapshot:
		s.view.take(msg.locks)
		s.read, s.now, s.fault = msg.at, time.Now(), nil
	case fault:
		s.fault = msg.err
	case tea.PasteMsg:
		if s.typing {
			s.view.narrow(s.view.filter + msg.Content)
		}
	case tea.KeyPressMsg:
		return s, s.press(msg)
	}
	return s, nil
}

func (s *screen) press(key tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.String() == "ctrl+c":
		return tea.Quit
	case s.typing:
		s.typeFilter(key)
		return nil
	case key.String() == "q":
		return tea.Quit
	case s.detail:
		s.pressInDetail(key.String())
		return nil
	}
	s.pressInTable(key.String())
	return nil
}

// typeFilter takes a key into the filter. Escape gives it up, Enter keeps it.
func (s *screen) typeFilter(key tea.KeyPressMsg) {
	switch key.String() {
	case "enter":
		s.typing = false
	case "esc":
		s.typing = false
		s.view.narrow("")
	case "backspace":
		if text := []rune(s.view.filter); len(text) > 0 {
			s.view.narrow(string(text[:len(text)-1]))
		}
	default:
		s.view.narrow(s.view.filter + key.Text)
	}
}

func (s *screen) pressInDetail(key string) {
	switch key {
	case "esc", "enter", "left", "h":
		s.detail = false
	case "down", "j":
		s.scroll++
	case "up", "k":
		s.scroll = max(s.scroll-1, 0)
	}
}

func (s *screen) pressInTable(key string) {
	switch key {
	case "down", "j":
		s.view.move(1)
	case "up", "k":
		s.view.move(-1)
	case "pgdown", "space":
		s.view.move(s.rows())
	case "pgup":
		s.view.move(-s.rows())
	case "home", "g":
		s.view.move(-len(s.view.shown))
	case "end", "G":
		s.view.move(len(s.view.shown))
	case "n":
		s.view.sortBy(byName)
	case "a":
		s.view.sortBy(byHeld)
	case "w":
		s.view.sortBy(byWaiters)
	case "t":
		s.view.sortBy(byToken)
	case "/":
		s.typing = true
	case "esc":
		s.view.narrow("")
	case "enter", "right", "l":
		s.detail, s.scroll = len(s.view.shown) > 0, 0
	}
}
