// SPDX-License-Identifier: Apache-2.0

package seedauthorizer_test

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

const (
	seeds      = 1000
	shoots     = 10000
	projects   = 500
	extensions = 10
)

// wood is a garden with 1,000 seeds of 10 extensions each and with 10,000 shoots of 500 projects. Each shoot has
// credentials, a DNS provider, an audit policy and a resource of its own, and a backup.
func wood() *graph.Graph {
	g := graph.New()
	set := func(kind graph.Kind, meta metav1.ObjectMeta, edges []graph.Edge) {
		g.Set(graph.Vertex{Kind: kind, Namespace: meta.Namespace, Name: meta.Name}, edges)
	}
	for n := range seeds {
		seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("seed-%d", n)}}
		seed.Spec.Backup = &gardencorev1beta1.Backup{SecretRef: &corev1.SecretReference{Namespace: "garden", Name: "backup-" + seed.Name}}
		set(graph.Seed, seed.ObjectMeta, references.Seed(seed))
		for e := range extensions {
			installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", seed.Name, e)}}
			installation.Spec.SeedRef = &corev1.ObjectReference{Name: seed.Name}
			installation.Spec.RegistrationRef.Name = fmt.Sprintf("extension-%d", e)
			installation.Spec.DeploymentRef = &corev1.ObjectReference{Name: fmt.Sprintf("extension-%d", e)}
			set(graph.ControllerInstallation, installation.ObjectMeta, references.ControllerInstallation(installation))
		}
		bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "bucket-" + seed.Name}}
		bucket.Spec.SeedName, bucket.Spec.SecretRef = &seed.Name, seed.Spec.Backup.SecretRef
		set(graph.BackupBucket, bucket.ObjectMeta, references.BackupBucket(bucket))
	}
	for n := range projects {
		project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", n)}}
		project.Spec.Namespace = new("garden-" + project.Name)
		set(graph.Project, project.ObjectMeta, references.Project(project))
	}
	for n := range shoots {
		shoot := wooden(n)
		set(graph.Shoot, shoot.ObjectMeta, references.Shoot(shoot))
		binding := &gardencorev1beta1.SecretBinding{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace, Name: *shoot.Spec.SecretBindingName}}
		binding.SecretRef = corev1.SecretReference{Namespace: shoot.Namespace, Name: "credentials-" + shoot.Name}
		set(graph.SecretBinding, binding.ObjectMeta, references.SecretBinding(binding))
		entry := &gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace, Name: "backup-of-" + shoot.Name}}
		entry.Spec.SeedName, entry.Spec.BucketName = shoot.Spec.SeedName, "bucket-"+*shoot.Spec.SeedName
		entry.OwnerReferences = []metav1.OwnerReference{{Kind: "Shoot", Name: shoot.Name}}
		set(graph.BackupEntry, entry.ObjectMeta, references.BackupEntry(entry))
	}

	return g
}

func wooden(n int) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprintf("garden-p%d", n%projects), Name: fmt.Sprintf("shoot-%d", n),
	}}
	shoot.Spec.SeedName = new(fmt.Sprintf("seed-%d", n%seeds))
	shoot.Status.SeedName = shoot.Spec.SeedName
	shoot.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
	shoot.Spec.SecretBindingName = new("binding-" + shoot.Name)
	shoot.Spec.ExposureClassName = new("internet")
	shoot.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{SecretName: new("dns-" + shoot.Name)}}}
	shoot.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AuditConfig: &gardencorev1beta1.AuditConfig{
		AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "audit-" + shoot.Name}},
	}}
	resource := gardencorev1beta1.NamedResourceReference{Name: "x"}
	resource.ResourceRef.Kind, resource.ResourceRef.Name = "Secret", "resource-"+shoot.Name
	shoot.Spec.Resources = []gardencorev1beta1.NamedResourceReference{resource}

	return shoot
}

// BenchmarkAuthorize measures one decision in a garden of the full size. The bar is 5 µs.
func BenchmarkAuthorize(b *testing.B) {
	g := wood()
	z := newAuthorizer(g)
	north := gardenlet("seed-7")
	ask := func(who user.Info, verb, group, resource, namespace, name string) authorizer.AttributesRecord {
		return authorizer.AttributesRecord{
			User: who, Verb: verb, APIGroup: group, Resource: resource, Namespace: namespace, Name: name, ResourceRequest: true,
		}
	}
	for name, a := range map[string]authorizer.AttributesRecord{
		"Person":            ask(&user.DefaultInfo{Name: "rose", Groups: []string{"system:authenticated"}}, "get", core, "shoots", "garden-p7", "shoot-7"),
		"Shoot":             ask(north, "update", core, "shoots", "garden-p7", "shoot-7"),
		"ForeignShoot":      ask(north, "update", core, "shoots", "garden-p8", "shoot-8"),
		"Secret":            ask(north, "get", "", "secrets", "garden-p7", "credentials-shoot-7"),
		"ForeignSecret":     ask(north, "get", "", "secrets", "garden-p8", "credentials-shoot-8"),
		"CloudProfile":      ask(north, "get", core, "cloudprofiles", "", "local"),
		"Project":           ask(north, "get", core, "projects", "", "p7"),
		"ForeignProject":    ask(north, "get", core, "projects", "", "p8"),
		"Registration":      ask(north, "get", core, "controllerdeployments", "", "extension-3"),
		"ProjectSecret":     ask(north, "get", "", "secrets", "garden-p7", "shoot-7.ssh-keypair"),
		"Lease":             ask(north, "patch", leases, "leases", "gardener-system-seed-lease", "seed-7"),
		"ForeignLease":      ask(north, "patch", leases, "leases", "gardener-system-seed-lease", "seed-8"),
		"ClusterIdentity":   ask(north, "get", "", "configmaps", "kube-system", "cluster-identity"),
		"ForeignDeployment": ask(gardenlet("seed-none"), "get", core, "controllerdeployments", "", "extension-3"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := z.Authorize(b.Context(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Update", func(b *testing.B) {
		b.ReportAllocs()
		shoot := wooden(7)
		at := v(graph.Shoot, shoot.Namespace, shoot.Name)
		for b.Loop() {
			g.Set(at, references.Shoot(shoot))
		}
	})
	b.Run("Move", func(b *testing.B) {
		b.ReportAllocs()
		shoot := wooden(7)
		at := v(graph.Shoot, shoot.Namespace, shoot.Name)
		for n := 0; b.Loop(); n++ {
			shoot.Spec.SeedName = new(fmt.Sprintf("seed-%d", n%seeds))
			g.Set(at, references.Shoot(shoot))
		}
	})
	runtime.KeepAlive(g)
}

// BenchmarkGraphMemory reports how much memory the graph of such a garden takes.
func BenchmarkGraphMemory(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		g := wood()
		runtime.GC()
		runtime.ReadMemStats(&after)
		vertices, edges := g.Size()
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		b.ReportMetric(float64(vertices), "vertices")
		b.ReportMetric(float64(edges), "edges")
		runtime.KeepAlive(g)
	}
}
