// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// AddLoggingFlags lets the flags --log-level and --log-format set o. The defaults are what o holds already.
func AddLoggingFlags(o *telemetry.Options, fs *pflag.FlagSet) {
	fs.StringVar((*string)(&o.Level), "log-level", string(o.Level), "how much to log: "+words(telemetry.Levels()))
	fs.StringVar((*string)(&o.Format), "log-format", string(o.Format), "what a log line looks like: "+words(telemetry.Formats()))
}

// words lists the values of an enumeration for people.
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
