// SPDX-License-Identifier: Apache-2.0

package event_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/garden/event"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestOff adds the controller without its section to a garden that is not there: it touches nothing.
func TestOff(t *testing.T) {
	t.Parallel()
	if err := (&event.Reconciler{}).AddToManager(kit.Clusters{}); err != nil {
		t.Errorf("GCM-EVENT-1: without its section nothing is watched, got %v", err)
	}
}
