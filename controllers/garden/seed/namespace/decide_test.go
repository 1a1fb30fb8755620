// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
)

func secret(ns, name string, change ...func(*corev1.Secret)) corev1.Secret {
	s := corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"gardener.cloud/role": "global-monitoring"}, Annotations: map[string]string{"a": "b"}},
		Type:       "Opaque",
		Data:       map[string][]byte{"k": []byte("v")},
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func role(name string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.Labels = map[string]string{"gardener.cloud/role": name} }
}

func version(v string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.ResourceVersion = v }
}

func TestDecide(t *testing.T) {
	t.Parallel()
	other := func(s *corev1.Secret) { s.Data = map[string][]byte{"k": []byte("old")} }
	tls := func(s *corev1.Secret) { s.Type = "kubernetes.io/tls" }
	cases := map[string]struct {
		reason          string
		sources, copies []corev1.Secret
		want            namespace.Plan
	}{
		"GCM-SEED-2 missing": {
			reason:  "name, labels, annotations, type and data are copied, nothing else",
			sources: []corev1.Secret{secret("garden", "a", version("7"), tls)},
			want:    namespace.Plan{Create: []corev1.Secret{secret("seed-eu", "a", tls)}},
		},
		"GCM-SEED-2 as it should be": {
			reason:  "an equal copy is not written",
			sources: []corev1.Secret{secret("garden", "a")},
			copies:  []corev1.Secret{secret("seed-eu", "a", version("9"))},
		},
		"GCM-SEED-2 other data": {
			reason:  "a copy that differs is updated in its present version",
			sources: []corev1.Secret{secret("garden", "a")},
			copies:  []corev1.Secret{secret("seed-eu", "a", version("9"), other)},
			want:    namespace.Plan{Update: []corev1.Secret{secret("seed-eu", "a", version("9"))}},
		},
		"GCM-SEED-2 other label": {
			reason:  "labels count as well",
			sources: []corev1.Secret{secret("garden", "a")},
			copies:  []corev1.Secret{secret("seed-eu", "a", role("alerting"))},
			want:    namespace.Plan{Update: []corev1.Secret{secret("seed-eu", "a")}},
		},
		"GCM-SEED-2 other annotation": {
			reason:  "so do annotations",
			sources: []corev1.Secret{secret("garden", "a")},
			copies:  []corev1.Secret{secret("seed-eu", "a", func(s *corev1.Secret) { s.Annotations = nil })},
			want:    namespace.Plan{Update: []corev1.Secret{secret("seed-eu", "a")}},
		},
		"GCM-SEED-3 ending source": {
			reason:  "what is being deleted is no source any more",
			sources: []corev1.Secret{secret("garden", "a", func(s *corev1.Secret) { s.DeletionTimestamp = new(metav1.Now()) })},
			copies:  []corev1.Secret{secret("seed-eu", "a")},
			want:    namespace.Plan{Delete: []corev1.Secret{secret("seed-eu", "a")}},
		},
		"GCM-SEED-2 other type": {
			reason:  "a type never changes, so the copy is made anew",
			sources: []corev1.Secret{secret("garden", "a", tls)},
			copies:  []corev1.Secret{secret("seed-eu", "a")},
			want:    namespace.Plan{Delete: []corev1.Secret{secret("seed-eu", "a")}},
		},
		"GCM-SEED-2 left out": {
			reason: "certificates of control planes and what only extensions charts need are not copied",
			sources: []corev1.Secret{
				secret("garden", "a", role("controlplane-cert")), secret("garden", "b", role("helm-pull-secret")),
				secret("garden", "c", role("oci-ca-bundle")), secret("garden", "d", role("resource-reference")),
			},
		},
		"GCM-SEED-2 of a managed seed": {
			reason: "keys of the clusters that managed seeds run on are for nobody else",
			sources: []corev1.Secret{
				secret("garden", "a.ssh-keypair", role("ssh-keypair")), secret("garden", "a.monitoring", role("monitoring")),
				secret("garden", "a.ca-cluster", role("ca-cluster")), secret("garden", "a.kubeconfig", role("kubeconfig")),
			},
		},
		"GCM-SEED-3 no source": {
			reason:  "a copy without a source goes, also one whose source must not be copied any more",
			sources: []corev1.Secret{secret("garden", "b", role("controlplane-cert"))},
			copies:  []corev1.Secret{secret("seed-eu", "b"), secret("seed-eu", "a")},
			want:    namespace.Plan{Delete: []corev1.Secret{secret("seed-eu", "a"), secret("seed-eu", "b")}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, namespace.Decide("seed-eu", tc.sources, tc.copies)); diff != "" {
				t.Errorf("%s\nDecide (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
