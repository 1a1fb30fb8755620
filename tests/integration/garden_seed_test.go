// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// impatient makes a garden notice a silent gardenlet soon.
func impatient(c *gardenconfigv1alpha1.ServerConfiguration) {
	c.Controllers.Seed.SyncPeriod = &metav1.Duration{Duration: 200 * time.Millisecond}
	c.Controllers.Seed.MonitorPeriod = &metav1.Duration{Duration: 4 * time.Second}
	c.Controllers.Seed.ShootMonitorPeriod = &metav1.Duration{Duration: 3 * time.Second}
}

func TestSilentSeed(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(impatient))
	o.provider("cloud")
	project := o.project("dev")
	seed := o.seed("quiet", "cloud", "north")
	// The seed is named from the start: on a busy machine it may be Unknown before the scheduler sees it.
	shoot := o.shoot(*project.Spec.Namespace, "a", "cloud", func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("quiet") })
	o.changeStatus(shoot, func() {
		shoot.Status.SeedName = new("quiet")
		shoot.Status.Conditions = []gardencorev1beta1.Condition{{Type: "APIServerAvailable", Status: "True", Reason: "HealthzRequestSucceeded", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now()}}
	})

	harness.Await(t, o.Client, seed, "GCM-SEEDLIFE-3: a seed whose lease is stale is Unknown", func(s *gardencorev1beta1.Seed) error {
		ready, err := condition(s.Status.Conditions, "GardenletReady")
		if err != nil {
			return err
		}
		return has(ready.Status == "Unknown" && ready.Reason == "StatusUnknown", "condition %v", ready)
	})
	harness.Await(t, o.Client, shoot, "GCM-SEEDLIFE-5: later its shoots are Unknown too", func(s *gardencorev1beta1.Shoot) error {
		available, err := condition(s.Status.Conditions, "APIServerAvailable")
		if err != nil {
			return err
		}
		// It has no workers, and so no condition about nodes.
		all := len(s.Status.Conditions) == 4 && len(s.Status.Constraints) == 2
		return has(available.Status == "Unknown" && all, "conditions %v, constraints %v", s.Status.Conditions, s.Status.Constraints)
	})

	// The gardenlet comes back: it beats, and reports itself.
	o.heartbeat("quiet")
	o.changeStatus(seed, func() {
		for i := range seed.Status.Conditions {
			if seed.Status.Conditions[i].Type == "GardenletReady" {
				seed.Status.Conditions[i].Status, seed.Status.Conditions[i].LastTransitionTime = "True", metav1.Now()
			}
		}
	})
	deadline := time.Now().Add(2 * time.Second)
	harness.Await(t, o.Client, seed, "GCM-SEEDLIFE-2: a seed that beats is left alone", func(s *gardencorev1beta1.Seed) error {
		o.heartbeat("quiet")
		ready, err := condition(s.Status.Conditions, "GardenletReady")
		if err != nil {
			return err
		}
		if ready.Status != "True" {
			t.Fatalf("GCM-SEEDLIFE-2: a seed that beats became %v", ready)
		}
		return has(time.Now().After(deadline), "still watching")
	})
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")

	t.Run("GCM-SEED-1 namespace and secrets", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		seed := o.seed("north-1", "local", "north")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "seed-north-1"}}
		harness.Await(t, o.Client, namespace, "GCM-SEED-1: a seed has a namespace", func(n *corev1.Namespace) error {
			return has(n.Labels["gardener.cloud/role"] == "seed" && metav1.IsControlledBy(n, seed), "labels %v, owners %v", n.Labels, n.OwnerReferences)
		})
		source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "monitoring", Labels: map[string]string{"gardener.cloud/role": "global-monitoring"}}, StringData: map[string]string{"user": "a"}}
		hidden := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "wildcard", Labels: map[string]string{"gardener.cloud/role": "controlplane-cert"}}}
		o.create(hidden, source)
		copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-north-1", Name: "monitoring"}}
		reads := func(want string) func(*corev1.Secret) error {
			return func(s *corev1.Secret) error { return has(string(s.Data["user"]) == want, "data %v", s.Data) }
		}
		harness.Await(t, o.Client, copied, "GCM-SEED-2: a garden secret is copied", reads("a"))
		o.change(source, func() { source.Data = map[string][]byte{"user": []byte("b")} })
		harness.Await(t, o.Client, copied, "GCM-SEED-3: a change of the source reaches the copy", reads("b"))
		o.change(copied, func() { copied.Data = map[string][]byte{"user": []byte("mine")} })
		harness.Await(t, o.Client, copied, "GCM-SEED-3: a change of the copy is reverted", reads("b"))
		o.change(copied, func() { copied.Labels = nil })
		harness.Await(t, o.Client, copied, "GCM-SEED-3: a copy gets its label back", func(s *corev1.Secret) error {
			return has(s.Labels["gardener.cloud/role"] == "global-monitoring", "labels %v", s.Labels)
		})
		o.gone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-north-1", Name: "wildcard"}}, "GCM-SEED-2: a certificate of control planes is not copied")
		plain := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "plain", Labels: map[string]string{"gardener.cloud/role": "alerting"}}, StringData: map[string]string{"user": "a"}}
		o.create(plain)
		former := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-north-1", Name: "plain"}}
		harness.Await(t, o.Client, former, "GCM-SEED-2: a garden secret is copied", reads("a"))
		o.change(plain, func() { plain.Labels = nil })
		o.gone(former, "GCM-SEED-3: a copy goes when its source loses the label")
		o.delete(source)
		o.gone(copied, "GCM-SEED-3: a copy goes with its source")
	})

	t.Run("GCM-CR-7 installations", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		o.provider("cloud")
		seed := o.seed("cloud-1", "cloud", "north")
		provider := o.installation("cloud-1", "provider-cloud", "GCM-CR-4: what a seed needs is installed")
		if diff := cmp.Diff(&corev1.ObjectReference{Name: "provider-cloud"}, provider.Spec.DeploymentRef, cmpopts.IgnoreFields(corev1.ObjectReference{}, "ResourceVersion")); diff != "" {
			t.Errorf("GCM-CR-7: deployment of the installation (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(16, len(provider.Labels["seed-spec-hash"])); diff != "" {
			t.Errorf("GCM-CR-7: length of the hash in labels %v (-want +got):\n%s", provider.Labels, diff)
		}
		o.ready(provider)
		harness.Await(t, o.Client, seed, "GCM-SEEDEXT-2: the seed says that its extensions are ready", extensions("True", "AllExtensionsReady"))

		always := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "always"}, Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Resources:  []gardencorev1beta1.ControllerResource{{Kind: "Extension", Type: "always", Primary: new(false)}},
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{Policy: new(gardencorev1beta1.ControllerDeploymentPolicyAlways), SeedSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"extended": "yes"}}},
		}}
		o.create(always)
		o.change(seed, func() { seed.Labels["extended"] = "yes" })
		installed := o.installation("cloud-1", "always", "GCM-CR-1: a change of labels installs what selects them")
		harness.Await(t, o.Client, seed, "GCM-SEEDEXT-2: an extension that is not installed yet shows", extensions("False", "NotAllExtensionsInstalled"))

		harness.Await(t, o.Client, always, "GCM-CRFIN-1: a registration is protected", func(r *gardencorev1beta1.ControllerRegistration) error {
			return has(len(r.Finalizers) > 0, "no finalizers")
		})
		o.delete(always)
		o.event(always, "ResourceReferenced", "GCM-CRFIN-1: a registration that is installed is held")
		o.change(seed, func() { delete(seed.Labels, "extended") })
		o.gone(installed, "GCM-CR-9: what is not wanted any more is deleted")
		o.gone(always, "GCM-CRFIN-1: the registration goes with its last installation")
		harness.Await(t, o.Client, seed, "GCM-SEEDEXT-1: the seed is judged when an installation goes", extensions("True", "AllExtensionsReady"))

		o.delete(seed)
		o.gone(provider, "GCM-CR-4: a seed in deletion needs nothing")
		o.gone(seed, "GCM-CRFIN-2: the seed goes with its last installation")
		o.gone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "seed-cloud-1"}}, "GCM-SEED-1: the namespace goes with its seed")
	})

	t.Run("GCM-CREXT-2 roles of extensions", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{
			Name: "dns-extension", Labels: map[string]string{"authorization.gardener.cloud/custom-extensions-permissions": "true"},
			Annotations: map[string]string{"authorization.gardener.cloud/extensions-serviceaccount-selector": `{"matchLabels":{"app":"dns"}}`},
		}}
		o.create(role)
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-x", Name: "extension-dns", Labels: map[string]string{"app": "dns"}}}
		o.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "seed-x"}}, account)
		installed := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "dns"}}
		installed.Spec.SeedRef, installed.Spec.RegistrationRef = &corev1.ObjectReference{Name: "x"}, corev1.ObjectReference{Name: "dns"}
		o.create(installed)
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "dns-extension"}}
		harness.Await(t, o.Client, binding, "GCM-CREXT-3: a new account of an extension that is installed is bound", func(b *rbacv1.ClusterRoleBinding) error {
			return has(len(b.Subjects) == 1 && b.Subjects[0].Namespace == "seed-x" && b.Subjects[0].Name == "extension-dns", "subjects %v", b.Subjects)
		})
		o.delete(account)
		harness.Await(t, o.Client, binding, "GCM-CREXT-3: an account that goes is not bound any more", func(b *rbacv1.ClusterRoleBinding) error {
			return has(len(b.Subjects) == 0, "subjects %v", b.Subjects)
		})
		o.change(role, func() { role.Labels = nil })
		o.gone(binding, "GCM-CREXT-1: a role that is not for extensions any more is bound to none")
	})
}

