package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ofService matches what Kubernetes tells every container about a service, whose
// name is "fencelock" or begins with it: FENCELOCK_PORT_2379_TCP_ADDR. No setting
// has such a name.
var ofService = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// UnknownVariables names, in the order of the alphabet, each variable of env (as
// os.Environ) that looks like a setting, is not empty, and is neither one nor among
// others: FENCELOCK_CLIENT_TLL says nothing to [Load]. Each text says which was
// probably meant, if one was. Values are not in them.
func UnknownVariables(env []string, others ...string) []string {
	known := append([]string{FileVariable}, others...)
	for _, s := range settings(new(Config)) {
		known = append(known, s.variable())
	}
	var list []string
	for name, value := range environment(env) {
		if value != "" && strings.HasPrefix(name, prefix) && !slices.Contains(known, name) && !ofService.MatchString(name) {
			list = append(list, unknownVariable(name, known))
		}
	}
	slices.Sort(list)
	return list
}

func unknownVariable(name string, known []string) string {
	if meant := closestVariable(name, known); meant != "" {
		return fmt.Sprintf("%s: no such setting; did you mean %s?", name, meant)
	}
	return name + ": no such setting"
}

// closestVariable is [Closest] for variables: the prefix that all have, and the
// section, are not what a mistake is measured by.
func closestVariable(name string, known []string) string {
	word := strings.TrimPrefix(name, prefix)
	for _, k := range known {
		if strings.HasSuffix(k, "_"+word) && strings.Count(k, "_") > 1 { // it lacks its section
			return k
		}
	}
	dotted := make([]string, len(known))
	for i, k := range known {
		dotted[i] = strings.Replace(strings.TrimPrefix(k, prefix), "_", ".", 1)
	}
	if i := slices.Index(dotted, Closest(strings.Replace(word, "_", ".", 1), dotted)); i >= 0 {
		return known[i]
	}
	return ""
}
