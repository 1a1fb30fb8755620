// SPDX-License-Identifier: Apache-2.0

package exposureclass_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/exposureclass"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	shoot := func(name string, class *string) gardencorev1beta1.Shoot {
		return gardencorev1beta1.Shoot{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Spec: gardencorev1beta1.ShootSpec{ExposureClassName: class},
		}
	}
	got := exposureclass.Users("internet", []gardencorev1beta1.Shoot{shoot("user", new("internet")), shoot("other", new("intranet")), shoot("none", nil)})
	if diff := cmp.Diff([]string{"Shoot garden-dev/user"}, got); diff != "" {
		t.Errorf("GCM-EXPOSURECLASS-1: who names the class uses it (-want +got):\n%s", diff)
	}
}
