// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestActivity makes and changes one object after the other, and sees which of them count.
func TestActivity(t *testing.T) {
	t.Parallel()
	clk := harness.NewClock(t)
	o := operate(t, harness.WithClock(clk))
	o.provider("cloud")
	project := o.project("dev")
	in := func(name string) metav1.ObjectMeta { return named(*project.Spec.Namespace, name) }
	seen := &metav1.Time{}
	active := func(what string) {
		t.Helper()
		before := seen
		seen = harness.Await(t, o.Client, project, "GCM-ACTIVITY-2: "+what, func(p *gardencorev1beta1.Project) error {
			return has(before.Before(p.Status.LastActivityTimestamp), "last activity %v, before %v", p.Status.LastActivityTimestamp, before)
		}).Status.LastActivityTimestamp
		clk.Step(time.Minute)
	}
	bound := &corev1.Secret{ObjectMeta: in("bound")}
	bound.Labels = map[string]string{"reference.gardener.cloud/secretbinding": "true"}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: in("a")}
	quota := limit(*project.Spec.Namespace, "small", nil)
	// A controller would add its finalizer later, which is a change of the quota, too.
	quota.Finalizers = []string{gardencorev1beta1.FinalizerGardener}
	o.seed("north", "cloud", "north")
	key := &corev1.Secret{ObjectMeta: named("garden", "keep"), StringData: map[string]string{"a": "b"}}
	o.create(key, &gardencorev1beta1.BackupBucket{ObjectMeta: named("", "bucket"), Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "cloud", Region: "north"}, SeedName: new("north"),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: key.Namespace, Name: key.Name},
	}})
	// A scheduler would change the shoot a second time.
	o.shoot(*project.Spec.Namespace, "a", "cloud", func(s *gardencorev1beta1.Shoot) { s.Spec.SchedulerName = new("nobody") })
	active("a new shoot")
	for what, object := range map[string]client.Object{
		"a new plant":               &gardencorev1beta1.Plant{ObjectMeta: in("p"), Spec: gardencorev1beta1.PlantSpec{SecretRef: corev1.LocalObjectReference{Name: "p"}}},
		"a new backup":              &gardencorev1beta1.BackupEntry{ObjectMeta: in("b"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "bucket", SeedName: new("north")}},
		"a new quota":               quota,
		"a new Secret of a binding": bound,
	} {
		o.create(object)
		active(what)
	}
	o.change(shoot, func() { shoot.Spec.Purpose = new(gardencorev1beta1.ShootPurposeDevelopment) })
	active("another specification of a shoot")
	o.change(quota, func() { quota.Labels = map[string]string{"changed": "yes"} })
	active("any change of a quota")
	o.change(bound, func() { bound.Labels = nil })
	active("a Secret that no binding uses any more")

	o.create(&corev1.Secret{ObjectMeta: in("plain")}, &corev1.ConfigMap{ObjectMeta: in("plain")})
	o.changeStatus(shoot, func() { shoot.Status.LastErrors = []gardencorev1beta1.LastError{{Description: "boom"}} })
	o.settled("nothing is left to do")
	o.read(project)
	if diff := cmp.Diff(seen, project.Status.LastActivityTimestamp); diff != "" {
		t.Errorf("GCM-ACTIVITY-2: other objects and the status of shoots do not count: last activity (-want +got):\n%s", diff)
	}
	clk.Step(2 * time.Hour)
	o.delete(quota)
	active("the end of a quota")
}
