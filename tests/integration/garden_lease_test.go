// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1ac "k8s.io/client-go/applyconfigurations/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestLeaseOwners renews a lease, whose fields belong to nobody, until somebody applies it.
func TestLeaseOwners(t *testing.T) {
	t.Parallel()
	o := operate(t)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "owned"},
		Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(time.Now()))}, // Without a field there is nothing to own.
	}
	o.create(lease)
	owners := func() []string {
		var managers []string
		for _, entry := range lease.ManagedFields {
			managers = append(managers, entry.Manager+" "+string(entry.Operation))
		}

		return managers
	}
	check := func(reason string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, owners()); diff != "" {
			t.Errorf("%s: owners of fields (-want +got):\n%s", reason, diff)
		}
	}
	check("created")
	renew := func() {
		t.Helper()
		before := lease.DeepCopy()
		lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now()))
		if err := o.Client.Patch(t.Context(), lease, client.MergeFrom(before), client.FieldOwner("renews")); err != nil {
			t.Fatal(err)
		}
	}
	renew()
	check("renewed")

	wish := coordinationv1ac.Lease(lease.Name, lease.Namespace).WithSpec(coordinationv1ac.LeaseSpec().WithHolderIdentity("me"))
	if err := o.Client.Apply(t.Context(), wish, client.FieldOwner("applies")); err != nil {
		t.Fatal(err)
	}
	o.read(lease)
	check("applied", "applies Apply", "before-first-apply Update")
	renew()
	check("renewed after it was applied", "applies Apply", "renews Update")
}
