// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

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

// writeTable writes rows with aligned columns. The first row is the heading.
func writeTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		if _, err := fmt.Fprintln(table, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return table.Flush()
}
