// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// TestOwn checks the labels of objects in a project: clients trust the CA in them, so admins of the project must not be able to
// replace it (GAC-UPD-1).
func TestOwn(t *testing.T) {
	t.Parallel()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"kept": "yes"}}}
	shoot.Own(&gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}, config, "ca-cluster")
	want := map[string]string{"kept": "yes", "gardener.cloud/role": "ca-cluster", "gardener.cloud/update-restriction": "true"}
	if diff := cmp.Diff(want, config.Labels); diff != "" {
		t.Errorf("Only gardenlets may write it (-want +got):\n%s", diff)
	}
	owners := []metav1.OwnerReference{{
		APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Name: "a", UID: "1", Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	if diff := cmp.Diff(owners, config.OwnerReferences); diff != "" {
		t.Errorf("It is deleted with the shoot: owners (-want +got):\n%s", diff)
	}
}
