// SPDX-License-Identifier: Apache-2.0

package cloudprofile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/cloudprofile"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	shoot := func(name string, ref *gardencorev1beta1.CloudProfileReference, older *string) gardencorev1beta1.Shoot {
		return gardencorev1beta1.Shoot{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name},
			Spec:       gardencorev1beta1.ShootSpec{CloudProfile: ref, CloudProfileName: older},
		}
	}
	got := cloudprofile.Users("local", []gardencorev1beta1.Shoot{
		shoot("by-reference", &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}, nil),
		shoot("by-older-field", nil, new("local")),
		shoot("other", &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "cloud"}, new("local")),
		shoot("namespaced", &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "local"}, nil),
		shoot("none", nil, nil),
	})
	if diff := cmp.Diff([]string{"Shoot garden-dev/by-reference", "Shoot garden-dev/by-older-field"}, got); diff != "" {
		t.Errorf("GCM-CLOUDPROFILE-1: both fields count, the reference wins, a namespaced profile is another kind (-want +got):\n%s", diff)
	}
}

func TestChildren(t *testing.T) {
	t.Parallel()
	child := func(name, parent string) gardencorev1beta1.NamespacedCloudProfile {
		return gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
			Parent: gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent},
		}}
	}
	got := cloudprofile.Children("local", []gardencorev1beta1.NamespacedCloudProfile{child("own", "local"), child("other", "cloud")})
	if diff := cmp.Diff([]string{"NamespacedCloudProfile garden-dev/own"}, got); diff != "" {
		t.Errorf("GCM-CLOUDPROFILE-1: who extends the profile uses it (-want +got):\n%s", diff)
	}
}
