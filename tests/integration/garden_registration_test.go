// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// offers registers an extension with the name of what it offers.
func (o *operator) offers(name, kind, typ string) {
	o.t.Helper()
	o.create(deployment(name), &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gardencorev1beta1.ControllerRegistrationSpec{
		Resources:  []gardencorev1beta1.ControllerResource{{Kind: kind, Type: typ}},
		Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: name}}},
	}})
}

// TestRegistrationTriggers lets come what a seed needs extensions for, one thing after the other: nothing else happens to
// the seed that could start a computation.
func TestRegistrationTriggers_GCM_CR_1(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.offers("keep-bucket", "BackupBucket", "keep")
	o.offers("keep-entry", "BackupEntry", "keep")
	o.offers("names", "DNSRecord", "names")
	namespace := *o.project("dev").Spec.Namespace
	o.seed("one", "local", "north")
	shoot := o.shoot(namespace, "a", "local", func(s *gardencorev1beta1.Shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.dev.x.example")}
	})
	harness.Await(t, o.Client, shoot, "the shoot gets its seed", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName != nil, "last operation %v", s.Status.LastOperation)
	})
	o.installation("one", "provider-local", "what the seed needs is installed")

	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "keep"}, StringData: map[string]string{"a": "b"}}
	o.create(key, &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "bucket"}, Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "keep", Region: "north"}, SeedName: new("one"),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: key.Namespace, Name: key.Name},
	}})
	o.installation("one", "keep-bucket", "a new bucket starts a computation")
	o.create(&gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "entry"}, Spec: gardencorev1beta1.BackupEntrySpec{
		BucketName: "bucket", SeedName: new("one"),
	}})
	o.installation("one", "keep-entry", "a new entry starts a computation")

	domain := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "default-domain", Labels: map[string]string{"gardener.cloud/role": "default-domain"},
		Annotations: map[string]string{"dns.gardener.cloud/provider": "names", "dns.gardener.cloud/domain": "x.example"},
	}}
	o.create(domain)
	installed := o.installation("one", "names", "a new default domain starts a computation")
	o.change(domain, func() { delete(domain.Labels, "gardener.cloud/role") })
	o.gone(installed, "a Secret that is none of a domain any more starts a computation")
}

// TestOnlyOneAtOnce makes many objects at once of which there can be only one.
func TestOnlyOneAtOnce(t *testing.T) {
	t.Parallel()
	o := operate(t)
	create := func(object client.Object) error { return o.Client.Create(t.Context(), object) }
	o.create(deployment("worker"))
	o.atOnce(8, func(n int) client.Object {
		return &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("worker%d", n)}, Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Resources:  []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: "local"}},
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "worker"}}},
		}}
	}, create, 1, "already has the primary extension") // API-CRRES-1
	namespace := *o.project("dev").Spec.Namespace
	o.atOnce(8, func(n int) client.Object { return plantOf(namespace, fmt.Sprintf("p%d", n), "cluster") },
		create, 1, `already uses secret "cluster"`) // API-PLANT-1
}
