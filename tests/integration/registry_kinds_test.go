// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// with is a change of an object whose Go type is known.
func with[T client.Object](change func(T)) func(client.Object) {
	return func(object client.Object) {
		if o, ok := object.(T); ok {
			change(o)
		}
	}
}

// shows is a question about an object whose Go type is known.
func shows[T client.Object](ask func(T) bool) func(client.Object) bool {
	return func(object client.Object) bool {
		o, ok := object.(T)
		return ok && ask(o)
	}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// servedKinds is the list of resources.md, as far as it is served.
func servedKinds() []served {
	return []served{
		{
			kind: "CloudProfile", resource: "cloudprofiles", singular: "cloudprofile", shortNames: []string{"cprofile", "cpfl"}, unconditional: true,
			columns: []string{"Name", "Provider", "Age"},
			made: func(_, name string) client.Object {
				p := profile("kinds")
				p.Name = name
				return p
			},
			edit: with(func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Regions = append(p.Spec.Regions, gardencorev1beta1.Region{Name: "east"})
			}),
			report: with(func(p *gardencorev1beta1.CloudProfile) {
				p.Status.Kubernetes = &gardencorev1beta1.KubernetesStatus{Versions: []gardencorev1beta1.ExpirableVersionStatus{{Version: "1.36.3", Classification: "supported"}}}
			}),
			reported: shows(func(p *gardencorev1beta1.CloudProfile) bool { return p.Status.Kubernetes != nil }),
		},
		{
			kind: "ControllerDeployment", resource: "controllerdeployments", singular: "controllerdeployment", shortNames: []string{"ctrldeploy"}, categories: []string{"all"}, generation: true,
			columns: []string{"Name", "Age"},
			made: func(_, name string) client.Object {
				return deployment(name)
			},
			edit: with(func(d *gardencorev1beta1.ControllerDeployment) {
				d.ProviderConfig = runtime.RawExtension{Raw: []byte(`{"chart":"YnllYnll"}`)}
			}),
		},
		{
			kind: "ControllerInstallation", resource: "controllerinstallations", singular: "controllerinstallation", shortNames: []string{"ctrlinst"}, categories: []string{"all"}, generation: true,
			columns:   []string{"Name", "Registration", "Cluster", "Valid", "Installed", "Healthy", "Progressing", "Age"},
			selectors: map[string]string{"spec.registrationRef.name": "unknown", "spec.seedRef.name": "nowhere", "spec.shootRef.name": "", "spec.shootRef.namespace": ""},
			made: func(_, name string) client.Object {
				return &gardencorev1beta1.ControllerInstallation{ObjectMeta: named("", name), Spec: gardencorev1beta1.ControllerInstallationSpec{
					RegistrationRef: corev1.ObjectReference{Name: "unknown"}, SeedRef: &corev1.ObjectReference{Name: "nowhere"},
				}}
			},
			edit: with(func(i *gardencorev1beta1.ControllerInstallation) { i.Spec.RegistrationRef.ResourceVersion = "7" }),
			report: with(func(i *gardencorev1beta1.ControllerInstallation) {
				i.Status.Conditions = []gardencorev1beta1.Condition{{Type: "Valid", Status: "True", Reason: "Fine", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now()}}
			}),
			reported: shows(func(i *gardencorev1beta1.ControllerInstallation) bool { return len(i.Status.Conditions) > 0 }),
		},
		{
			kind: "ControllerRegistration", resource: "controllerregistrations", singular: "controllerregistration", shortNames: []string{"ctrlreg"}, categories: []string{"all"}, generation: true,
			columns: []string{"Name", "Resources", "Age"},
			made: func(_, name string) client.Object {
				return &gardencorev1beta1.ControllerRegistration{ObjectMeta: named("", name), Spec: gardencorev1beta1.ControllerRegistrationSpec{
					Resources: []gardencorev1beta1.ControllerResource{{Kind: "Worker", Type: name}, {Kind: "Network", Type: name}},
				}}
			},
			edit: with(func(r *gardencorev1beta1.ControllerRegistration) { r.Spec.Resources = r.Spec.Resources[:1] }),
		},
		{
			kind: "InternalSecret", resource: "internalsecrets", singular: "internalsecret", shortNames: []string{"ins"}, namespaced: true, unconditional: true,
			columns:   []string{"Name", "Type", "Data", "Age"},
			selectors: map[string]string{"type": "Opaque"},
			made: func(namespace, name string) client.Object {
				return &gardencorev1beta1.InternalSecret{ObjectMeta: named(namespace, name), Type: "Opaque", Data: map[string][]byte{"a": []byte("b")}}
			},
			edit: with(func(s *gardencorev1beta1.InternalSecret) { s.Data["c"] = []byte("d") }),
		},
		{
			kind: "Project", resource: "projects", singular: "project", unconditional: true, generation: true,
			columns:   []string{"Name", "Namespace", "Status", "Owner", "Creator", "Age"},
			selectors: map[string]string{"spec.namespace": "garden-kproj"},
			made: func(_, name string) client.Object {
				return &gardencorev1beta1.Project{ObjectMeta: named("", name), Spec: gardencorev1beta1.ProjectSpec{Namespace: new("garden-" + name)}}
			},
			edit: with(func(p *gardencorev1beta1.Project) { p.Spec.Description = new("another one") }),
			report: with(func(p *gardencorev1beta1.Project) {
				p.Status.LastActivityTimestamp = &metav1.Time{Time: metav1.Now().Time}
			}),
			reported: shows(func(p *gardencorev1beta1.Project) bool { return p.Status.LastActivityTimestamp != nil }),
		},
		{
			kind: "SecretBinding", resource: "secretbindings", singular: "secretbinding", shortNames: []string{"sb"}, namespaced: true, unconditional: true,
			columns: []string{"Name", "Secret", "Provider", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardencorev1beta1.SecretBinding{
					ObjectMeta: named(namespace, name), Provider: &gardencorev1beta1.SecretBindingProvider{Type: "kinds"},
					SecretRef: corev1.SecretReference{Name: "kinds"},
				}
			},
		},
		{
			kind: "Seed", resource: "seeds", singular: "seed", unconditional: true, generation: true,
			columns: []string{"Name", "Status", "Last Operation", "Provider", "Region", "Age", "Version", "K8S Version"},
			made: func(_, name string) client.Object {
				seed := &gardencorev1beta1.Seed{ObjectMeta: named("", name)}
				seed.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "kinds", Region: "north"}
				seed.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"}
				return seed
			},
			edit: with(func(s *gardencorev1beta1.Seed) {
				s.Spec.Taints = []gardencorev1beta1.SeedTaint{{Key: "seed.gardener.cloud/protected"}}
			}),
			report:   with(func(s *gardencorev1beta1.Seed) { s.Status.KubernetesVersion = new("v1.36.3") }),
			reported: shows(func(s *gardencorev1beta1.Seed) bool { return s.Status.KubernetesVersion != nil }),
		},
		{
			kind: "Shoot", resource: "shoots", singular: "shoot", categories: []string{"all"}, namespaced: true, generation: true,
			columns: []string{
				"Name", "CloudProfile", "Provider", "Region", "Seed†", "K8S Version", "Hibernation", "Last Operation", "Status", "Purpose†",
				"Gardener Version†", "APIServer†", "Control†", "Observability†", "Nodes†", "System†", "Age",
			},
			selectors: map[string]string{
				"spec.seedName": "", "status.seedName": "", "spec.cloudProfileName": "", "spec.cloudProfile.Name": "kinds", "spec.cloudProfile.Kind": "CloudProfile",
			},
			made: func(namespace, name string) client.Object { return order(namespace, name, "kinds") },
			edit: with(func(s *gardencorev1beta1.Shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }),
			report: with(func(s *gardencorev1beta1.Shoot) {
				s.Status.TechnicalID, s.Status.UID = "shoot--kinds--one", "b7a4d3f0-0000-4000-8000-000000000000"
			}),
			reported: shows(func(s *gardencorev1beta1.Shoot) bool { return s.Status.TechnicalID != "" }),
		},
	}
}
