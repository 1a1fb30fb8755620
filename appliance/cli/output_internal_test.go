// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostile would change the title of a terminal, move its cursor, and begin a control sequence with a single character.
const hostile = "a\x1b]0;title\x07b\u009b2Jc\rd"

// TestControlCharacters has texts of others be written to a terminal.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	var table, told bytes.Buffer
	if err := writeTable(&table, [][]string{{"NAME", "WHAT"}, {"x", hostile + "\ty\nz"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("NAME   WHAT\nx      a ]0;title b 2Jc d y z\n", table.String()); diff != "" {
		t.Errorf("a cell stays one line of text\nwriteTable(...) (-want +got):\n%s", diff)
	}
	Environment{Err: &told}.tell("Error: %s\n\tnext: %d\n", hostile, 1)
	if diff := cmp.Diff("Error: a ]0;title b 2Jc d\n\tnext: 1\n", told.String()); diff != "" {
		t.Errorf("a message keeps its lines\ntell(...) (-want +got):\n%s", diff)
	}
}
