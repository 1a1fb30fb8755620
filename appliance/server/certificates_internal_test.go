// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/rotation"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
	"github.com/terrarium-garden/terrarium/storage/generations"
)

// TestConflicts has errors that are no failure of the server that is asked.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for _, of := range []error{generations.ErrChanged, sharing.ErrStopping, sharing.ErrBehind, sharing.ErrFenced, identity.ErrUnpublished, rotation.RefusedError{Err: errors.New("no")}} {
		if !conflicts(fmt.Errorf("rotate: %w", of)) {
			t.Errorf("conflicts(%v): got false", of)
		}
	}
	if conflicts(errors.New("the disk is full")) {
		t.Error("conflicts(...): got true for a failure")
	}
}
