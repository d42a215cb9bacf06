package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pictureFile is the flag --html; empty: no picture is wanted.
type pictureFile string

func (p *pictureFile) addFlag(flags *pflag.FlagSet, of string) {
	flags.StringVar((*string)(p), "html", "", "file for a picture of "+of+", one that needs nothing else")
}

// check finds out before the work whether the file has a folder, and is none.
func (p pictureFile) check(cmd *cobra.Command) error {
	if p == "" {
		if cmd.Flags().Changed("html") {
			return usagef(cmd, "--html: the file's name is empty")
		}
		return nil
	}
	if file, err := os.Stat(string(p)); err == nil && file.IsDir() {
		return usagef(cmd, "--html %s: it is a folder; name a file in it", p)
	}
	folder, err := os.Stat(filepath.Dir(string(p)))
	switch {
	case err != nil:
		return usagef(cmd, "--html %s: %w", p, err)
	case !folder.IsDir():
		return usagef(cmd, "--html %s: %s is no folder", p, folder.Name())
	}
	return nil
}

// write makes the file, if one is wanted.
func (p pictureFile) write(draw func(io.Writer) error) error {
	if p == "" {
		return nil
	}
	var page bytes.Buffer
	if err := draw(&page); err != nil {
		return err
	}
	if err := os.WriteFile(string(p), page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}
