// SPDX-License-Identifier: Apache-2.0

package shootaccess_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

// TestProgram_EXT_SEC_1 compares what a program asks a token with to the labels and annotations by which every resource manager knows it.
func TestProgram_EXT_SEC_1(t *testing.T) {
	t.Parallel()
	want := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shoot--dev--sprout", Name: "shoot-access-tool",
			Labels: map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot"},
			Annotations: map[string]string{
				"serviceaccount.resources.gardener.cloud/name": "tool", "serviceaccount.resources.gardener.cloud/namespace": "kube-system",
			},
		},
		Type: corev1.SecretTypeOpaque,
	}
	if diff := cmp.Diff(want, shootaccess.Program("shoot--dev--sprout", "tool")); diff != "" {
		t.Errorf("Program(...) (-want +got):\n%s", diff)
	}
}
