package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/cmd/internal/bench"
)

// Every field that these results have is in docs/output.md, in the section of its
// command.
func TestFieldsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for section := range strings.SplitSeq(string(text), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		sections[strings.Trim(title, "`")] = body
	}
	for title, results := range map[string][]any{
		"A claim": {claim{}},
		"locks":   {lockState{}},
		"inspect": {fence{}, struct {
			Fence, Findings, Deadlock any `json:",omitempty"`
		}{}},
		"watch":   {event{}},
		"break":   {broken{}},
		"check":   {checked{}},
		"kv":      {record{}, written{}, removed{}},
		"status":  {clusterState{}, endpointState{}},
		"version": {version{}},
		"bench":   {bench.Report{}, bench.Result{}},

		"config show":     {shownSetting{}},
		"config validate": {validity{}},
	} {
		for _, result := range results {
			for _, field := range fieldsOf(reflect.TypeOf(result)) {
				if !strings.Contains(sections[title], "`"+field+"`") {
					t.Errorf("docs/output.md: the section %q does not have the field %s", title, field)
				}
			}
		}
	}
	if fields := fieldsOf(reflect.TypeFor[inspection]()); len(fields) != 7 {
		t.Errorf("inspect has the fields %v, want those of locks and three more", fields)
	}
}

// fieldsOf are the names of a result's fields, those of what it embeds too.
func fieldsOf(result reflect.Type) (names []string) {
	for field := range result.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			names = append(names, fieldsOf(field.Type)...)
		case field.IsExported() && name == "":
			names = append(names, strings.ToLower(field.Name))
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}
