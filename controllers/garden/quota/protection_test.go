// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/quota"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	object := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "garden-dev", Name: name} }
	named := func(namespace, name string) []corev1.ObjectReference {
		return []corev1.ObjectReference{{Namespace: "garden", Name: "first"}, {Namespace: namespace, Name: name}}
	}
	got := quota.Users(
		types.NamespacedName{Namespace: "garden", Name: "trial"},
		[]gardencorev1beta1.SecretBinding{
			{ObjectMeta: object("user"), Quotas: named("garden", "trial")},
			{ObjectMeta: object("elsewhere"), Quotas: named("garden-dev", "trial")},
			{ObjectMeta: object("none")},
		},
		[]gardensecurityv1alpha1.CredentialsBinding{{ObjectMeta: object("newer"), Quotas: named("garden", "trial")}, {ObjectMeta: object("other"), Quotas: named("garden", "other")}},
	)
	if diff := cmp.Diff([]string{"SecretBinding garden-dev/user", "CredentialsBinding garden-dev/newer"}, got); diff != "" {
		t.Errorf("GCM-QUOTA-1: bindings of both kinds and of any namespace count (-want +got):\n%s", diff)
	}
}
