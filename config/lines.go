package config

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// linesOf finds the line on which each key of a YAML file stands, by the key's full
// name in small letters, as viper knows it. Its error names the keys that stand
// there twice: of "ttl" and "TTL" viper would take either.
func (s source) linesOf(text []byte) (map[string]int, error) {
	lines := map[string]int{}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, s.located(err, text)
	}
	if len(document.Content) == 0 {
		return lines, nil
	}
	return lines, errors.Join(s.addLines(lines, "", document.Content[0])...)
}

func (s source) addLines(lines map[string]int, section string, node *yaml.Node) []error {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	var errs []error
	for i := 0; i+1 < len(node.Content); i += 2 { // keys and values take turns
		name, line := node.Content[i].Value, node.Content[i].Line
		key := section + strings.ToLower(name)
		if first, ok := lines[key]; ok {
			errs = append(errs, fmt.Errorf("%s:%d: key %s already defined at line %d", s.path, line, key, first))
		} else {
			lines[key] = line
		}
		errs = append(errs, s.addLines(lines, key+".", node.Content[i+1])...)
	}
	return errs
}
