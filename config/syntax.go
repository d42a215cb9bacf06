package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// lineInError is how the YAML reader names a line, before what is wrong there.
var lineInError = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// grammarFaults begin what the YAML reader says where a word is in the wrong place,
// unlike a word that is none. It counts the lines of these from zero.
var grammarFaults = []string{"did not find expected <", "did not find expected node content",
	"did not find expected '-' indicator", "did not find expected key", "did not find expected ',' or "}

// oneDocument refuses a second YAML document, which would be ignored.
func oneDocument(text []byte) error {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := documents.Decode(&first); err != nil {
		return nil // an empty file: others have reported all else
	}
	err := documents.Decode(&second)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("line %d: it holds more than one YAML document: everything after the second '---' would be ignored", second.Line)
}

// located words what the YAML reader says about text as compilers do: each mistake
// begins with the file and the line, where one is known.
func (s source) located(err error, text []byte) error {
	var outer viper.ConfigParseError
	if errors.As(err, &outer) {
		err = outer.Unwrap()
	}
	messages := []string{err.Error()}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		messages = several.Errors
	}
	var errs []error
	for _, message := range messages {
		line, what := splitLine(message, text)
		if line == 0 {
			errs = append(errs, fmt.Errorf("read configuration %s: %s", s.path, what))
		} else {
			errs = append(errs, fmt.Errorf("%s:%d: %s", s.path, line, what))
		}
	}
	return errors.Join(errs...)
}

// splitLine takes the number of a line from the beginning of message: 0 if it is
// not known.
func splitLine(message string, text []byte) (line int, what string) {
	found := lineInError.FindStringSubmatch(message)
	line, _ = strconv.Atoi(found[1]) // 0 without one
	what = message[len(found[0]):]
	for _, begin := range grammarFaults {
		if strings.HasPrefix(what, begin) {
			line++
		}
	}
	line = min(line, linesIn(text)) // the end of the file is on none
	if line == 0 && onFirstLine(text) {
		line = 1
	}
	if strings.HasSuffix(what, "into map[string]interface {}") {
		what = "want sections and settings, as in \"client: {ttl: 15s}\""
	}
	return line, what
}

// onFirstLine reports whether text is wrong in its first line, which the YAML reader
// does not name: it would name the second.
func onFirstLine(text []byte) bool {
	var document yaml.Node
	err := yaml.Unmarshal(append([]byte("\n"), text...), &document)
	return err != nil && lineInError.FindStringSubmatch(err.Error())[1] != ""
}

// linesIn counts the lines of text; the last may lack its end.
func linesIn(text []byte) int {
	return bytes.Count(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) + 1
}
