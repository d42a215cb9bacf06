package config

import (
	"strings"
	"testing"
)

// What is no YAML, or not one mapping of it, is reported with its line, the first
// line and the last included.
func TestLinesOfSyntaxErrors(t *testing.T) {
	for content, want := range map[string]string{
		"client: [1,2\n":                           ":1: did not find expected ',' or ']'",
		"client: a: b\n":                           ":1: mapping values are not allowed",
		"client: \"a\n":                            ":1: found unexpected end of stream",
		"client:\n  ttl: a: b\n":                   ":2: mapping values are not allowed",
		"client:\n  ttl: 3s\n owner: x\nserver:\n": ":3: did not find expected key",
		"client:\n  ttl: 3s\n\n  ttl: 4s\n":        `:4: mapping key "ttl" already defined at line 2`,
		"client:\n  ttl: 3s\n  TTL: 4s\n":          ":3: key client.ttl already defined at line 2",
		"client:\n  ttl: 3s\nclient.ttl: 4s\n":     ":3: key client.ttl already defined at line 2",
		"client: {}\n---\nserver: {}\n":            ":2: it holds more than one YAML document",
		"client: {}\n---\nserver: [\n":             ":3: did not find expected node content",
		"{\"client\":\n {\"ttl\": 3s,\n":           ":2: did not find expected",       // JSON
		"# TOML\n[client]\nttl = \"3s\"\n":         ":2: want sections and settings",  // a list to YAML
		"ttl = \"3s\"\n[client]\nowner = \"x\"\n":  ":1: want sections and settings",  // text to YAML
		"client: *a\n":                             ": unknown anchor 'a' referenced", // which has no line
	} {
		path := file(t, content)
		_, err := Load(Sources{File: path})
		if err == nil || !strings.Contains(err.Error(), path+want) {
			t.Errorf("%q: error %v, want %s", content, err, path+want)
		}
	}
}

// Each key that stands there twice has a line of its own.
func TestEveryDuplicateIsNamed(t *testing.T) {
	path := file(t, "client:\n  ttl: 3s\n  ttl: 4s\n  owner: a\n  owner: b\n")
	_, err := Load(Sources{File: path})
	if err == nil || err.Error() != path+":3: mapping key \"ttl\" already defined at line 2\n"+path+":5: mapping key \"owner\" already defined at line 4" {
		t.Errorf("error %v, want lines 3 and 5", err)
	}
}
