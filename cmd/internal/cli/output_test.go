package cli

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cmd/internal/bench"
	"github.com/fencelock/fencelock/cmd/internal/demo"
)

// Every field that these results have is in docs/output.md, in the section of its
// command.
func TestFieldsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := sectionsOf(string(text))
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

		"lock":                           {announced{}, announcedLock{}},
		"member list":                    {memberState{}},
		"member add, member replace":     {added{}},
		"member promote, member remove":  {changed{}},
		"alarm list":                     {alarm{}},
		"alarm clear, defrag":            {defragmentedMember{}},
		"snapshot save, snapshot verify": {snapshotState{}},
		"snapshot restore":               {restored{}},
		"cert create":                    {certFiles{}, certFile{}},
		"auth status":                    {authState{}},
		"auth user list":                 {authUser{}},
		"auth role list":                 {authRole{}, authRight{}},
		"demo":                           {demo.Report{}, demo.Result{}, demo.Tokens{}},

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

func sectionsOf(text string) map[string]string {
	sections := map[string]string{}
	for section := range strings.SplitSeq(text, "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		sections[strings.ReplaceAll(title, "`", "")] = body
	}
	return sections
}

// Each command has a section there, or is said to print nothing by -o.
func TestCommandsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := []string{"server", "top", "completion"} // in the introduction
	for title := range sectionsOf(string(text)) {
		documented = append(documented, strings.Split(title, ", ")...)
	}
	visit(newRootCommand(&app{}), func(cmd *cobra.Command) {
		name := commandName(cmd)
		changesUsers := strings.HasPrefix(name, "auth ") && !strings.HasSuffix(name, " list") && name != "auth status"
		group := cmd.HasSubCommands() || strings.HasPrefix(name, "kv ") // whose section is one for all
		if !changesUsers && !group && !slices.Contains(documented, name) {
			t.Errorf("docs/output.md has no section on %q", name)
		}
	})
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