// installation waits for the one installation of the registration on the seed.
func (o *operator) installation(seed, registration, what string) *gardencorev1beta1.ControllerInstallation {
	o.t.Helper()
	var found *gardencorev1beta1.ControllerInstallation
	harness.Eventually(o.t, what, func(ctx context.Context) error {
		list := &gardencorev1beta1.ControllerInstallationList{}
		if err := o.Client.List(ctx, list, client.MatchingFields{"spec.seedRef.name": seed, "spec.registrationRef.name": registration}); err != nil {
			return err
		}
		if len(list.Items) == 1 {
			found = &list.Items[0]
		}
		return has(len(list.Items) == 1, "%d installations of %q on %q", len(list.Items), registration, seed)
	})
	return found
}

// ready reports about an installation as a gardenlet does.
func (o *operator) ready(installation *gardencorev1beta1.ControllerInstallation) {
	o.t.Helper()
	o.changeStatus(installation, func() {
		for kind, status := range map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{"Valid": "True", "Installed": "True", "Healthy": "True", "Progressing": "False"} {
			installation.Status.Conditions = append(installation.Status.Conditions, gardencorev1beta1.Condition{Type: kind, Status: status, LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now()})
		}
		slices.SortFunc(installation.Status.Conditions, func(a, b gardencorev1beta1.Condition) int { return len(a.Type) - len(b.Type) })
	})
}

func extensions(status gardencorev1beta1.ConditionStatus, reason string) func(*gardencorev1beta1.Seed) error {
	return func(seed *gardencorev1beta1.Seed) error {
		ready, err := condition(seed.Status.Conditions, "ExtensionsReady")
		if err != nil {
			return err
		}
		return has(ready.Status == status && ready.Reason == reason, "condition %v", ready)
	}
}
