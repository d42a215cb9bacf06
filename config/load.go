package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// FileVariable names the configuration file where no flag does.
const FileVariable = prefix + "CONFIG"

// Sources are the places where settings are looked for.
type Sources struct {
	Flags *pflag.FlagSet // parsed, see AddFlags; nil: none
	Env   []string       // as os.Environ
	File  string         // a YAML file, which must exist; empty: what FileVariable names, if it is set
}

// Load reads all settings. Its error names every value that cannot be, and where
// that was given.
func Load(from Sources) (Config, error) {
	var c Config
	env := environment(from.Env)
	if from.File == "" {
		from.File = env[FileVariable]
	}
	v, err := readFile(from.File)
	if err != nil {
		return Config{}, err
	}
	c.origins = map[string]Origin{}
	given := changed(from.Flags)
	errs := []error{checkKeys(v)}
	for _, s := range settings(&c) {
		origin := decide(v, s, env, given[s.key])
		c.origins[s.key] = origin
		errs = append(errs, s.read(v.Get(s.key), origin, v))
	}
	if err := errors.Join(errs...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// decide leaves the value of s in v and returns where it came from: v holds what
// the file says, and a later Set counts before an earlier one.
func decide(v source, s setting, env map[string]string, flag *pflag.Flag) Origin {
	origin := Origin{}
	if s.def != "" {
		v.SetDefault(s.key, s.def)
	}
	if v.InConfig(s.key) {
		origin = Origin{File, v.path}
	}
	if value := env[s.variable()]; value != "" {
		v.Set(s.key, value)
		origin = Origin{Environment, s.variable()}
	}
	if flag != nil {
		v.Set(s.key, flag.Value.String())
		origin = Origin{Flag, "--" + flag.Name}
	}
	return origin
}

// read takes over a raw value: text, or what YAML made of it; nil leaves the
// setting empty.
func (s setting) read(raw any, origin Origin, from source) error {
	if raw == nil {
		return nil
	}
	text, err := s.textOf(raw)
	if err == nil {
		err = s.value.Set(text)
	}
	if err == nil {
		return nil
	}
	where := origin.Name
	if origin.Layer == File {
		where = from.at(s.key) + ": " + s.key
	}
	if s.secret {
		return fmt.Errorf("%s: %w", where, err)
	}
	return fmt.Errorf("%s %q: %w", where, shortened(fmt.Sprint(raw)), err)
}

// shortened is enough of a value to recognise it.
func shortened(text string) string {
	const most = 100
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// textOf writes a raw value as a flag would have it. YAML reads 0123 as 83 and no
// as false, so what is not written as text is taken for a number or a truth
// value only where that is wanted.
func (s setting) textOf(raw any) (string, error) {
	kind := s.value.Type()
	switch raw := raw.(type) {
	case string:
		return raw, nil
	case bool:
		if kind == kindBool {
			return fmt.Sprint(raw), nil
		}
	case int:
		if kind == kindSize {
			return fmt.Sprint(raw), nil
		}
	case []any:
		if kind == kindList {
			return joined(raw)
		}
	}
	return "", fmt.Errorf("want a %s; put text in quotes", kind)
}

func joined(list []any) (string, error) {
	var parts []string
	for _, part := range list {
		text, ok := part.(string)
		if !ok {
			return "", fmt.Errorf("%q: want text; put it in quotes", fmt.Sprint(part))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ","), nil
}

// environment makes a map of "NAME=value". Of two the last counts, as in exec.Cmd.
func environment(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, entry := range list {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}
