// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func machineType(name string) func(*shoot) { return pool(func(w *worker) { w.Machine.Type = name }) }

func inZones(names ...string) func(*shoot) { return pool(func(w *worker) { w.Zones = names }) }

func disk(typ *string, size string) func(*shoot) {
	return pool(func(w *worker) { w.Volume = &gardencorev1beta1.Volume{Type: typ, Size: size} })
}

// TestKeptMachines_API_SVAL_14 changes pools that have what the profile has lost or retired.
func TestKeptMachines_API_SVAL_14(t *testing.T) {
	t.Parallel()
	bigger := pool(func(w *worker) { w.Maximum = 3 })
	reserving := func(cpu string) func(*shoot) {
		return func(s *shoot) {
			s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{CPU: new(resource.MustParse(cpu))}}
		}
	}
	ownReserving := func(cpu string) func(*shoot) {
		return pool(func(w *worker) {
			w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{CPU: new(resource.MustParse(cpu))}}}
		})
	}
	ownVersion := func(v string) func(*shoot) {
		return pool(func(w *worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: &v} })
	}
	unmeasured := []kind.Object{admissiontest.Project(), admissiontest.Profile(func(p *profile) { p.Spec.MachineTypes[0].CPU = resource.MustParse("0") })}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-14 lost":          {Reason: "a type that is no more stays, whatever else changes", Objects: wealth(), Request: update(machineType("lost"), bigger)},
		"API-SVAL-14 spreads":       {Reason: "also in a further zone", Objects: wealth(), Request: update(all(machineType("lost"), inZones("a")), inZones("a", "b"))},
		"API-SVAL-14 retired":       {Reason: "so does one that is no longer usable", Objects: wealth(), Request: update(all(machineType("old"), inZones("a")), inZones("a", "b"))},
		"API-SVAL-14 unavailable":   {Reason: "what a zone has no more of stays there", Objects: wealth(), Request: update(inZones("b"), bigger)},
		"API-SVAL-14 lost volume":   {Reason: "a type of volumes that is no more stays", Objects: wealth(), Request: update(disk(new("lost"), "20Gi"), disk(new("lost"), "30Gi"))},
		"API-SVAL-14 small volume":  {Reason: "so does a volume that would be too small by now", Objects: wealth(), Request: update(disk(new("disk"), "10Gi"), bigger)},
		"API-SVAL-14 volume zone":   {Reason: "or that a zone has no more of", Objects: wealth(), Request: update(all(machineType("big"), inZones("b"), disk(new("disk"), "60Gi")), bigger)},
		"API-SVAL-14 grown machine": {Reason: "which another machine type does not forgive", Objects: wealth(), Request: update(disk(new("disk"), "20Gi"), machineType("big")), Refused: []string{"volume.size", "at least 50Gi"}},
		"API-SVAL-14 spread volume": {Reason: "nor a further zone", Objects: wealth(), Request: update(all(machineType("big"), inZones("a"), disk(new("disk"), "60Gi")), inZones("a", "b")), Refused: []string{"volume.type", "not available in zone b"}},
		"API-SVAL-14 untyped":       {Reason: "a volume needs no type", Objects: wealth(), Request: create(disk(nil, "1Gi"))},
		"API-SVAL-14 untyped small": {Reason: "but a size", Objects: wealth(), Request: create(all(machineType("big"), disk(nil, "1Gi"))), Refused: []string{"volume.size", "at least 50Gi"}},
		"API-SVAL-14 no least":      {Reason: "which the profile need not limit", Objects: garden(), Request: create(disk(nil, "1Gi"))},
		"API-SVAL-13 kept by pool":  {Reason: "a pool keeps an expired version", Objects: wealth(), Request: update(ownVersion("1.36.1"), bigger)},
		"API-SVAL-13 as the shoot":  {Reason: "or takes that of the shoot by name", Objects: wealth(), Request: update(version("1.30.0"), ownVersion("1.30.0"))},
		"API-SVAL-13 raised pool":   {Reason: "a pool may be updated to an expired one", Objects: wealth(), Request: update(all(version("1.36.9"), ownVersion("1.36.3")), ownVersion("1.36.4"))},
		"API-SVAL-16 lost region":   {Reason: "a shoot stays in a region that is no more", Objects: []kind.Object{admissiontest.Project(), admissiontest.Profile(func(p *profile) { p.Spec.Regions = p.Spec.Regions[1:] })}, Request: update(plain, bigger)},
		"API-SVAL-19 pool":          {Reason: "the kubelet of a pool counts for it", Objects: wealth(), Request: create(ownReserving("2")), Refused: []string{"spec.provider.workers[0].kubernetes.kubelet.kubeReserved.cpu"}},
		"API-SVAL-19 pool less":     {Reason: "and takes the place of that of the shoot", Objects: wealth(), Request: create(reserving("2"), ownReserving("1"))},
		"API-SVAL-19 same kubelet":  {Reason: "which others have", Objects: wealth(), Request: create(reserving("2"), ownVersion("1.36.3")), Refused: []string{"spec.kubernetes.kubelet.kubeReserved.cpu"}},
		"API-SVAL-19 unmeasured":    {Reason: "of a machine whose size is not known nothing can be said", Objects: unmeasured, Request: create(reserving("2"))},
		"API-SVAL-19 lost":          {Reason: "nor of one that is no more", Objects: wealth(), Request: update(machineType("lost"), reserving("2"))},
		"API-SVAL-20 equal":         {Reason: "a limit can be reached", Objects: wealth(), Request: create(pool(func(w *worker) { w.Minimum, w.Maximum = 5, 5 }))},
		"API-SVAL-20 unlimited":     {Reason: "there may be other limits", Objects: []kind.Object{admissiontest.Project(), admissiontest.Profile(func(p *profile) { p.Spec.Limits = &gardencorev1beta1.Limits{} })}, Request: create()},
	})
}

