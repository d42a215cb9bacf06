package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// annotationKey marks a flag that is a setting: another command may have a flag
// of the same name that is none.
const annotationKey = "fencelock/setting"

// shorthand is the one-letter form of a flag, where there is one.
func shorthand(key string) string {
	if key == "output" {
		return "o"
	}
	return ""
}

// AddFlags declares the flags of the settings with these keys. A flag's value is
// checked as it is parsed, and [Load] takes it from there.
func AddFlags(flags *pflag.FlagSet, keys ...string) {
	for _, s := range settings(new(Config)) {
		if s.flag == "" || !slices.Contains(keys, s.key) {
			continue
		}
		flag := flags.VarPF(s.value, s.flag, shorthand(s.key), s.usage)
		flag.DefValue = s.def
		flag.Annotations = map[string][]string{annotationKey: {s.key}}
		if s.value.Type() == kindBool {
			flag.NoOptDefVal = "true"
		}
	}
}

// GlobalKeys are the keys of the settings whose flags every command has: how to
// print, and how to reach the cluster.
func GlobalKeys() []string {
	return []string{"output", "client.endpoints", "client.namespace", "client.dial-timeout",
		"client.user", "client.cacert", "client.cert", "client.key"}
}

// ServerKeys are the keys of a member's settings.
func ServerKeys() []string {
	var list []string
	for _, s := range settings(new(Config)) {
		if strings.HasPrefix(s.key, "server.") {
			list = append(list, s.key)
		}
	}
	return list
}

// changed returns the flags that were given and are settings, by key.
func changed(flags *pflag.FlagSet) map[string]*pflag.Flag {
	given := map[string]*pflag.Flag{}
	if flags == nil {
		return given
	}
	flags.Visit(func(flag *pflag.Flag) {
		for _, key := range flag.Annotations[annotationKey] {
			given[key] = flag
		}
	})
	return given
}
