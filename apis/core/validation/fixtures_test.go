// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func shoot(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Name: "sprout", Namespace: "garden-meadow", ResourceVersion: "1"},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile:           &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
			Region:                 "local",
			CredentialsBindingName: new("local"),
			Kubernetes:             gardencorev1beta1.Kubernetes{Version: "1.36.3"},
			Networking: &gardencorev1beta1.Networking{
				Type: new("local"), Pods: new("10.100.0.0/16"), Services: new("10.101.0.0/16"),
			},
			Provider: gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{
				Name: "worker", Minimum: 1, Maximum: 1,
				Machine: gardencorev1beta1.Machine{Type: "local", Image: &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")}},
			}}},
		},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func seed(change ...func(*gardencorev1beta1.Seed)) *gardencorev1beta1.Seed {
	s := &gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{Name: "local", ResourceVersion: "1"},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: "local", Region: "local"},
			Networks: gardencorev1beta1.SeedNetworks{Pods: "10.98.0.0/16", Services: "10.97.0.0/16"},
			DNS: gardencorev1beta1.SeedDNS{
				Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: *dnsSecret()},
				Provider: &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: dnsSecret()},
			},
			Ingress: &gardencorev1beta1.Ingress{Domain: "ingress.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}},
		},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// dnsSecret refers to the Secret with the credentials of domains, in the namespace of operators.
func dnsSecret() *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "dns"}
}

func project(change ...func(*gardencorev1beta1.Project)) *gardencorev1beta1.Project {
	p := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "meadow", ResourceVersion: "1"}}
	for _, c := range change {
		c(p)
	}
	return p
}

func cloudProfile(change ...func(*gardencorev1beta1.CloudProfile)) *gardencorev1beta1.CloudProfile {
	p := &gardencorev1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "local", ResourceVersion: "1"},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type: "local",
			Kubernetes: gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{
				{Version: "1.36.3"},
			}},
			MachineImages: []gardencorev1beta1.MachineImage{{
				Name: "local", Versions: []gardencorev1beta1.MachineImageVersion{
					{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}},
				},
			}},
			MachineTypes: []gardencorev1beta1.MachineType{{Name: "local", CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi")}},
			Regions:      []gardencorev1beta1.Region{{Name: "local"}},
		},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func userNamed(name string) *rbacv1.Subject {
	return &rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
}

func binding(change ...func(*gardencorev1beta1.SecretBinding)) *gardencorev1beta1.SecretBinding {
	b := &gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "local", Namespace: "garden-meadow", ResourceVersion: "1"},
		Provider:   &gardencorev1beta1.SecretBindingProvider{Type: "local"},
		SecretRef:  corev1.SecretReference{Name: "local", Namespace: "garden-meadow"},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func annotated(key, value string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, key, value) }
}

func past() *metav1.Time { return &metav1.Time{Time: time.Unix(1e9, 0)} }

func percent(value string) *intstr.IntOrString { return new(intstr.FromString(value)) }
