// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
)

// TestReopened_GLET_BASTION_5 has a Bastion that was refused because the machines of its shoot could not be reached, and enables access to
// them: the host is made without another change of the Bastion.
func TestReopened_GLET_BASTION_5(t *testing.T) {
	t.Parallel()
	shoot, door := &gardencorev1beta1.Shoot{}, &gardenoperationsv1alpha1.Bastion{}
	l := newLandscape(t, func(s *gardencorev1beta1.Shoot, b *gardenoperationsv1alpha1.Bastion) {
		s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
		shoot, door = s, b
	})
	l.Config = &gardenconfigv1alpha1.BastionControllerConfiguration{}
	cluster := kittest.NewCluster(t, l.GardenClient.Scheme())
	if err := l.AddToManager(kit.Clusters{Garden: cluster.Manager, Seed: cluster.Manager}); err != nil {
		t.Fatal(err)
	}
	cluster.Of(shoot).Add(shoot.DeepCopy())
	cluster.Of(door).Add(door.DeepCopy())
	cluster.Start(t)
	await(t, "a host would lead nowhere", func() bool { return len(l.bastion(t).Status.Conditions) > 0 })

	if err := l.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
		t.Fatal(err)
	}
	shoot.Spec.Provider.WorkersSettings.SSHAccess.Enabled = true
	if err := l.GardenClient.Update(t.Context(), shoot); err != nil {
		t.Fatal(err)
	}
	cluster.Of(shoot).Modify(shoot.DeepCopy())
	host := &gardenextensionsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: "door"}}
	await(t, "the machines can be reached", func() bool { return l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(host), host) == nil })
}

// await waits until something holds.
func await(t *testing.T, reason string, holds func() bool) {
	t.Helper()
	late, tick := time.After(30*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within half a minute", reason)
		}
	}
}
