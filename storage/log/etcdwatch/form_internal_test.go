// SPDX-License-Identifier: Apache-2.0

package etcdwatch

import (
	"testing"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestUnknownPrevious: what is not known of a replaced record is not made up. A client that gets an empty value for it takes the deletion for
// nothing; without any it lists again.
func TestUnknownPrevious(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		value []byte
		known bool
	}{"Known": {[]byte("x"), true}, "Empty": {[]byte{}, true}, "Unknown": {nil, false}} {
		e := form{previous: true}.event(&log.Record{
			Key: "/a", Revision: 3, Deleted: true, Created: 2, Previous: 2, PreviousCreated: 2, PreviousValue: tc.value,
		})
		if got := e.PrevKv != nil; got != tc.known {
			t.Errorf("%s: the event has what was before: %t, want %t", name, got, tc.known)
		}
	}
}
