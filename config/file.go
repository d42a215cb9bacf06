package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/spf13/viper"
)

// maxFile bounds what is read of a configuration file, in bytes. Every setting
// with a comment of its own fits a hundred times over; /dev/zero does not.
const maxFile = 1 << 20

// source is a file that was read.
type source struct {
	*viper.Viper
	path  string         // empty: there is none
	lines map[string]int // where each key stands
}

// at is the place of a key, as compilers write it.
func (s source) at(key string) string {
	if line, ok := s.lines[key]; ok {
		return fmt.Sprintf("%s:%d", s.path, line)
	}
	return s.path
}

// readFile reads a YAML file, none if path is empty.
func readFile(path string) (source, error) {
	s := source{viper.New(), path, nil}
	if path == "" {
		return s, nil
	}
	text, err := readText(path)
	if err != nil {
		return s, fmt.Errorf("read configuration %s: %w", path, err)
	}
	s.SetConfigType("yaml")
	if err = s.ReadConfig(bytes.NewReader(text)); err == nil {
		err = oneDocument(text)
	}
	if err != nil {
		return s, s.located(err, text)
	}
	s.lines, err = s.linesOf(text)
	return s, err
}

// readText refuses what would be read in part, or not as it is meant.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("it is larger than %d bytes: is it the right file?", maxFile)
	case !utf8.Valid(text):
		return nil, errors.New("it is not UTF-8 text: save it as such")
	}
	return text, nil
}
