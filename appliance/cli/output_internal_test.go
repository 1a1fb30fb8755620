// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"strings"
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
	told.Reset()
	turning := []rune{0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069}
	Environment{Err: &told}.tell("%s", string(turning))
	if diff := cmp.Diff(strings.Repeat(" ", len(turning)), told.String()); diff != "" {
		t.Errorf("nothing turns the direction of a text\ntell(...) (-want +got):\n%s", diff)
	}
}
