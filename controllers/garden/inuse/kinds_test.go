// SPDX-License-Identifier: Apache-2.0

package inuse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// named is an object in a namespace of a project.
func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "garden-dev", Name: name}
}

func shoot(name string, spec gardencorev1beta1.ShootSpec) *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{ObjectMeta: named(name), Spec: spec}
}

func withProfile(name, kind, profile string) *gardencorev1beta1.Shoot {
	return shoot(name, gardencorev1beta1.ShootSpec{CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: profile}})
}

func profileUsers() []client.Object {
	child := func(name, parent string) client.Object {
		return &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: named(name), Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
			Parent: gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent},
		}}
	}
	both := withProfile("other", "CloudProfile", "cloud")
	both.Spec.CloudProfileName = new("local")
	elsewhere := withProfile("elsewhere", "NamespacedCloudProfile", "local")
	elsewhere.Namespace = "garden-prod"
	return []client.Object{
		child("own", "local"), child("stranger", "cloud"), both, elsewhere,
		withProfile("by-reference", "CloudProfile", "local"), shoot("by-older-field", gardencorev1beta1.ShootSpec{CloudProfileName: new("local")}),
		withProfile("namespaced", "NamespacedCloudProfile", "local"), withProfile("unlike", "NamespacedCloudProfile", "other"),
		shoot("none", gardencorev1beta1.ShootSpec{}),
	}
}

func bindings() []client.Object {
	quotas := func(namespace, name string) []corev1.ObjectReference {
		return []corev1.ObjectReference{{Namespace: "garden", Name: "first"}, {Namespace: namespace, Name: name}}
	}
	return []client.Object{
		&gardencorev1beta1.SecretBinding{ObjectMeta: named("user"), Quotas: quotas("garden", "trial")},
		&gardencorev1beta1.SecretBinding{ObjectMeta: named("elsewhere"), Quotas: quotas("garden-dev", "trial")},
		&gardencorev1beta1.SecretBinding{ObjectMeta: named("none")},
		&gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: named("newer"), Quotas: quotas("garden", "trial")},
		&gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: named("other"), Quotas: quotas("garden", "other")},
	}
}

func registration(name string, deployments ...string) *gardencorev1beta1.ControllerRegistration {
	r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, deployment := range deployments {
		if r.Spec.Deployment == nil {
			r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{}
		}
		r.Spec.Deployment.DeploymentRefs = append(r.Spec.Deployment.DeploymentRefs, gardencorev1beta1.DeploymentRef{Name: deployment})
	}
	return r
}

func installations() []client.Object {
	installation := func(name, registration string, seed *corev1.ObjectReference) client.Object {
		return &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gardencorev1beta1.ControllerInstallationSpec{
			RegistrationRef: corev1.ObjectReference{Name: registration}, SeedRef: seed,
		}}
	}
	inShoot := func(name, registration, namespace, shoot string) client.Object {
		object := installation(name, registration, nil)
		if i, ok := object.(*gardencorev1beta1.ControllerInstallation); ok {
			i.Spec.ShootRef = &corev1.ObjectReference{Namespace: namespace, Name: shoot}
		}
		return object
	}
	moving := shoot("moving", gardencorev1beta1.ShootSpec{SeedName: new("elsewhere")})
	moving.Status.SeedName = new("home")
	return []client.Object{
		installation("a", "local", &corev1.ObjectReference{Name: "home"}), installation("b", "other", &corev1.ObjectReference{Name: "home"}),
		installation("c", "local", nil), inShoot("d", "local", "garden-dev", "home"), inShoot("e", "other", "garden", "home"),
		inShoot("f", "other", "garden-dev", "elsewhere"), moving, shoot("bound", gardencorev1beta1.ShootSpec{SeedName: new("home")}),
		shoot("away", gardencorev1beta1.ShootSpec{SeedName: new("elsewhere")}),
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason     string
		protection inuse.Protection
		namespace  string
		object     string
		users      []client.Object
		want       []string
	}{
		"GCM-CLOUDPROFILE-1": {
			reason:     "those that extend the profile, and shoots by both fields; the newer field wins, and a namespaced profile is another kind",
			protection: inuse.CloudProfiles(), object: "local", users: profileUsers(),
			want: []string{"NamespacedCloudProfile garden-dev/own", "Shoot garden-dev/by-older-field", "Shoot garden-dev/by-reference"},
		},
		"GCM-NCP-1": {
			reason:     "shoots of the same namespace, by the kind of the reference",
			protection: inuse.NamespacedCloudProfiles(), namespace: "garden-dev", object: "local", users: profileUsers(),
			want: []string{"Shoot garden-dev/namespaced"},
		},
		"GCM-EXPOSURECLASS-1": {
			reason: "shoots that name the class", protection: inuse.ExposureClasses(), object: "internet", want: []string{"Shoot garden-dev/user"},
			users: []client.Object{
				shoot("user", gardencorev1beta1.ShootSpec{ExposureClassName: new("internet")}),
				shoot("other", gardencorev1beta1.ShootSpec{ExposureClassName: new("intranet")}), shoot("none", gardencorev1beta1.ShootSpec{}),
			},
		},
		"GCM-QUOTA-1": {
			reason:     "bindings of both kinds and of all namespaces; the namespace of the quota counts",
			protection: inuse.Quotas(), namespace: "garden", object: "trial", users: bindings(),
			want: []string{"SecretBinding garden-dev/user", "CredentialsBinding garden-dev/newer"},
		},
		"GCM-CONTROLLERDEPLOYMENT-1": {
			reason: "any of the references counts", protection: inuse.ControllerDeployments(), object: "local",
			users: []client.Object{registration("a", "other", "local"), registration("b", "other"), registration("c")},
			want:  []string{"ControllerRegistration a"},
		},
		"GCM-CRFIN-1": {
			reason:     "installations of the registration, on seeds, in shoots and on nothing",
			protection: inuse.ControllerRegistrations(), object: "local", users: installations(),
			want: []string{"ControllerInstallation a", "ControllerInstallation c", "ControllerInstallation d"},
		},
		"GCM-CRFIN-2": {
			reason:     "installations on the seed, and shoots that name it in spec or status",
			protection: inuse.Seeds(), object: "home", users: installations(),
			want: []string{"ControllerInstallation a", "ControllerInstallation b", "Shoot garden-dev/bound", "Shoot garden-dev/moving"},
		},
		"GCM-CR-10": {
			reason:     "installations in the shoot of that name and namespace, and no seed of its name",
			protection: inuse.SelfHostedShoots(), namespace: "garden-dev", object: "home", users: installations(),
			want: []string{"ControllerInstallation d"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			garden := fake.NewClientBuilder().WithScheme(kinds).WithObjects(tc.users...).Build()
			protected, _ := tc.protection.Object.DeepCopyObject().(client.Object)
			protected.SetNamespace(tc.namespace)
			protected.SetName(tc.object)
			got, err := tc.protection.References(t.Context(), garden, kinds, protected)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nReferences(%s %q) (-want +got):\n%s", tc.reason, tc.protection.Name, tc.object, diff)
			}
		})
	}
}
