package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/test/servers"
)

// The replicas are further processes of the test's program.
func TestMain(m *testing.M) {
	if os.Getenv(replicaSettings) != "" {
		main()
		return
	}
	servers.Main(m)
}

func TestSQLite(t *testing.T) { testStory(t, "") }

func TestPostgreSQL(t *testing.T) { testStory(t, servers.Postgres(t)) }

// testStory wants the late booking refused; play itself looks at everything else.
func testStory(t *testing.T, postgres string) {
	var out bytes.Buffer
	if err := play(t.Context(), postgres, newTimeline(&out)); err != nil {
		t.Errorf("the story: %v\n%s", err, &out)
	}
	if want := "replica A  answers 409"; !strings.Contains(out.String(), want) {
		t.Errorf("the timeline has no %q:\n%s", want, &out)
	}
}
