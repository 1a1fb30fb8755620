// SPDX-License-Identifier: Apache-2.0

package admissiontest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Namespace is the namespace of the project meadow.
const Namespace = "garden-meadow"

// Names of the objects below: a provider, its offer, and objects that are named after it.
const (
	local = "local"
	north = "north"
	small = "small"
)

// Project returns the project meadow.
func Project(change ...func(*gardencorev1beta1.Project)) *gardencorev1beta1.Project {
	return made(&gardencorev1beta1.Project{
		ObjectMeta: metav1.ObjectMeta{Name: "meadow"},
		Spec:       gardencorev1beta1.ProjectSpec{Namespace: new(Namespace)},
	}, change)
}

// Profile returns a profile that offers what Shoot uses.
func Profile(change ...func(*gardencorev1beta1.CloudProfile)) *gardencorev1beta1.CloudProfile {
	return made(&gardencorev1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: local},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type:       local,
			Kubernetes: gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.3"}}},
			MachineImages: []gardencorev1beta1.MachineImage{{Name: local, Versions: []gardencorev1beta1.MachineImageVersion{{
				ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"},
				Architectures:    []string{gardencorev1beta1.ArchitectureAMD64},
				CRI:              []gardencorev1beta1.CRI{{Name: gardencorev1beta1.CRINameContainerd}},
			}}}},
			MachineTypes: []gardencorev1beta1.MachineType{{
				Name: small, CPU: resource.MustParse("2"), Memory: resource.MustParse("4Gi"),
				Architecture: new(gardencorev1beta1.ArchitectureAMD64),
			}},
			Regions: []gardencorev1beta1.Region{{
				Name: north, Zones: []gardencorev1beta1.AvailabilityZone{{Name: "a"}, {Name: "b", UnavailableMachineTypes: []string{small}}},
			}, {Name: "south"}},
		},
	}, change)
}

// Seed returns a seed that can run Shoot.
func Seed(name string, change ...func(*gardencorev1beta1.Seed)) *gardencorev1beta1.Seed {
	return made(&gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: local, Region: north, Zones: []string{"a", "b"}},
			Networks: gardencorev1beta1.SeedNetworks{
				Pods: "10.1.0.0/16", Services: "10.2.0.0/16",
				ShootDefaults: &gardencorev1beta1.ShootNetworks{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")},
			},
		},
	}, change)
}

// Config is a minimal configuration of a gardenlet that registers a seed.
func Config() runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration",` +
		`"seedConfig":{"spec":{"provider":{"type":"local","region":"north"},"networks":{"pods":"10.1.0.0/16","services":"10.2.0.0/16"},` +
		`"ingress":{"domain":"ingress.example.org","controller":{"kind":"nginx"}},` +
		`"dns":{"provider":{"type":"local","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"domain"}},` +
		`"internal":{"type":"local","domain":"internal.example.org",` +
		`"credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"domain"}}}}}}`)}
}

// known adds the domains that are required to store a seed. Plugins see seeds as tests made them.
func known(obj kind.Object) kind.Object {
	given, ok := obj.(*gardencorev1beta1.Seed)
	if !ok {
		return obj
	}
	seed := given.DeepCopy()
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: gardencorev1beta1.NamespaceGarden, Name: "domain"}
	if seed.Spec.DNS.Internal == nil {
		seed.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: local, Domain: "internal.example.org", CredentialsRef: ref}
	}
	if seed.Spec.DNS.Provider == nil {
		seed.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: local, CredentialsRef: &ref}
	}
	if seed.Spec.Ingress == nil {
		seed.Spec.Ingress = &gardencorev1beta1.Ingress{
			Domain: "ingress.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"},
		}
	}
	return seed
}

// Formerly sets a version of Kubernetes that supports SecretBindings in a shoot, and the one of Binding.
func Formerly(s *gardencorev1beta1.Shoot) {
	s.Spec.Kubernetes.Version = "1.33.9"
	s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = new(local), nil
}

// Binding returns the SecretBinding of a Shoot with Formerly.
func Binding(change ...func(*gardencorev1beta1.SecretBinding)) *gardencorev1beta1.SecretBinding {
	return made(&gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: local},
		Provider:   &gardencorev1beta1.SecretBindingProvider{Type: local},
		SecretRef:  corev1.SecretReference{Namespace: Namespace, Name: local},
	}, change)
}

// Credentials returns the CredentialsBinding of Shoot.
func Credentials(change ...func(*gardensecurityv1alpha1.CredentialsBinding)) *gardensecurityv1alpha1.CredentialsBinding {
	return made(&gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Namespace: Namespace, Name: local},
		Provider:       gardensecurityv1alpha1.CredentialsBindingProvider{Type: local},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: Namespace, Name: local},
	}, change)
}

// Registration returns a registration that offers every kind of extension for one type.
func Registration(name string, change ...func(*gardencorev1beta1.ControllerRegistration)) *gardencorev1beta1.ControllerRegistration {
	r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, kind := range []string{"ControlPlane", "Infrastructure", "Worker", "Network", "OperatingSystemConfig"} {
		r.Spec.Resources = append(r.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: name})
	}
	return made(r, change)
}

// Shoot returns a shoot with one pool.
func Shoot(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	return made(&gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "sprout"},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile: &gardencorev1beta1.CloudProfileReference{
				Kind: gardencorev1beta1.CloudProfileReferenceKindCloudProfile, Name: local,
			},
			Region:                 north,
			CredentialsBindingName: new(local),
			Kubernetes:             gardencorev1beta1.Kubernetes{Version: "1.36.3"},
			Networking:             &gardencorev1beta1.Networking{Type: new(local)},
			Provider: gardencorev1beta1.Provider{Type: local, Workers: []gardencorev1beta1.Worker{{
				Name: "one", Minimum: 1, Maximum: 1, Zones: []string{"a"},
				Machine: gardencorev1beta1.Machine{
					Type: small, Architecture: new(gardencorev1beta1.ArchitectureAMD64),
					Image: &gardencorev1beta1.ShootMachineImage{Name: local, Version: new("1.0.0")},
				},
			}}},
		},
	}, change)
}

func made[T any](object *T, change []func(*T)) *T {
	for _, c := range change {
		c(object)
	}
	return object
}

// NamespacedProfile returns a profile of the project that adds nothing to Profile.
func NamespacedProfile(change ...func(*gardencorev1beta1.NamespacedCloudProfile)) *gardencorev1beta1.NamespacedCloudProfile {
	return made(&gardencorev1beta1.NamespacedCloudProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "own"},
		Spec: gardencorev1beta1.NamespacedCloudProfileSpec{Parent: gardencorev1beta1.CloudProfileReference{
			Kind: gardencorev1beta1.CloudProfileReferenceKindCloudProfile, Name: local,
		}},
		Status: gardencorev1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: Profile().Spec},
	}, change)
}