// TestKeptImages_API_SVAL_15 changes pools and their images.
func TestKeptImages_API_SVAL_15(t *testing.T) {
	t.Parallel()
	bigger := pool(func(w *worker) { w.Maximum = 3 })
	cri := func(types ...string) func(*shoot) {
		return pool(func(w *worker) {
			w.CRI = &gardencorev1beta1.CRI{Name: "containerd"}
			for _, typ := range types {
				w.CRI.ContainerRuntimes = append(w.CRI.ContainerRuntimes, gardencorev1beta1.ContainerRuntime{Type: typ})
			}
		})
	}
	settings := pool(func(w *worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{} })
	older := pool(func(w *worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new("1.36.3")} })
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-15 other name":     {Reason: "another image is not kept, whatever its version", Objects: wealth(), Request: update(image("lost", new("0.9.0")), image("local", new("0.9.0"))), Refused: []string{"machine.image.version", `"0.9.0"`}},
		"API-SVAL-15 lost version":   {Reason: "a version that is no more stays", Objects: wealth(), Request: update(image("local", new("0.1.0")), cri("gvisor"))},
		"API-SVAL-15 kept misfit":    {Reason: "what did not fit goes on not to fit", Objects: wealth(), Request: update(image("local", new("2.0.0")), bigger)},
		"API-SVAL-15 runtime":        {Reason: "what is in it can be used", Objects: withGVisor(), Request: create(cri("gvisor"))},
		"API-SVAL-15 pool's kubelet": {Reason: "the kubelet of a pool decides", Objects: wealth(), Request: create(version("1.37.0"), image("local", new("2.0.0")), older), Refused: []string{"kubelets >= 1.37, not 1.36.3"}},
		"API-SVAL-15 no own kubelet": {Reason: "if it has another one", Objects: wealth(), Request: create(version("1.37.0"), image("local", new("2.0.0")), settings)},
	})
}

// withGVisor is a garden with an image that has a further runtime.
func withGVisor() []kind.Object {
	return []kind.Object{admissiontest.Project(), admissiontest.Profile(func(p *profile) {
		p.Spec.MachineImages[0].Versions[0].CRI[0].ContainerRuntimes = []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}
	})}
}

