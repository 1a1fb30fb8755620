// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestForeignNamespace_GLET_SHOOT_18 sees that the control plane of another shoot is neither checked nor tidied up.
func TestForeignNamespace_GLET_SHOOT_18(t *testing.T) {
	t.Parallel()
	for id, reason := range map[string]string{
		"shoot--victim--prod": "the technical ID is that of another shoot", "shoot--dev--a": "the namespace is that of a former shoot",
	} {
		stale := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: id, Name: "stale", CreationTimestamp: metav1.NewTime(time.Unix(1, 0))}}
		stale.Status.Phase, stale.Status.Reason = corev1.PodFailed, "Evicted"
		theirs := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: id, Annotations: map[string]string{"shoot.gardener.cloud/uid": "theirs"}}}
		w := newWard(t, shoot(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID, s.Status.UID = id, "x" }), append(controlPlane(), stale, theirs)...)
		checked := map[string]string{}
		for _, line := range w.look(t) {
			if what, why, _ := strings.Cut(line, " "); why != "ConditionCheckError" {
				checked[what] = why
			}
		}
		if diff := cmp.Diff(map[string]string{}, checked); diff != "" {
			t.Errorf("%s: what was checked (-want +got):\n%s", reason, diff)
		}
		if err := w.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(stale), stale); err != nil {
			t.Errorf("%s: a pod of another shoot was deleted: %v", reason, err)
		}
	}
}
