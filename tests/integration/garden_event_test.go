// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestEvents sees that events which are not about shoots go some time after they happened last, and no others.
func TestEvents(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.EventTTL = &metav1.Duration{Duration: 24 * time.Hour}
		c.Controllers.Event = &gardenconfigv1alpha1.ServerEventControllerConfiguration{TTLNonShootEvents: &metav1.Duration{Duration: time.Hour}}
	}))
	about := func(name, kind string, age time.Duration) *corev1.Event {
		seen := metav1.NewTime(time.Now().Add(-age))
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "garden", Name: name},
			InvolvedObject: corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: kind, Namespace: "garden", Name: "a"},
			Reason:         "Tested", Message: name, Type: corev1.EventTypeNormal, FirstTimestamp: seen, LastTimestamp: seen,
		}
	}
	shoot, young, old, soon := about("shoot", "Shoot", 5*time.Hour), about("young", "Quota", 0), about("old", "Quota", 2*time.Hour), about("soon", "Quota", time.Hour-2*time.Second)
	o.create(shoot, young, old, soon)
	o.gone(old, "GCM-EVENT-3: an event whose time has passed goes")
	o.gone(soon, "GCM-EVENT-3: an event goes when its time comes")
	o.read(young)
	o.read(shoot)
}
