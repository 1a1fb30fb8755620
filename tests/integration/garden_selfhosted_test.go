// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
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
func (o *operator) selfHosted(name string, change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	o.t.Helper()
	return o.shoot("garden", name, "local", append([]func(*gardencorev1beta1.Shoot){withWorker(""), func(s *gardencorev1beta1.Shoot) {
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
	silent, beats, never := o.selfHosted("silent"), o.selfHosted("beats"), o.selfHosted("never")
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
	own := o.selfHosted("lone")
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

// installedIn waits for the one installation of the registration in a self-hosted shoot.
func (o *operator) installedIn(shoot *gardencorev1beta1.Shoot, registration, what string) *gardencorev1beta1.ControllerInstallation {
	o.t.Helper()
	var found *gardencorev1beta1.ControllerInstallation
	harness.Eventually(o.t, what, func(ctx context.Context) error {
		list := &gardencorev1beta1.ControllerInstallationList{}
		if err := o.Client.List(ctx, list, client.MatchingFields{
			"spec.shootRef.namespace": shoot.Namespace, "spec.shootRef.name": shoot.Name, "spec.registrationRef.name": registration,
		}); err != nil {
			return err
		}
		if len(list.Items) == 1 {
			found = &list.Items[0]
		}
		return has(len(list.Items) == 1, "%d installations of %q in shoot %q", len(list.Items), registration, shoot.Name)
	})
	return found
}

// TestSelfHostedInstallations_GCM_CR_10 has a self-hosted shoot come, need more and go. A seed of its name has extensions of its own all the while.
func TestSelfHostedInstallations_GCM_CR_10(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.home()
	o.provider("local")
	o.seed("lone", "local", "north")
	lone, hosted := o.selfHosted("lone"), o.shoot("garden", "hosted", "local")
	provider := o.installedIn(lone, "provider-local", "what a self-hosted shoot needs is installed there")
	onSeed := o.installation("lone", "provider-local", "and on the seed, once each")
	if provider.Spec.SeedRef != nil || len(provider.Labels["shoot-spec-hash"]) != 16 || provider.Labels["seed-ref-name"] != "" {
		t.Errorf("installation in the shoot: seed %v, labels %v", provider.Spec.SeedRef, provider.Labels)
	}
	if onSeed.Spec.ShootRef != nil || onSeed.Labels["seed-ref-name"] != "lone" {
		t.Errorf("installation on the seed: shoot %v, labels %v", onSeed.Spec.ShootRef, onSeed.Labels)
	}

	o.offers("keep-bucket", "BackupBucket", "keep")
	o.offers("keep-entry", "BackupEntry", "keep")
	ref := &corev1.ObjectReference{Namespace: "garden", Name: "lone"}
	key := &corev1.Secret{ObjectMeta: named("garden", "keep"), StringData: map[string]string{"a": "b"}}
	bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: named("", "bucket"), Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "keep", Region: "north"}, ShootRef: ref,
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: key.Namespace, Name: key.Name},
	}}
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: named("garden", "entry"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "bucket", ShootRef: ref}}
	o.create(key, bucket)
	keepBucket := o.installedIn(lone, "keep-bucket", "a new bucket of the shoot starts a computation")
	o.create(entry)
	keepEntry := o.installedIn(lone, "keep-entry", "a new entry of the shoot starts a computation")
	o.delete(entry)
	o.gone(keepEntry, "what is not needed any more is deleted")
	o.delete(bucket)
	o.gone(keepBucket, "what is not needed any more is deleted")

	always := &gardencorev1beta1.ControllerRegistration{ObjectMeta: named("", "always"), Spec: gardencorev1beta1.ControllerRegistrationSpec{
		Resources:  []gardencorev1beta1.ControllerResource{{Kind: "Extension", Type: "always", Primary: new(false)}},
		Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{Policy: new(gardencorev1beta1.ControllerDeploymentPolicyAlways)},
	}}
	o.create(always)
	extra := o.installedIn(lone, "always", "a new registration starts a computation")
	o.require(provider, "True")
	o.require(extra, "False")
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(hosted), hosted); err != nil {
		t.Fatal(err)
	}
	if len(hosted.Finalizers) > 0 {
		t.Errorf("a shoot on a seed is left alone, finalizers %v", hosted.Finalizers)
	}

	o.confirm(lone)
	o.gone(extra, "a shoot in deletion needs nothing")
	o.event(lone, "ResourceReferenced", "the shoot stays while something is installed in it")
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(provider), provider); err != nil || provider.DeletionTimestamp != nil {
		t.Errorf("what is required stays: %v, deleted %v", err, provider.DeletionTimestamp)
	}
	o.require(provider, "False")
	o.gone(provider, "what is not required any more is deleted")
	o.gone(lone, "the shoot goes with its last installation")
	o.installation("lone", "always", "the seed keeps its own")
	o.installation("lone", "provider-local", "the seed keeps its own")
}

// TestRegistrationInSelfHostedShoot_GCM_CRFIN_1 deletes a registration that is installed in a self-hosted shoot only.
func TestRegistrationInSelfHostedShoot_GCM_CRFIN_1(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.home()
	o.provider("local")
	o.selfHosted("lone")
	o.offers("sole", "Extension", "sole")
	shoot := o.selfHosted("user", func(s *gardencorev1beta1.Shoot) {
		s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "sole"}}
	})
	installed := o.installedIn(shoot, "sole", "what the shoot lists is installed")
	sole := &gardencorev1beta1.ControllerRegistration{ObjectMeta: named("", "sole")}
	harness.Await(t, o.Client, sole, "a registration is protected", func(r *gardencorev1beta1.ControllerRegistration) error {
		return has(len(r.Finalizers) > 0, "no finalizers")
	})
	o.delete(sole)
	o.event(sole, "ResourceReferenced", "a registration that is installed in a shoot is held")
	o.change(shoot, func() { shoot.Spec.Extensions = nil })
	o.gone(installed, "the spec of a shoot starts a computation")
	o.gone(sole, "the registration goes with its last installation")
}

// require reports that an extension has objects to act on, or none, as the gardenlet does.
func (o *operator) require(installation *gardencorev1beta1.ControllerInstallation, status gardencorev1beta1.ConditionStatus) {
	o.t.Helper()
	o.changeStatus(installation, func() {
		installation.Status.Conditions = []gardencorev1beta1.Condition{{Type: "Required", Status: status, LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now()}}
	})
}
