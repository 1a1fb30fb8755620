// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// TestSecretsOfPodsThatMayStartAgain_GLET_RECON_5 ends runs that have asked for none of the certificates of before.
func TestSecretsOfPodsThatMayStartAgain_GLET_RECON_5(t *testing.T) {
	t.Parallel()
	in := func(name string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name, Labels: labels}
	}
	pod := func(role string, volume corev1.VolumeSource) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: in(role, map[string]string{"app": "kubernetes", "role": role, "gardener.cloud/role": "controlplane"})}
		p.Spec.Volumes = []corev1.Volume{{Name: "files", VolumeSource: volume}}
		return p
	}
	projected := func(secret string) corev1.VolumeSource {
		source := corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}}
		return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{source}}}
	}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   []string
	}{
		"Waited": {reason: "the pods of now are ready, and those of before are gone", shoot: running(withWorkers)},
		"Hasty":  {reason: "nobody knows whether the pods of now will be ready", shoot: running(withWorkers, hasty), want: []string{"api", "sizes", "updates"}},
		"Sized":  {reason: "no run waits for what sizes pods", shoot: running(withWorkers, sized), want: []string{"sizes", "updates"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, tc.shoot)
			for _, name := range []string{"api", "sizes", "updates"} {
				l.give(t, l.SeedClient, &corev1.Secret{ObjectMeta: in(name, map[string]string{"managed-by": "secrets-manager", "manager-identity": "gardenlet", "name": name})})
			}
			l.give(t, l.SeedClient, pod("apiserver", projected("api")))
			l.give(t, l.SeedClient, pod("vpa-admission-controller", projected("sizes")))
			l.give(t, l.SeedClient, pod("vpa-updater", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "updates"}}))
			if err := shoot.DropSecrets(t.Context(), l.Reconciler, tc.shoot, "shoot--dev--a"); err != nil {
				t.Fatal(err)
			}
			left := &corev1.SecretList{}
			if err := l.SeedClient.List(t.Context(), left, client.InNamespace("shoot--dev--a"), client.HasLabels{"managed-by"}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range left.Items {
				got = append(got, left.Items[i].Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nSecrets (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
