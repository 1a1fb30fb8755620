// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

const (
	formatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

// outputFlag selects the output format of a command.
type outputFlag struct {
	format string
	forms  []string
}

// addTo adds the flag -o. The first format is the default; an empty one is the command's own format, which has no name.
func (o *outputFlag) addTo(fs *pflag.FlagSet, forms ...string) {
	o.forms = forms
	named := slices.DeleteFunc(slices.Clone(forms), func(f string) bool { return f == "" })
	fs.StringVarP(&o.format, "output", "o", forms[0], "output format: "+strings.Join(named, ", "))
	_ = fs.SetAnnotation("output", valuesAnnotation, named) // The error says that there is no such flag.
}

func (o *outputFlag) validate() error {
	if slices.Contains(o.forms, o.format) {
		return nil
	}
	named := slices.DeleteFunc(slices.Clone(o.forms), func(f string) bool { return f == "" })
	return fmt.Errorf("--output: %q is not one of %s", o.format, strings.Join(named, ", "))
}

// write writes v as JSON or YAML, or calls other for the command's own format.
func (o *outputFlag) write(w io.Writer, v any, other func(w io.Writer) error) error {
	switch o.format {
	case formatJSON:
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	case formatYAML:
		data, err := yaml.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode output: %w", err)
		}
		_, err = w.Write(data)
		return err
	default:
		return other(w)
	}
}

// writeTable writes rows with aligned columns. The first row is the heading. Control characters in cells are left out.
func writeTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		cells := make([]string, 0, len(row))
		for _, cell := range row {
			cells = append(cells, plain(cell))
		}
		if _, err := fmt.Fprintln(table, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return table.Flush()
}

// plain replaces the control characters of a line, also those that turn the direction of text. Texts may contain what others have written,
// such as the message of a condition, and a terminal would obey it, or show it in another order than it is.
func plain(line string) string { return replaceControls(line, "") }

// plainLines is plain for texts of several lines.
func plainLines(text string) string { return replaceControls(text, "\n\t") }

func replaceControls(text, except string) string {
	return strings.Map(func(r rune) rune {
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(except, r) {
			return ' '
		}
		return r
	}, text)
}
