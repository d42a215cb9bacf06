package cli

import (
	"slices"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// What "fencelock lock" tells its command. No setting reads lockVariable or
// tokenVariable; sequencerVariable and sequencersVariable are the defaults of
// --sequencer.
const (
	lockVariable       = "FENCELOCK_LOCK"
	tokenVariable      = "FENCELOCK_TOKEN"
	sequencerVariable  = "FENCELOCK_SEQUENCER"
	sequencersVariable = "FENCELOCK_SEQUENCERS" // of several locks, one a line
)

// environment is that of the command. What an outer "fencelock lock" put there is
// replaced.
func environment(env, names []string, sequencers []fencing.Sequencer) []string {
	env = slices.DeleteFunc(slices.Clone(env), isOutput)
	switch {
	case len(names) > 1: // their claims bear one token
		return append(env, tokenVariable+"="+sequencers[0].Token.String(), sequencersVariable+"="+oneALine(sequencers))
	case len(sequencers) == 0:
		return append(env, lockVariable+"="+names[0])
	}
	return append(env,
		lockVariable+"="+names[0],
		tokenVariable+"="+sequencers[0].Token.String(),
		sequencerVariable+"="+sequencers[0].String())
}

func isOutput(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return slices.Contains([]string{lockVariable, tokenVariable, sequencerVariable, sequencersVariable}, name)
}

func oneALine(sequencers []fencing.Sequencer) string {
	var lines []string
	for _, s := range sequencers {
		lines = append(lines, s.String())
	}
	return strings.Join(lines, "\n")
}
