// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// selfHosted orders a shoot that runs its control plane on its own machines.
func (o *operator) selfHosted(namespace, name, typ string, change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	o.t.Helper()
	return o.shoot(namespace, name, typ, append([]func(*gardencorev1beta1.Shoot){withWorker(""), func(s *gardencorev1beta1.Shoot) {
		s.Spec.CredentialsBindingName = nil
		s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	}}, change...)...)
}

// connects has the gardenlet of a self-hosted shoot send a heartbeat, and report that all is well.
func (o *operator) connects(shoot *gardencorev1beta1.Shoot, renewed, now time.Time) {
	o.t.Helper()
	o.create(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace, Name: "self-hosted-shoot-" + shoot.Name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("gardenlet"), RenewTime: new(metav1.NewMicroTime(renewed))},
	})
	o.changeStatus(shoot, func() {
		shoot.Status.Conditions = nil
		for _, kind := range []gardencorev1beta1.ConditionType{"GardenletReady", "APIServerAvailable"} {
			shoot.Status.Conditions = append(shoot.Status.Conditions, gardencorev1beta1.Condition{
				Type: kind, Status: "True", Reason: "Fine", LastTransitionTime: metav1.NewTime(now), LastUpdateTime: metav1.NewTime(now),
			})
		}
	})
}

// TestSilentSelfHostedShoot has the gardenlets of two shoots connect, of which one sends no heartbeat any more.
func TestSilentSelfHostedShoot_GCM_SEEDLIFE_6(t *testing.T) {
	t.Parallel()
	clock := harness.NewClock(t)
	o := operate(t, harness.WithClock(clock))
	o.provider("local")
	o.home()
	silent, beats, never := o.selfHosted("garden", "silent", "local"), o.selfHosted("garden", "beats", "local"), o.selfHosted("garden", "never", "local")
	o.connects(beats, clock.Now().Add(24*time.Hour), clock.Now()) // Its clock is ahead, so that the test need not renew the lease.
	o.connects(silent, clock.Now(), clock.Now())

	is := func(gardenlet, server gardencorev1beta1.ConditionStatus, conditions, constraints int) func(*gardencorev1beta1.Shoot) error {
		return func(s *gardencorev1beta1.Shoot) error {
			ready, err := condition(s.Status.Conditions, "GardenletReady")
			if err != nil {
				return err
			}
			available, err := condition(s.Status.Conditions, "APIServerAvailable")
			if err != nil {
				return err
			}
			right := ready.Status == gardenlet && available.Status == server && len(s.Status.Conditions) == conditions && len(s.Status.Constraints) == constraints
			return has(right, "conditions %v, constraints %v", s.Status.Conditions, s.Status.Constraints)
		}
	}
	clock.Step(30 * time.Second)
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(silent), silent); err != nil {
		t.Fatal(err)
	}
	if err := is("True", "True", 2, 0)(silent); err != nil {
		t.Errorf("a lease that is not older than the monitor period is well: %v", err)
	}
	clock.Step(20 * time.Second)
	harness.Await(t, o.Client, silent, "its gardenlet is silent", is("Unknown", "True", 2, 0))
	clock.Step(200 * time.Second)
	late := patience(clock)
	harness.Await(t, o.Client, silent, "nobody knows how it is any more", func(s *gardencorev1beta1.Shoot) error {
		late()
		return is("Unknown", "Unknown", 6, 2)(s)
	})
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(beats), beats); err != nil {
		t.Fatal(err)
	}
	if err := is("True", "True", 2, 0)(beats); err != nil {
		t.Errorf("the other one is left alone: %v", err)
	}
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(never), never); err != nil {
		t.Fatal(err)
	}
	if len(never.Status.Conditions) > 0 {
		t.Errorf("one that never connected has no conditions, got %v", never.Status.Conditions)
	}
}

// TestSelfHostedShoot gives the gardenlet of a self-hosted shoot all rights: it still writes what belongs to its shoot, and
// nothing else (GAC-SHOOTR-1).
func TestSelfHostedShoot(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.home()
	o.create(&corev1.Secret{ObjectMeta: named("garden", "creds")}, boundTo("garden", "creds", "local"))
	own := o.selfHosted("garden", "lone", "local")
	other := o.shoot("garden", "other", "local", withWorker("creds"))
	lone := o.as("gardener.cloud:system:shoot:garden:lone", "gardener.cloud:system:shoots", "system:masters")

	if err := lone.Create(t.Context(), &corev1.Secret{ObjectMeta: named("garden", "lone.monitoring")}); err != nil {
		t.Errorf("a gardenlet keeps the credentials of its shoot: %v", err)
	}
	if err := lone.Status().Patch(t.Context(), own, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"technicalID":"shoot--garden--lone"}}`))); err != nil {
		t.Errorf("and tells how its shoot is: %v", err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: named("", "things.lone.example")}
	definition.Spec.Group, definition.Spec.Scope = "lone.example", apiextensionsv1.ClusterScoped
	definition.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	definition.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
	}}
	for reason, object := range map[string]client.Object{
		"a Secret of another shoot":      &corev1.Secret{ObjectMeta: named("garden", "other.monitoring")},
		"a Secret of an operator":        &corev1.Secret{ObjectMeta: named("garden", "default-domain")},
		"a Secret elsewhere":             &corev1.Secret{ObjectMeta: named("kube-system", "lone.monitoring")},
		"the state of another shoot":     &gardencorev1beta1.ShootState{ObjectMeta: named("garden", "other")},
		"the rights of somebody":         &rbacv1.ClusterRoleBinding{ObjectMeta: named("", "lone"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}},
		"a Namespace":                    &corev1.Namespace{ObjectMeta: named("", "garden-lone")},
		"a Project":                      &gardencorev1beta1.Project{ObjectMeta: named("", "lone")},
		"a kind of its own":              definition,
		"a certificate for another seed": requestFor(o, "one"),
	} {
		refusedWith(t, lone.Create(t.Context(), object), "does not belong to an object of this shoot", "it makes "+reason)
	}
	o.change(other, func() {
		other.Annotations = map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"}
	})
	refusedWith(t, lone.Delete(t.Context(), other.DeepCopy()), "does not belong to an object of this shoot", "it deletes another shoot")
	refusedWith(t, lone.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace("garden")), "does not belong to an object of this shoot", "it deletes all Secrets at once")
	// The other shoot has its control plane on a seed, so nobody is its gardenlet.
	nobody := o.as("gardener.cloud:system:shoot:garden:other", "gardener.cloud:system:shoots", "system:masters")
	refusedWith(t, nobody.Create(t.Context(), &corev1.Secret{ObjectMeta: named("garden", "other.monitoring")}), "is not self-hosted", "a shoot on a seed has no gardenlet of its own")
}
