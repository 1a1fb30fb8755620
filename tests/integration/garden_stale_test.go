// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const day = 24 * time.Hour

// TestStaleProjects lives through the four months after which a project that nobody uses is deleted.
func TestStaleProjects(t *testing.T) {
	t.Parallel()
	clk := harness.NewClock(t)
	o := operate(t, harness.WithClock(clk))
	o.provider("cloud")
	o.home()
	idle, woken, used, lender, exempt := o.project("idle"), o.project("woken"), o.project("used"), o.project("lender"), o.project("exempt")
	quota := limit(*woken.Spec.Namespace, "small", nil)
	home := o.namespace(exempt)
	o.create(quota, &corev1.Secret{ObjectMeta: named(*lender.Spec.Namespace, "account")}, &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta: named(*used.Spec.Namespace, "lent"), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "cloud"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: *lender.Spec.Namespace, Name: "account"},
	})
	o.shoot(*used.Spec.Namespace, "a", "cloud", withWorker("lent"))
	o.change(home, func() { home.Annotations["project.gardener.cloud/skip-stale-check"] = "true" })

	clk.Step(31 * day)
	since := func(p *gardencorev1beta1.Project) error {
		return has(p.Status.StaleSinceTimestamp != nil && p.Status.StaleAutoDeleteTimestamp == nil, "status %+v", p.Status)
	}
	stale := harness.Await(t, o.Client, idle, "GCM-STALE-5: an idle project becomes stale", since).Status.StaleSinceTimestamp
	harness.Await(t, o.Client, woken, "GCM-STALE-4: a Quota that no shoot is limited by is no use", since)

	clk.Step(15 * day)
	// The controller may have looked at a project just before the clock was set. Then it looks again after its period of 12 hours.
	looked := time.Now()
	announced := func(p *gardencorev1beta1.Project) error {
		if p.Status.StaleAutoDeleteTimestamp == nil && time.Since(looked) > 10*time.Second {
			clk.Step(13 * time.Hour)
			looked = time.Now()
		}
		return has(p.Status.StaleAutoDeleteTimestamp != nil, "status %+v", p.Status)
	}
	end := harness.Await(t, o.Client, idle, "GCM-STALE-5: after the grace period the deletion is announced", announced).Status.StaleAutoDeleteTimestamp
	if diff := cmp.Diff(stale.Add(90*day), end.Time); diff != "" {
		t.Errorf("GCM-STALE-5: the time of deletion (-want +got):\n%s", diff)
	}
	harness.Await(t, o.Client, woken, "GCM-STALE-5: of each of them", announced)
	o.change(quota, func() { quota.Spec.Metrics["cpu"] = resource.MustParse("300") })
	harness.Await(t, o.Client, woken, "GCM-STALE-1: activity in a project wakes it up", func(p *gardencorev1beta1.Project) error {
		return has(p.Status.StaleSinceTimestamp == nil && p.Status.StaleAutoDeleteTimestamp == nil, "status %+v", p.Status)
	})

	clk.Step(76 * day)
	o.gone(idle, "GCM-STALE-6: the project is deleted when its time has come")
	o.gone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: *idle.Spec.Namespace}}, "GCM-STALE-6: and its namespace with it")
	harness.Await(t, o.Client, woken, "GCM-STALE-3: the other one begins anew", since)
	garden := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	for project, reason := range map[*gardencorev1beta1.Project]string{
		used:   "GCM-STALE-4: a project with a shoot is used",
		lender: "GCM-STALE-4: a project whose credentials shoots of others use is used",
		exempt: "GCM-STALE-3: an exempted project does not become stale",
		garden: "GCM-STALE-3: nor does that of the operators",
	} {
		o.read(project)
		if project.Status.StaleSinceTimestamp != nil || project.DeletionTimestamp != nil {
			t.Errorf("%s, got %+v", reason, project.Status)
		}
	}
}

// limit is a Quota of the shoots of a project, with a lifetime if there is one.
func limit(namespace, name string, days *int32) *gardencorev1beta1.Quota {
	return &gardencorev1beta1.Quota{
		ObjectMeta: named(namespace, name),
		Spec: gardencorev1beta1.QuotaSpec{
			Scope:   corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project"},
			Metrics: corev1.ResourceList{"cpu": resource.MustParse("200")}, ClusterLifetimeDays: days,
		},
	}
}
