// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
)

// colours reports whether an output is a terminal of a user who wants colours.
func colours(w io.Writer, getenv func(string) string) bool {
	file, ok := w.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// statusError ends the process with a status; the command has already said everything.
type statusError struct{ code int }

// Error implements error.
func (e *statusError) Error() string { return fmt.Sprintf("exit status %d", e.code) }
