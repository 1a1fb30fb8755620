// SPDX-License-Identifier: Apache-2.0

package secretbinding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/secretbinding"
)

func binding(uid types.UID, secret string) gardencorev1beta1.SecretBinding {
	return gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{UID: uid},
		SecretRef:  corev1.SecretReference{Namespace: "garden-dev", Name: secret},
		Provider:   &gardencorev1beta1.SecretBindingProvider{Type: "local,cloud"},
	}
}

func TestMark(t *testing.T) {
	t.Parallel()
	secret := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "a"}}}
	secretbinding.Mark(secret, new(binding("1", "cloud")))
	want := map[string]string{
		"team": "a", "reference.gardener.cloud/secretbinding": "true",
		"provider.shoot.gardener.cloud/local": "true", "provider.shoot.gardener.cloud/cloud": "true",
	}
	if diff := cmp.Diff(want, secret.Labels); diff != "" {
		t.Errorf("GCM-SECRETBINDING-1: a label for each provider type and one for the reference (-want +got):\n%s", diff)
	}
	secretbinding.Unmark(secret)
	if diff := cmp.Diff(map[string]string{"team": "a"}, secret.Labels); diff != "" {
		t.Errorf("GCM-SECRETBINDING-2: exactly those labels go again (-want +got):\n%s", diff)
	}
	bare := &metav1.PartialObjectMetadata{}
	secretbinding.Mark(bare, &gardencorev1beta1.SecretBinding{})
	if diff := cmp.Diff(map[string]string{"reference.gardener.cloud/secretbinding": "true"}, bare.Labels); diff != "" {
		t.Errorf("GCM-SECRETBINDING-1: a binding without provider marks the reference only (-want +got):\n%s", diff)
	}
}

func TestShared(t *testing.T) {
	t.Parallel()
	leaving := binding("3", "cloud")
	leaving.DeletionTimestamp = new(metav1.Now())
	cases := map[string]struct {
		reason string
		others []gardencorev1beta1.SecretBinding
		want   bool
	}{
		"GCM-SECRETBINDING-2 alone":        {reason: "the binding itself does not count", others: []gardencorev1beta1.SecretBinding{binding("1", "cloud")}},
		"GCM-SECRETBINDING-2 other secret": {reason: "a binding of another secret does not count", others: []gardencorev1beta1.SecretBinding{binding("2", "else")}},
		"GCM-SECRETBINDING-2 leaving":      {reason: "a binding in deletion does not count", others: []gardencorev1beta1.SecretBinding{leaving}},
		"GCM-SECRETBINDING-2 shared":       {reason: "a live binding of the same secret keeps it marked", others: []gardencorev1beta1.SecretBinding{leaving, binding("2", "cloud")}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := secretbinding.Shared(new(binding("1", "cloud")), tc.others); got != tc.want {
				t.Errorf("%s\nShared(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	shoot := func(name string, binding *string) gardencorev1beta1.Shoot {
		return gardencorev1beta1.Shoot{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Spec: gardencorev1beta1.ShootSpec{SecretBindingName: binding},
		}
	}
	got := secretbinding.Users("cloud", []gardencorev1beta1.Shoot{shoot("a", new("cloud")), shoot("b", new("other")), shoot("c", nil)})
	if diff := cmp.Diff([]string{"Shoot garden-dev/a"}, got); diff != "" {
		t.Errorf("GCM-SECRETBINDING-2: shoots that use the binding (-want +got):\n%s", diff)
	}
}
