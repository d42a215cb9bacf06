package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// overlay writes what go's -overlay flag reads, and the changed files beside it.
// It returns the file's path.
func overlay(root, folder string, m Mutant) (string, error) {
	texts, err := mutate(root, m)
	if err != nil {
		return "", err
	}
	var replaced struct{ Replace map[string]string }
	replaced.Replace = map[string]string{}
	for file, text := range texts {
		changed := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("write mutant %q: %w", m.Name, err)
		}
		replaced.Replace[filepath.Join(root, filepath.FromSlash(file))] = changed
	}
	out, err := json.Marshal(replaced)
	if err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	return path, nil
}

// mutate returns the changed files' texts, by their paths in the tree.
func mutate(root string, m Mutant) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range m.Edits {
		text, known := texts[e.File]
		if !known {
			read, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
			if err != nil {
				return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
			}
			text = string(read)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("mutant %q: its text occurs %d times in %s, want once: if the source has changed, change test/mutants with it:\n%s", m.Name, n, e.File, e.Old)
		}
		texts[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return texts, nil
}
