// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestPendingInPlace lists pools whose machines are behind, and leaves out those of which nothing is known.
func TestPendingInPlace_GLET_STAT_1(t *testing.T) {
	t.Parallel()
	auto, manual := gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate, gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate
	s := &gardencorev1beta1.Shoot{}
	s.Spec.Kubernetes.Version = "1.36.3"
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{
		{Name: "auto", UpdateStrategy: &auto},
		{Name: "manual", UpdateStrategy: &manual},
		{Name: "rolling"},
		{Name: "done", UpdateStrategy: &auto},
		{Name: "new", UpdateStrategy: &auto},
		{Name: "foreign", UpdateStrategy: &manual},
	}
	updated := map[string]string{
		"auto": "v1-old", "manual": "v1-old", "rolling": "v1-old", "done": query.InPlaceHash(s, &s.Spec.Provider.Workers[3]), "foreign": "abc",
	}
	want := &gardencorev1beta1.InPlaceUpdatesStatus{PendingWorkerUpdates: &gardencorev1beta1.PendingWorkerUpdates{
		AutoInPlaceUpdate: []string{"auto"}, ManualInPlaceUpdate: []string{"manual"},
	}}
	if diff := cmp.Diff(want, query.PendingInPlace(s, updated)); diff != "" {
		t.Errorf("PendingInPlace(...) (-want +got):\n%s", diff)
	}
	if got := query.PendingInPlace(s, nil); got != nil {
		t.Errorf("PendingInPlace(...) = %v although nothing is known", got)
	}
	s.Status.InPlaceUpdates = want
	for pool, is := range map[string]bool{"auto": true, "manual": true, "done": false} {
		if got := query.UpdatesInPlace(s, pool); got != is {
			t.Errorf("UpdatesInPlace(..., %q) = %t", pool, got)
		}
	}
	if diff := cmp.Diff([]string{"manual"}, query.PendingManually(s)); diff != "" {
		t.Errorf("PendingManually(...) (-want +got):\n%s", diff)
	}
}
