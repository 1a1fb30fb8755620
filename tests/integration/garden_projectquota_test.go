// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestProjectQuotaByDefault counts the objects of a project, Kubernetes' kinds and the garden's, and refuses one too many.
func TestProjectQuotaByDefault(t *testing.T) {
	t.Parallel()
	o := operate(t)
	namespace := *o.project("dev").Spec.Namespace
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gardener"}}
	counted := func(want map[corev1.ResourceName]int64) func(*corev1.ResourceQuota) error {
		return func(q *corev1.ResourceQuota) error {
			hard := map[corev1.ResourceName]int64{}
			for name := range want {
				if limit, ok := q.Status.Hard[name]; ok {
					hard[name] = limit.Value()
				}
			}
			if diff := cmp.Diff(want, hard); diff != "" {
				return has(false, "status.hard (-want +got):\n%s", diff)
			}
			return has(len(q.Status.Used) == len(q.Spec.Hard), "%d of %d are counted", len(q.Status.Used), len(q.Spec.Hard))
		}
	}
	// Of these nothing is made in a namespace but what this test makes, so their count does not depend on when it began.
	const secrets, identities = "count/secrets", "count/workloadidentities.security.gardener.cloud"
	harness.Await(t, o.Client, quota, "a project has a quota from the start", counted(map[corev1.ResourceName]int64{
		"count/shoots.core.gardener.cloud": 100, secrets: 2000, "count/configmaps": 1000, identities: 200,
	}))

	o.change(quota, func() {
		quota.Spec.Hard[secrets], quota.Spec.Hard[identities] = resource.MustParse("1"), resource.MustParse("1")
	})
	harness.Await(t, o.Client, quota, "GCM-PROJECT-6: what an operator sets stays", counted(map[corev1.ResourceName]int64{secrets: 1, identities: 1}))
	made := func(name string) []client.Object {
		in := metav1.ObjectMeta{Namespace: namespace, Name: name}
		return []client.Object{&corev1.Secret{ObjectMeta: in}, &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: in, Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
			Audiences: []string{"somebody"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "local"},
		}}}
	}
	o.create(made("first")...)
	for _, second := range made("second") {
		if err := o.Client.Create(t.Context(), second); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: gardener") {
			t.Errorf("One %T too many is refused, got %v", second, err)
		}
	}
}

func TestProjectQuotaOff(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.Project.Quotas = []gardenconfigv1alpha1.QuotaConfiguration{}
	}))
	namespace := *o.project("dev").Spec.Namespace
	quotas := &corev1.ResourceQuotaList{}
	if err := o.Client.List(t.Context(), quotas, client.InNamespace(namespace)); err != nil || len(quotas.Items) > 0 {
		t.Errorf("An empty list of quotas leaves projects without.\nquotas = %v, error %v", quotas.Items, err)
	}
}

// TestProjectQuotaGrows makes a quota look as one of an earlier version, which wrote less for each shoot.
func TestProjectQuotaGrows(t *testing.T) {
	t.Parallel()
	o := operate(t)
	namespace := *o.project("dev").Spec.Namespace
	const configMaps, secrets = "quota.gardener.cloud/configmaps-per-shoot", "quota.gardener.cloud/secrets-per-shoot"
	says := func(limit int64) func(*corev1.ResourceQuota) error {
		return func(q *corev1.ResourceQuota) error {
			have := q.Spec.Hard["count/secrets"]
			return has(q.Annotations[configMaps] == "2" && q.Annotations[secrets] == "4" && have.Value() == limit, "annotations %v, %s secrets", q.Annotations, have.String())
		}
	}
	quota := &corev1.ResourceQuota{ObjectMeta: named(namespace, "gardener")}
	harness.Await(t, o.Client, quota, "GCM-RQ-1: a quota says what it was made for", says(2000))
	foreign := &corev1.ResourceQuota{ObjectMeta: named("default", "mine"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("5")}}}
	o.create(foreign)
	o.change(quota, func() { quota.Annotations[secrets] = "1" })
	harness.Await(t, o.Client, quota, "GCM-RQ-1: it is raised by the difference for each of a hundred shoots", says(2300))
	small := &corev1.ResourceQuota{ObjectMeta: named(namespace, "small"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("5")}}}
	small.Annotations = map[string]string{secrets: "1"}
	o.create(small)
	harness.Await(t, o.Client, small, "GCM-RQ-1: without a limit the shoots that there are count", says(5))
	o.read(foreign)
	if len(foreign.Annotations) > 0 {
		t.Errorf("GCM-RQ-1: only quotas of projects are changed, got %v", foreign.Annotations)
	}
}
