// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestSpoolLeavesSpace: a file for an upload does not take the last space of the disk, on which the databases may be.
func TestSpoolLeavesSpace(t *testing.T) {
	t.Parallel()
	f, err := newSpool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	free := int64(spoolReserve)
	s := &spooler{to: f, free: func(*os.File) (int64, error) { return free, nil }}
	part := make([]byte, spoolStep)
	if _, err := s.Write(part); err != nil {
		t.Errorf("with enough space: %v", err)
	}
	free--
	if _, err := s.Write(part); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "255 MiB are left") {
		t.Errorf("with less than the reserve: %v, want %v", err, syscall.ENOSPC)
	}
	if _, err := s.Write(part[:1]); err != nil {
		t.Errorf("what is small is written all the same: %v", err)
	}
	if left, err := freeBytes(f); err != nil || left <= 0 {
		t.Errorf("the disk has %d bytes left, %v", left, err)
	}
}
