// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// AddLoggingFlags adds the flags --log-level and --log-format for o. The values of o are the defaults.
func AddLoggingFlags(o *telemetry.Options, fs *pflag.FlagSet) {
	fs.StringVar((*string)(&o.Level), "log-level", string(o.Level), "log level: "+words(telemetry.Levels()))
	fs.StringVar((*string)(&o.Format), "log-format", string(o.Format), "log format: "+words(telemetry.Formats()))
}

// words returns the values of an enumeration as text.
func words[T ~string](values []T) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i == 0:
		case i == len(values)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s", v)
	}
	return b.String()
}
