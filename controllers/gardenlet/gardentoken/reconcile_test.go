// SPDX-License-Identifier: Apache-2.0

package gardentoken_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/gardentoken"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestRefused: clients that may write Secrets in the seed can ask for a token of the garden, but do not choose whose (GLET-TOK-1).
func TestRefused(t *testing.T) {
	t.Parallel()
	const prefix = "serviceaccount.resources.gardener.cloud/"
	for name, tc := range map[string]struct {
		reason    string
		namespace string
		asks      map[string]string
		want      string
	}{
		"OtherNamespace": {
			"a seed has accounts in its own namespace only", "extension-a",
			map[string]string{prefix + "name": "extension-a", prefix + "namespace": "seed-other"},
			"has to be in \"seed-one\"",
		},
		"OtherExtension": {
			"an extension does not act as another one", "extension-a",
			map[string]string{prefix + "name": "extension-b"},
			"\"extension-a\"",
		},
		"FromElsewhere": {
			"nor does anybody else act as an extension", "shoot--dev--a",
			map[string]string{prefix + "name": "extension-a"},
			"namespaces of extensions",
		},
		"ForNobody": {
			"who may write Secrets of a shoot gets no account of another name either", "shoot--dev--a",
			map[string]string{prefix + "name": "robot"},
			"namespaces of extensions",
		},
		"Labels": {
			"roles select accounts by their labels", "extension-a",
			map[string]string{prefix + "name": "extension-a", prefix + "labels": `{"a":"b"}`},
			"remove it",
		},
		"Target": {
			"a token is not written to the garden", "extension-a",
			map[string]string{prefix + "name": "extension-a", "token-requestor.resources.gardener.cloud/target-secret-name": "a"},
			"remove it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: tc.namespace, Name: "access", Annotations: tc.asks,
				Labels: map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "garden"},
			}}
			garden := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build()
			r := &gardentoken.Reconciler{
				SeedBase: kit.SeedBase{
					SeedClient: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(secret).Build(), GardenClient: garden,
					Clock: clock.RealClock{}, SeedName: "one",
				},
				Garden: func() *rest.Config { return &rest.Config{} },
			}
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(secret)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nReconcile(...) = %v, want an error with %q", tc.reason, err, tc.want)
			}
			accounts := &corev1.ServiceAccountList{}
			if err := garden.List(t.Context(), accounts); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]corev1.ServiceAccount{}, accounts.Items, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\naccounts (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
