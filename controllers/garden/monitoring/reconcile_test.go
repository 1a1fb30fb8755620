// SPDX-License-Identifier: Apache-2.0

package monitoring_test

import (
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/garden/monitoring"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestTakenName_OPER_FLOW_19 has the name of the credentials taken by a Secret that does not say that it holds them.
func TestTakenName_OPER_FLOW_19(t *testing.T) {
	t.Parallel()
	taken := credentials("observability-ingress", "")
	taken.Labels = nil
	c := fake.NewClientBuilder().WithObjects(&taken).Build()
	r := &monitoring.Reconciler{Base: kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))}}
	result, err := r.Reconcile(t.Context(), reconcile.Request{})
	if err == nil || !strings.Contains(err.Error(), "label it, or delete it") || result.RequeueAfter > 0 {
		t.Errorf("Reconcile(...) = %+v, %v, want an error that says what to do, which is retried with a growing delay", result, err)
	}
}