func TestRawRuntime_API_SVAL_11(t *testing.T) {
	t.Parallel()
	with := func(version string) func(*shoot) {
		return pool(func(w *worker) {
			w.CRI = &gardencorev1beta1.CRI{Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{
				Type: "gvisor", ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"gvisor.runtime.extensions.config.gardener.cloud/` + version + `","kind":"X"}`)},
			}}}
		})
	}
	refused := []string{"spec.provider.workers[0].cri.containerRuntimes[0].providerConfig.apiVersion"}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"internal": {Reason: "a runtime has no internal version either", Objects: withGVisor(), Request: create(with("__internal")), Refused: refused},
		"served":   {Reason: "but others", Objects: withGVisor(), Request: create(with("v1alpha1"))},
	})
}

// TestExchangeOfKinds_API_VALSHOOT_2 replaces a SecretBinding by CredentialsBindings with other credentials of the same name.
func TestExchangeOfKinds_API_VALSHOOT_2(t *testing.T) {
	t.Parallel()
	to := func(change func(*gardensecurityv1alpha1.CredentialsBinding)) []kind.Object {
		return append(garden(), admissiontest.Binding(), admissiontest.Credentials(change))
	}
	ask := admissiontest.Request{Object: admissiontest.Shoot(version("1.36.3")), Old: admissiontest.Shoot(version("1.36.3"), func(s *shoot) {
		s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = new("local"), nil
	})}
	rights := []string{
		"rose get secrets garden-meadow/local", "rose get secrets garden-other/local", "rose get workloadidentities garden-meadow/local", "rose get internalsecrets garden-meadow/local",
	}
	kindOf := func(name, apiVersion string) func(*gardensecurityv1alpha1.CredentialsBinding) {
		return func(b *gardensecurityv1alpha1.CredentialsBinding) {
			b.CredentialsRef.Kind, b.CredentialsRef.APIVersion = name, apiVersion
		}
	}
	refused := []string{"must refer to the same Secret as SecretBinding"}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"same":      {Reason: "the same credentials can be bound anew", Rights: rights, Objects: to(func(*gardensecurityv1alpha1.CredentialsBinding) {}), Request: ask},
		"kind":      {Reason: "an identity of the same name is something else", Rights: rights, Objects: to(kindOf("WorkloadIdentity", "security.gardener.cloud/v1alpha1")), Request: ask, Refused: refused},
		"internal":  {Reason: "so is an InternalSecret", Rights: rights, Objects: to(kindOf("InternalSecret", "core.gardener.cloud/v1beta1")), Request: ask, Refused: refused},
		"namespace": {Reason: "so is a Secret elsewhere", Rights: rights, Objects: to(func(b *gardensecurityv1alpha1.CredentialsBinding) { b.CredentialsRef.Namespace = "garden-other" }), Request: ask, Refused: refused},
	})
}

// TestListed_API_SVAL_20 lists other things than the Secret of an admission plugin.
func TestListed_API_SVAL_20(t *testing.T) {
	t.Parallel()
	plugged := func(s *shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{
			{Name: "Plain"}, {Name: "Hook", KubeconfigSecretName: new("hook")},
		}}
	}
	listing := func(apiVersion, kind, name string) func(*shoot) {
		return func(s *shoot) {
			s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "x", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: name}}}
		}
	}
	objects := garden(admissiontest.Secret("hook", func(s *corev1.Secret) { s.Data = map[string][]byte{"kubeconfig": []byte("x")} }))
	refused := []string{`spec.resources: must contain Secret "hook"`}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"it":      {Reason: "the Secret is copied to the seed if it is listed", Objects: objects, Request: create(plugged, listing("v1", "Secret", "hook"))},
		"name":    {Reason: "another is not it", Objects: objects, Request: create(plugged, listing("v1", "Secret", "other")), Refused: refused},
		"kind":    {Reason: "nor is a ConfigMap", Objects: objects, Request: create(plugged, listing("v1", "ConfigMap", "hook")), Refused: refused},
		"version": {Reason: "nor a Secret of others", Objects: objects, Request: create(plugged, listing("example.org/v1", "Secret", "hook")), Refused: refused},
	})
}
