// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
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
			kind: "BackupBucket", resource: "backupbuckets", singular: "backupbucket", shortNames: []string{"bbc"}, categories: []string{"all"}, generation: true,
			columns:   []string{"Name", "Provider", "Seed", "Operation", "Progress", "Age"},
			selectors: map[string]string{"spec.seedName": "kinds", "spec.shootRef.name": "", "spec.shootRef.namespace": ""},
			made: func(_, name string) client.Object {
				return bucket(name, "kinds")
			},
			edit: with(func(b *gardencorev1beta1.BackupBucket) {
				b.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"colour":"green"}`)}
			}),
			report: with(func(b *gardencorev1beta1.BackupBucket) {
				b.Status.GeneratedSecretRef = &corev1.SecretReference{Namespace: "garden", Name: "generated"}
			}),
			reported: shows(func(b *gardencorev1beta1.BackupBucket) bool { return b.Status.GeneratedSecretRef != nil }),
		},
		{
			kind: "BackupEntry", resource: "backupentries", singular: "backupentry", shortNames: []string{"bec"}, categories: []string{"all"}, namespaced: true, generation: true,
			columns:   []string{"Name", "Bucket", "Seed", "Operation", "Progress", "Age"},
			selectors: map[string]string{"spec.seedName": "kinds", "spec.bucketName": "kinds", "spec.shootRef.name": "", "spec.shootRef.namespace": ""},
			made: func(namespace, name string) client.Object {
				return &gardencorev1beta1.BackupEntry{ObjectMeta: named(namespace, name), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "kinds", SeedName: new("kinds")}}
			},
			edit:     with(func(e *gardencorev1beta1.BackupEntry) { e.Spec.SeedName = new("other") }),
			report:   with(func(e *gardencorev1beta1.BackupEntry) { e.Status.SeedName = new("kinds") }),
			reported: shows(func(e *gardencorev1beta1.BackupEntry) bool { return e.Status.SeedName != nil }),
		},
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
			// The garden writes this status itself, but never a version that the profile does not have.
			report: with(func(p *gardencorev1beta1.CloudProfile) {
				p.Status.Kubernetes = &gardencorev1beta1.KubernetesStatus{Versions: []gardencorev1beta1.ExpirableVersionStatus{{Version: "0.0.1", Classification: "supported"}}}
			}),
			reported: shows(func(p *gardencorev1beta1.CloudProfile) bool {
				return p.Status.Kubernetes != nil && p.Status.Kubernetes.Versions[0].Version == "0.0.1"
			}),
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
			kind: "ExposureClass", resource: "exposureclasses", singular: "exposureclass", shortNames: []string{"expclass", "expcls"},
			columns: []string{"Name", "Handler", "Age"},
			made: func(_, name string) client.Object {
				return &gardencorev1beta1.ExposureClass{ObjectMeta: named("", name), Handler: "kinds"}
			},
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
			kind: "NamespacedCloudProfile", resource: "namespacedcloudprofiles", singular: "namespacedcloudprofile", shortNames: []string{"nsprofile", "nscpfl"},
			namespaced: true, unconditional: true, generation: true,
			columns: []string{"Name", "Parent Name", "Parent Kind", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: named(namespace, name), Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
					Parent: gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "kinds"},
				}}
			},
			edit: with(func(p *gardencorev1beta1.NamespacedCloudProfile) {
				p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "fast", Class: "premium"}}
			}),
			report:   with(func(p *gardencorev1beta1.NamespacedCloudProfile) { p.Status.ObservedGeneration = 7 }),
			reported: shows(func(p *gardencorev1beta1.NamespacedCloudProfile) bool { return p.Status.ObservedGeneration == 7 }),
		},
		{
			kind: "Plant", resource: "plants", singular: "plant", shortNames: []string{"pl"}, categories: []string{"all"}, namespaced: true, generation: true,
			columns: []string{"Name", "Type", "Region", "Version", "APIServer", "Nodes", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardencorev1beta1.Plant{ObjectMeta: named(namespace, name), Spec: gardencorev1beta1.PlantSpec{SecretRef: corev1.LocalObjectReference{Name: "plant-" + name}}}
			},
			edit: with(func(p *gardencorev1beta1.Plant) {
				p.Spec.Endpoints = []gardencorev1beta1.Endpoint{{Name: "ui", URL: "https://ui.example.com", Purpose: "looking at it"}}
			}),
			report:   with(func(p *gardencorev1beta1.Plant) { p.Status.ClusterInfo = &gardencorev1beta1.ClusterInfo{} }),
			reported: shows(func(p *gardencorev1beta1.Plant) bool { return p.Status.ClusterInfo != nil }),
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
			kind: "Quota", resource: "quotas", singular: "quota", shortNames: []string{"squota"}, namespaced: true, unconditional: true,
			columns: []string{"Name", "Scope", "Cluster Lifetime", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardencorev1beta1.Quota{ObjectMeta: named(namespace, name), Spec: gardencorev1beta1.QuotaSpec{
					Scope:   corev1.ObjectReference{APIVersion: "v1", Kind: "Secret"},
					Metrics: corev1.ResourceList{"cpu": resource.MustParse("8")},
				}}
			},
			edit: with(func(q *gardencorev1beta1.Quota) { q.Spec.ClusterLifetimeDays = new(int32(14)) }),
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
				return soil(name, "kinds")
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
				s.Status.TechnicalID, s.Status.UID = query.TechnicalID(strings.TrimPrefix(s.Namespace, "garden-"), s.Name), "b7a4d3f0-0000-4000-8000-000000000000"
			}),
			reported: shows(func(s *gardencorev1beta1.Shoot) bool { return s.Status.TechnicalID != "" }),
		},
		{
			kind: "ShootState", resource: "shootstates", singular: "shootstate", categories: []string{"all"}, namespaced: true, generation: true,
			columns: []string{"Name", "Gardener Data", "Extension States", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardencorev1beta1.ShootState{ObjectMeta: named(namespace, name)}
			},
			edit: with(func(s *gardencorev1beta1.ShootState) {
				s.Spec.Extensions = []gardencorev1beta1.ExtensionResourceState{{Kind: "Infrastructure", Name: new("one"), State: &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}}}
			}),
		},
	}
}

func bucket(name, typ string) *gardencorev1beta1.BackupBucket {
	return &gardencorev1beta1.BackupBucket{ObjectMeta: named("", name), Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: typ, Region: "north"}, SeedName: new(typ),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-" + typ, Name: typ},
	}}
}

func soil(name, typ string) *gardencorev1beta1.Seed {
	seed := &gardencorev1beta1.Seed{ObjectMeta: named("", name)}
	seed.Spec.Provider = gardencorev1beta1.SeedProvider{Type: typ, Region: "north"}
	seed.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"}
	known(&seed.Spec, name)
	return seed
}
