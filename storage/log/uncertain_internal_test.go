// SPDX-License-Identifier: Apache-2.0

package log

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecordOfAnother finds the record of an earlier write, of which nobody knew that it was made, under the revision of a write that fails.
// That write is not acknowledged.
func TestRecordOfAnother(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "objects.db")
	l, err := Open(t.Context(), NewConfig(path))
	if err != nil {
		t.Fatal(err)
	}
	earlier := &Record{Revision: l.Revision() + 1, Created: l.Revision() + 1, Key: "/earlier", Value: []byte("e")}
	if err := earlier.insert(t.Context(), l.file.insert); err != nil {
		t.Fatal(err)
	}
	if result, err := l.Write(t.Context(), Change{Key: "/mine", Value: []byte("m")}); err == nil {
		t.Errorf("Write(/mine): got %+v; it is not in the file", result)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = Open(t.Context(), NewConfig(path)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	list, err := l.List(t.Context(), Read{Range: Range{Key: "/", End: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*Record{earlier}, list.Records); diff != "" {
		t.Errorf("After a start there is what the file has.\nList(all) (-want +got):\n%s", diff)
	}
	if result, err := l.Write(t.Context(), Change{Key: "/mine", Value: []byte("m")}); err != nil || !result.Applied {
		t.Errorf("Write(/mine) after a start: %+v, %v", result, err)
	}
}
