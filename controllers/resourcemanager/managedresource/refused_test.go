// SPDX-License-Identifier: Apache-2.0

package managedresource_test

import (
	"errors"
	"fmt"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

// TestStoppedServers: while a shoot falls asleep and wakes up nobody listens. That is tried again soon, however long it lasts, and shown.
func TestStoppedServers(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("get Deployment: %w", &url.Error{Op: "Get", URL: "https://10.99.1.1/", Err: syscall.ECONNREFUSED})
	for name, tc := range map[string]struct {
		err  error
		want time.Duration
	}{
		"Refused": {refused, 3 * time.Second},
		"Other":   {errors.New("it is invalid"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again, conditions := managedresource.FailedFor(t.Context(), &managedresource.Reconciler{Base: kit.Base{Clock: clock.RealClock{}}}, tc.err)
			if again != tc.want {
				t.Errorf("tried again after %s, want %s", again, tc.want)
			}
			var messages []string
			for _, c := range conditions {
				messages = append(messages, c.Message)
			}
			if diff := cmp.Diff([]string{tc.err.Error()}, messages); diff != "" {
				t.Errorf("messages of the conditions (-want +got):\n%s", diff)
			}
		})
	}
}
