// SPDX-License-Identifier: Apache-2.0

package namespacedcloudprofile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/namespacedcloudprofile"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	shoot := func(name string, ref *gardencorev1beta1.CloudProfileReference) gardencorev1beta1.Shoot {
		return gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Spec: gardencorev1beta1.ShootSpec{CloudProfile: ref}}
	}
	got := namespacedcloudprofile.Users("own", []gardencorev1beta1.Shoot{
		shoot("user", &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}),
		shoot("garden", &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "own"}),
		shoot("other", &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "other"}),
		shoot("none", nil),
	})
	if diff := cmp.Diff([]string{"Shoot garden-dev/user"}, got); diff != "" {
		t.Errorf("GCM-NCP-1: who names the profile, and this kind of it, uses it (-want +got):\n%s", diff)
	}
}
