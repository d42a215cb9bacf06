package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// linesOf finds the line on which each key of a YAML file stands, by the key's full
// name in small letters, as viper knows it. A text that is no YAML has none.
func linesOf(text []byte) map[string]int {
	lines := map[string]int{}
	var document yaml.Node
	if yaml.Unmarshal(text, &document) == nil && len(document.Content) > 0 {
		addLines(lines, "", document.Content[0])
	}
	return lines
}

func addLines(lines map[string]int, section string, node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 { // keys and values take turns
		key := section + strings.ToLower(node.Content[i].Value)
		lines[key] = node.Content[i].Line
		addLines(lines, key+".", node.Content[i+1])
	}
}
