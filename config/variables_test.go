package config

import (
	"slices"
	"testing"
)

func TestUnknownVariables(t *testing.T) {
	for name, want := range map[string]string{
		"FENCELOCK_CLIENT_TLL":        "; did you mean FENCELOCK_CLIENT_TTL?",
		"FENCELOCK_CLIENT_DIALTIMOUT": "; did you mean FENCELOCK_CLIENT_DIAL_TIMEOUT?",
		"FENCELOCK_CLEINT_TTL":        "; did you mean FENCELOCK_CLIENT_TTL?",
		"FENCELOCK_DATA_DIR":          "; did you mean FENCELOCK_SERVER_DATA_DIR?",
		"FENCELOCK_TTL":               "; did you mean FENCELOCK_CLIENT_TTL?",
		"FENCELOCK_CONFIGS":           "; did you mean FENCELOCK_CONFIG?",
		"FENCELOCK_OTHR":              "; did you mean FENCELOCK_OTHER?",
		"FENCELOCK_CLIENT_COLOUR":     "",
		"FENCELOCK_":                  "",
	} {
		got := UnknownVariables([]string{name + "=s3cret"}, "FENCELOCK_OTHER")
		if !slices.Equal(got, []string{name + ": no such setting" + want}) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	both := UnknownVariables([]string{"FENCELOCK_Z=1", "FENCELOCK_A=1"})
	if !slices.Equal(both, []string{"FENCELOCK_A: no such setting", "FENCELOCK_Z: no such setting"}) {
		t.Errorf("%q, want both, sorted", both)
	}
}

// Settings, what others read, what Kubernetes sets for services called fencelock,
// fencelock-client and fencelock-server, and what is empty are no mistakes.
func TestVariablesThatAreNoMistakes(t *testing.T) {
	env := []string{"FENCELOCK_OTHER=1", "FENCELOCK_CONFIG=f", "FENCELOCK_CLIENT_TLL=", "FENCELOCKS=1", "fencelock_x=1", "HOME=/",
		"FENCELOCK_SERVICE_HOST=h", "FENCELOCK_SERVICE_PORT=1", "FENCELOCK_SERVICE_PORT_CLIENT=1", "FENCELOCK_PORT=tcp://h:1",
		"FENCELOCK_PORT_2379_TCP=tcp://h:1", "FENCELOCK_PORT_2379_TCP_PROTO=tcp", "FENCELOCK_PORT_2379_TCP_PORT=1",
		"FENCELOCK_PORT_2379_TCP_ADDR=h", "FENCELOCK_CLIENT_PORT=tcp://h:1", "FENCELOCK_SERVER_SERVICE_HOST=h"}
	for _, s := range allSettings() {
		env = append(env, s.variable()+"=x")
		if ofService.MatchString(s.variable()) {
			t.Errorf("%s could be what Kubernetes sets for a service", s.variable())
		}
	}
	if got := UnknownVariables(env, "FENCELOCK_OTHER"); len(got) != 0 {
		t.Errorf("%q, want none", got)
	}
}
