// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestAdmission takes a shoot through the rules of a whole server: completed when it is ordered, named when it gets a seed,
// and kept from what is others'.
func TestAdmission(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	o.create(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: "garden", Name: "domain", Labels: map[string]string{"gardener.cloud/role": "default-domain"},
			Annotations: map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": "shoots.example"},
		}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "account"}},
		boundTo(namespace, "account", "local"),
	)

	sprout := o.shoot(namespace, "sprout", "local", withWorker("account"), func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = "1.36" })
	w := sprout.Spec.Provider.Workers[0]
	chosen := []string{sprout.Spec.Kubernetes.Version, *w.Machine.Image.Version, *w.Machine.Architecture}
	if diff := cmp.Diff([]string{"1.36.3", "1.0.0", "amd64"}, chosen); diff != "" {
		t.Errorf("API-SMUT-4, 5: the rest is chosen: Kubernetes, image, architecture (-want +got):\n%s", diff)
	}
	if got := sprout.Annotations["shoot.gardener.cloud/tasks"]; !strings.HasPrefix(got, "deployInfrastructure,deployDNSRecordInternal") {
		t.Errorf("API-SMUT-1: a new shoot needs everything, got tasks %q", got)
	}
	if got := sprout.Labels["networking.extensions.gardener.cloud/local"]; got != "true" {
		t.Errorf("API-EXTLAB-2: labels name the extensions, got %v", sprout.Labels)
	}
	if r := sprout.Spec.Kubernetes.Kubelet.KubeReserved; r == nil || r.Memory.String() != "1Gi" {
		t.Errorf("API-SRR-1: something is set aside for the node, got %v", r)
	}
	if sprout.Spec.DNS != nil || sprout.Annotations["gardener.cloud/created-by"] == "" {
		t.Errorf("API-DNS-2, API-RRM-5: without a seed there is no name, and somebody made it; got %v, %v", sprout.Spec.DNS, sprout.Annotations)
	}

	o.seed("north-1", "local", "north")
	bound := harness.Await(t, o.Client, sprout, "API-DNS-2: the name comes with the seed", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName != nil && s.Spec.DNS != nil && *s.Spec.DNS.Domain == "sprout.dev.shoots.example", "seed %v, DNS %v", s.Spec.SeedName, s.Spec.DNS)
	})
	if diff := cmp.Diff("10.11.0.0/16", *bound.Spec.Networking.Pods); diff != "" {
		t.Errorf("API-SMUT-3: so do networks (-want +got):\n%s", diff)
	}

	thief := bound.DeepCopy()
	thief.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "thief"}
	thief.Spec.SeedName = nil
	if err := o.Client.Create(t.Context(), thief); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `must be "thief.dev.shoots.example"`) {
		t.Errorf("API-DNS-4: nobody takes the place of another, got %v", err)
	}
	err := o.Client.DeleteAllOf(t.Context(), &gardencorev1beta1.Shoot{}, client.InNamespace(namespace))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `Shoot "sprout" is not confirmed`) {
		t.Errorf("API-DELCONF-2: many go when all are confirmed, got %v", err)
	}
	twig := thief.DeepCopy()
	twig.Name, twig.Spec.DNS, twig.Labels = "twig", nil, map[string]string{"size": "small"}
	twig.Annotations = map[string]string{"confirmation.gardener.cloud/deletion": "true"}
	if err := o.Client.Create(t.Context(), twig); err != nil {
		t.Fatal(err)
	}
	small := client.MatchingLabels(twig.Labels)
	if err := o.Client.DeleteAllOf(t.Context(), &gardencorev1beta1.Shoot{}, client.InNamespace(namespace), small); err != nil {
		t.Errorf("API-DELCONF-2: what is not selected need not be confirmed, got %v", err)
	}
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(bound), bound); err != nil || bound.DeletionTimestamp != nil {
		t.Errorf("API-DELCONF-2: what was not selected is deleted: %v", err)
	}
}
