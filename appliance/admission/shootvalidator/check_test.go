// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

type (
	worker    = gardencorev1beta1.Worker
	expirable = gardencorev1beta1.ExpirableVersion
)

func pool(change func(*worker)) func(*shoot) {
	return func(s *shoot) { change(&s.Spec.Provider.Workers[0]) }
}

func version(name string) func(*shoot) {
	return func(s *shoot) { s.Spec.Kubernetes.Version = name }
}

func image(name string, version *string) func(*shoot) {
	return pool(func(w *worker) { w.Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: name, Version: version} })
}

// rich is a profile with something of everything.
func rich(p *profile) {
	gone, classes := metav1.NewTime(kindtest.Now().Add(-time.Hour)), map[string]gardencorev1beta1.VersionClassification{
		"1.37.0": "preview", "1.36.9": "deprecated", "1.36.3": "supported", "1.36.2": "deprecated",
	}
	p.Spec.Kubernetes.Versions = []expirable{{Version: "1.38.0", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported", StartTime: new(metav1.NewTime(kindtest.Now().Add(time.Hour)))}}}}
	for _, name := range []string{"1.37.0", "1.36.9", "1.36.3", "1.36.2"} {
		p.Spec.Kubernetes.Versions = append(p.Spec.Kubernetes.Versions, expirable{Version: name, Classification: new(classes[name])})
	}
	p.Spec.Kubernetes.Versions = append(p.Spec.Kubernetes.Versions, expirable{Version: "1.36.4", ExpirationDate: &gone})
	amd, arm := []string{"amd64"}, []string{"arm64"}
	p.Spec.MachineImages = []gardencorev1beta1.MachineImage{
		{Name: "armed", Versions: []gardencorev1beta1.MachineImageVersion{{ExpirableVersion: expirable{Version: "1.0.0"}, Architectures: arm}}},
		{Name: "local", Versions: []gardencorev1beta1.MachineImageVersion{
			{ExpirableVersion: expirable{Version: "1.0.0"}, Architectures: amd, CRI: []gardencorev1beta1.CRI{{Name: "containerd"}}},
			{ExpirableVersion: expirable{Version: "1.1.0", Classification: new(gardencorev1beta1.VersionClassificationDeprecated)}, Architectures: amd},
			{ExpirableVersion: expirable{Version: "1.2.0", Classification: new(gardencorev1beta1.VersionClassificationPreview)}, Architectures: amd},
			{ExpirableVersion: expirable{Version: "1.3.0", ExpirationDate: &gone}, Architectures: amd},
			{ExpirableVersion: expirable{Version: "1.4.0"}, Architectures: arm},
			{ExpirableVersion: expirable{Version: "0.9.0", ExpirationDate: &gone}, Architectures: amd},
			{ExpirableVersion: expirable{Version: "2.0.0", Classification: new(gardencorev1beta1.VersionClassificationPreview)}, Architectures: amd, KubeletVersionConstraint: new(">= 1.37")},
		}},
	}
	p.Spec.MachineTypes = append(p.Spec.MachineTypes,
		gardencorev1beta1.MachineType{Name: "armed", CPU: resource.MustParse("2"), Memory: resource.MustParse("4Gi"), Architecture: new("arm64")},
		gardencorev1beta1.MachineType{Name: "old", CPU: resource.MustParse("2"), Memory: resource.MustParse("4Gi"), Usable: new(false)},
		gardencorev1beta1.MachineType{Name: "big", CPU: resource.MustParse("8"), Memory: resource.MustParse("4Gi"), Architecture: new("amd64"), Storage: &gardencorev1beta1.MachineTypeStorage{Class: "standard", Type: "x", MinSize: new(resource.MustParse("50Gi"))}},
	)
	p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "disk", Class: "standard", MinSize: new(resource.MustParse("20Gi"))}, {Name: "tape", Class: "standard", Usable: new(false)}}
	p.Spec.Regions[0].Zones[1].UnavailableVolumeTypes = []string{"disk"}
	p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: new(int32(5))}
}

func wealth() []kind.Object {
	return []kind.Object{admissiontest.Project(), admissiontest.Profile(rich)}
}

func update(before, after func(*shoot)) admissiontest.Request {
	return admissiontest.Request{
		Object: admissiontest.Shoot(before, after, func(s *shoot) { s.Spec.Region = "north" }), Old: admissiontest.Shoot(before),
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	own := func(v string) func(*shoot) {
		return pool(func(w *worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: &v} })
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-13":            {Reason: "an offered version passes", Objects: wealth(), Request: create()},
		"API-SVAL-13 unknown":    {Reason: "the message lists what there is, and marks previews", Objects: wealth(), Request: create(version("1.99.0")), Refused: []string{"spec.kubernetes.version", `"1.99.0"`, `"1.36.3"`, `"1.37.0 (preview)"`}},
		"API-SVAL-13 preview":    {Reason: "a preview is taken by name", Objects: wealth(), Request: create(version("1.37.0"))},
		"API-SVAL-13 expired":    {Reason: "what has expired is not for new shoots", Objects: wealth(), Request: create(version("1.36.4")), Refused: []string{`"1.36.4"`}},
		"API-SVAL-13 unborn":     {Reason: "what is not there yet is for nobody", Objects: wealth(), Request: update(version("1.37.0"), version("1.38.0")), Refused: []string{`"1.38.0"`}},
		"API-SVAL-13 update":     {Reason: "an update may take what has expired", Objects: wealth(), Request: update(version("1.36.3"), version("1.36.4"))},
		"API-SVAL-13 kept":       {Reason: "what stays passes", Objects: wealth(), Request: update(version("1.30.0"), surviving)},
		"API-SVAL-13 pool":       {Reason: "a pool has its own version", Objects: wealth(), Request: create(own("1.36.2"))},
		"API-SVAL-13 pool wrong": {Reason: "that must be offered too", Objects: wealth(), Request: create(own("1.36.4")), Refused: []string{"spec.provider.workers[0].kubernetes.version", `"1.36.4"`}},
		"API-SVAL-16 region":     {Reason: "regions are offered", Objects: wealth(), Request: create(func(s *shoot) { s.Spec.Region = "moon" }), Refused: []string{"spec.region", `"moon"`, `"north"`, `"south"`}},
		"API-SVAL-17 provider":   {Reason: "the provider is the profile's", Objects: wealth(), Request: create(func(s *shoot) { s.Spec.Provider.Type = "other" }), Refused: []string{"spec.provider.type", `"local"`}},
	})
}

func TestMachines(t *testing.T) {
	t.Parallel()
	typ := func(name string) func(*shoot) { return pool(func(w *worker) { w.Machine.Type = name }) }
	zones := func(all ...string) func(*shoot) { return pool(func(w *worker) { w.Zones = all }) }
	volume := func(typ *string, size string) func(*shoot) {
		return pool(func(w *worker) { w.Volume = &gardencorev1beta1.Volume{Type: typ, Size: size} })
	}
	both := func(changes ...func(*shoot)) func(*shoot) {
		return func(s *shoot) {
			for _, c := range changes {
				c(s)
			}
		}
	}
	reserved := func(cpu string) func(*shoot) {
		return func(s *shoot) {
			s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{CPU: new(resource.MustParse(cpu))}}
		}
	}
	least := func(n int32) func(*shoot) { return pool(func(w *worker) { w.Minimum, w.Maximum = n, n }) }
	huge := func(s *shoot) {
		least(1 << 30)(s)
		two := *s.Spec.Provider.Workers[0].DeepCopy()
		two.Name = "two"
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, two)
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-14 unknown":       {Reason: "machine types are offered", Objects: wealth(), Request: create(typ("giant")), Refused: []string{"spec.provider.workers[0].machine.type", `"giant"`, `"small"`}},
		"API-SVAL-14 unusable":      {Reason: "and usable", Objects: wealth(), Request: create(typ("old")), Refused: []string{`"old"`}},
		"API-SVAL-14 kept":          {Reason: "what stays passes", Objects: wealth(), Request: update(typ("old"), surviving)},
		"API-SVAL-14 architecture":  {Reason: "the architecture fits", Objects: wealth(), Request: create(typ("armed")), Refused: []string{"machine.type", "architecture arm64, not amd64"}},
		"API-SVAL-14 other":         {Reason: "also one that comes later", Objects: wealth(), Request: update(typ("big"), pool(func(w *worker) { w.Machine.Architecture = new("arm64") })), Refused: []string{"machine.type", "architecture amd64, not arm64"}},
		"API-SVAL-14 zone":          {Reason: "every zone has the type", Objects: wealth(), Request: create(zones("a", "b")), Refused: []string{"machine.type", "not available in zone b"}},
		"API-SVAL-14 new zone":      {Reason: "also one that comes later", Objects: wealth(), Request: update(zones("a"), zones("a", "b")), Refused: []string{"not available in zone b"}},
		"API-SVAL-14 volume":        {Reason: "volume types are offered", Objects: wealth(), Request: create(volume(new("cloud"), "30Gi")), Refused: []string{"volume.type", `"cloud"`}},
		"API-SVAL-14 tape":          {Reason: "and usable", Objects: wealth(), Request: create(volume(new("tape"), "30Gi")), Refused: []string{"volume.type", `"tape"`}},
		"API-SVAL-14 size":          {Reason: "volumes have a least size", Objects: wealth(), Request: create(volume(new("disk"), "10Gi")), Refused: []string{"volume.size", "at least 20Gi"}},
		"API-SVAL-14 large enough":  {Reason: "which is enough", Objects: wealth(), Request: create(volume(new("disk"), "20Gi"))},
		"API-SVAL-14 machine first": {Reason: "the machine type's word counts before the volume type's", Objects: wealth(), Request: create(both(typ("big"), volume(new("disk"), "30Gi"))), Refused: []string{"at least 50Gi"}},
		"API-SVAL-14 volume zone":   {Reason: "every zone has the volume", Objects: wealth(), Request: create(both(typ("big"), zones("b"), volume(new("disk"), "60Gi"))), Refused: []string{"volume.type", "not available in zone b"}},
		"API-SVAL-14 volume kept":   {Reason: "what stays passes", Objects: wealth(), Request: update(volume(new("tape"), "1Gi"), surviving)},
		"API-SVAL-16 zone":          {Reason: "zones are offered", Objects: wealth(), Request: create(zones("z")), Refused: []string{"spec.provider.workers[0].zones[0]", `"z"`, `"a"`}},
		"API-SVAL-16 kept":          {Reason: "what stays passes", Objects: wealth(), Request: update(zones("z"), zones("z", "a"))},
		"API-SVAL-16 no zones":      {Reason: "a region without zones has none", Objects: wealth(), Request: create(func(s *shoot) { s.Spec.Region = "south" }), Refused: []string{"zones[0]"}},
		"API-SVAL-16 none":          {Reason: "not every provider asks for zones", Objects: wealth(), Request: create(zones())},
		"API-SVAL-19":               {Reason: "the kubelet leaves something for pods", Objects: wealth(), Request: create(reserved("2")), Refused: []string{"spec.kubernetes.kubelet.kubeReserved.cpu", "less than the 2 of machine type small"}},
		"API-SVAL-19 less":          {Reason: "which is enough", Objects: wealth(), Request: create(reserved("1900m"))},
		"API-SVAL-20 limit":         {Reason: "there is an end to it", Objects: wealth(), Request: create(least(6)), Refused: []string{"spec.provider.workers", "at least 6 machines, but the CloudProfile allows 5"}},
		"API-SVAL-20 limit of sums": {Reason: "also where a sum is too large for the fields that it is of", Objects: wealth(), Request: create(huge), Refused: []string{"at least 2147483648 machines, but the CloudProfile allows 5"}},
		"API-SVAL-20 kept":          {Reason: "what is above stays", Objects: wealth(), Request: update(least(7), least(6))},
		"API-SVAL-20 pinned":        {Reason: "zones of control planes are the profile's to give", Objects: wealth(), Request: create(func(s *shoot) { s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{Zones: []string{"a"}} }), Refused: []string{"spec.controlPlane.zones"}},
	})
}

func TestImages(t *testing.T) {
	t.Parallel()
	cri := func(name gardencorev1beta1.CRIName, runtimes ...gardencorev1beta1.ContainerRuntime) func(*shoot) {
		return pool(func(w *worker) { w.CRI = &gardencorev1beta1.CRI{Name: name, ContainerRuntimes: runtimes} })
	}
	armed := pool(func(w *worker) { w.Machine.Type, w.Machine.Architecture = "armed", new("arm64") })
	unfit := func(s *shoot) {
		image("local", new("1.4.0"))(s)
		cri("docker")(s)
	}
	newest := func(s *shoot) {
		image("local", new("2.0.0"))(s)
		version("1.37.0")(s)
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-15":              {Reason: "an offered image passes", Objects: wealth(), Request: create(cri("containerd"))},
		"API-SVAL-15 unknown":      {Reason: "images are offered", Objects: wealth(), Request: create(image("other", new("1.0.0"))), Refused: []string{"spec.provider.workers[0].machine.image.name", `"other"`, `"local"`}},
		"API-SVAL-15 version":      {Reason: "in versions", Objects: wealth(), Request: create(image("local", new("7.0.0"))), Refused: []string{"machine.image.version", `"7.0.0"`, `"1.0.0"`}},
		"API-SVAL-15 expired":      {Reason: "that have not expired", Objects: wealth(), Request: create(image("local", new("1.3.0"))), Refused: []string{`"1.3.0"`}},
		"API-SVAL-15 raised":       {Reason: "an update may take one that has", Objects: wealth(), Request: update(image("local", new("1.0.0")), image("local", new("1.3.0")))},
		"API-SVAL-15 lowered":      {Reason: "but only a higher one", Objects: wealth(), Request: update(image("local", new("1.0.0")), image("local", new("0.9.0"))), Refused: []string{`"0.9.0"`}},
		"API-SVAL-15 kept":         {Reason: "what stays passes", Objects: wealth(), Request: update(image("lost", new("1.0.0")), surviving)},
		"API-SVAL-15 architecture": {Reason: "the architecture fits", Objects: wealth(), Request: create(image("local", new("1.4.0"))), Refused: []string{"machine.image.version", "does not support architecture amd64"}},
		"API-SVAL-15 kept image":   {Reason: "an image that stays fits another architecture", Objects: wealth(), Request: update(image("local", new("1.0.0")), armed), Refused: []string{"machine.image.version", "does not support architecture arm64"}},
		"API-SVAL-15 kept fits":    {Reason: "what stays is not judged", Objects: wealth(), Request: update(unfit, surviving)},
		"API-SVAL-15 kept cri":     {Reason: "an image that stays has the runtime", Objects: wealth(), Request: update(image("local", new("1.0.0")), cri("containerd", gardencorev1beta1.ContainerRuntime{Type: "gvisor"})), Refused: []string{"cri.containerRuntimes[0].type", `"gvisor"`}},
		"API-SVAL-15 kept kubelet": {Reason: "an image that stays works with another kubelet", Objects: wealth(), Request: update(newest, version("1.36.3")), Refused: []string{"machine.image.version", "kubelets >= 1.37, not 1.36.3"}},
		"API-SVAL-15 cri":          {Reason: "the runtime is in the image", Objects: wealth(), Request: create(cri("docker")), Refused: []string{"spec.provider.workers[0].cri.name", `"docker"`, `"containerd"`}},
		"API-SVAL-15 runtimes":     {Reason: "with what it needs", Objects: wealth(), Request: create(cri("containerd", gardencorev1beta1.ContainerRuntime{Type: "gvisor"})), Refused: []string{"cri.containerRuntimes[0].type", `"gvisor"`}},
		"API-SVAL-15 kubelet":      {Reason: "the kubelet runs on it", Objects: wealth(), Request: create(image("local", new("2.0.0"))), Refused: []string{"machine.image.version", "kubelets >= 1.37, not 1.36.3"}},
		"API-SVAL-15 new kubelet":  {Reason: "or a newer one does", Objects: wealth(), Request: create(image("local", new("2.0.0")), version("1.37.0"))},
		"API-SVAL-15 none": {
			Reason: "there may be no image at all", Objects: []kind.Object{admissiontest.Project(), admissiontest.Profile(func(p *profile) { p.Spec.MachineImages[0].Versions[0].Architectures = []string{"arm64"} })},
			Request: create(pool(func(w *worker) { w.Machine.Image = nil })), Refused: []string{"machine.image: Required value"},
		},
		"API-SVAL-15 no version": {
			Reason: "nor a version to choose", Objects: wealth(), Request: create(pool(func(w *worker) {
				w.Machine.Image, w.Machine.Architecture = &gardencorev1beta1.ShootMachineImage{Name: "armed"}, new("amd64")
			})), Refused: []string{"machine.image.version: Required value"},
		},
	})
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	none := func(*shoot) {}
	bare := pool(func(w *worker) { w.Machine = gardencorev1beta1.Machine{Type: "small"} })
	older := pool(func(w *worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new("1.36.2")} })
	asked := pool(func(w *worker) { w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new("1.36")} })
	type result struct{ Kubernetes, Image, Version, Architecture, Pool string }
	plain := result{"1.36.3", "local", "1.0.0", "amd64", ""}
	for name, tc := range map[string]struct {
		reason string
		// was is the shoot before, nil for a new one.
		was, change func(*shoot)
		want        result
	}{
		"API-SMUT-4 empty":      {"the newest supported version is chosen: no preview, none that is deprecated", nil, version(""), plain},
		"API-SMUT-4 major":      {"a part of a version is completed", nil, version("1"), plain},
		"API-SMUT-4 minor":      {"a part of a version is completed", nil, version("1.36"), plain},
		"API-SMUT-4 whole":      {"a whole one stays", nil, version("1.36.2"), result{"1.36.2", "local", "1.0.0", "amd64", ""}},
		"API-SMUT-4 again":      {"applied again it stays what it is", version("1.36.2"), version("1.36"), result{"1.36.2", "local", "1.0.0", "amd64", ""}},
		"API-SMUT-4 left out":   {"also when it is left out", version("1.36.2"), version(""), result{"1.36.2", "local", "1.0.0", "amd64", ""}},
		"API-SMUT-4 pool":       {"a pool follows its shoot", nil, asked, result{"1.36.3", "local", "1.0.0", "amd64", "1.36.3"}},
		"API-SMUT-4 pool again": {"or stays behind", older, asked, result{"1.36.3", "local", "1.0.0", "amd64", "1.36.2"}},
		"API-SMUT-5 none":       {"the first image that fits, in its newest version: no preview, none that has expired", nil, bare, result{"1.36.3", "local", "1.1.0", "amd64", ""}},
		"API-SMUT-5 name":       {"an image without a version", nil, image("local", nil), result{"1.36.3", "local", "1.1.0", "amd64", ""}},
		"API-SMUT-5 part":       {"a part of a version", nil, image("local", new("1.0")), plain},
		"API-SMUT-5 machine": {
			"the machine type decides about the architecture", nil, pool(func(w *worker) { w.Machine = gardencorev1beta1.Machine{Type: "armed"} }),
			result{"1.36.3", "armed", "1.0.0", "arm64", ""},
		},
		"API-SMUT-5 kept":      {"an existing pool keeps its image", none, bare, plain},
		"API-SMUT-5 kept name": {"also when its name is given", none, image("local", nil), plain},
		"API-SMUT-5 kept part": {"or a part of its version", none, image("local", new("1")), plain},
		"API-SMUT-5 raised":    {"another part asks for another one", none, image("local", new("1.1")), result{"1.36.3", "local", "1.1.0", "amd64", ""}},
		"API-SHOOTSTRAT-9": {"the older name of the profile is dropped where the reference says the same", version("1.36.2"), func(s *shoot) {
			s.Spec.CloudProfile.Kind, s.Spec.CloudProfileName = "", new("local")
			version("1.36.3")(s)
		}, plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, wealth()...)
			r := admissiontest.Request{}
			s := admissiontest.Shoot(tc.change)
			if tc.was != nil {
				r.Old = admissiontest.Shoot(tc.was)
				s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
			}
			r.Object = s
			if err := g.Ask(completed(g.World), r); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			w := s.Spec.Provider.Workers[0]
			got := result{Kubernetes: s.Spec.Kubernetes.Version, Image: w.Machine.Image.Name, Version: *w.Machine.Image.Version, Architecture: *w.Machine.Architecture}
			if w.Kubernetes != nil {
				got.Pool = *w.Kubernetes.Version
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if s.Spec.CloudProfileName != nil || s.Spec.CloudProfile.Kind != "CloudProfile" || s.Spec.CloudProfile.Name != "local" {
				t.Errorf("API-SHOOTSTRAT-9: the reference names the profile, got %v, %v", s.Spec.CloudProfileName, s.Spec.CloudProfile)
			}
		})
	}
}

func TestAccessRestrictions(t *testing.T) {
	t.Parallel()
	objects := []kind.Object{admissiontest.Project(), admissiontest.Profile(func(p *profile) {
		p.Spec.Regions[0].AccessRestrictions = []gardencorev1beta1.AccessRestriction{{Name: "eu"}}
	})}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-3 promise":         {Reason: "what the region keeps can be promised", Objects: objects, Request: create(promising("eu", "eu"))},
		"API-SVAL-3 unkept":          {Reason: "nothing else", Objects: objects, Request: create(promising("us")), Refused: []string{"spec.accessRestrictions[0].name", `"us"`}},
		"API-SVAL-3 former promises": {Reason: "what was promised stays", Objects: objects, Request: admissiontest.Request{Object: admissiontest.Shoot(promising("us"), surviving), Old: admissiontest.Shoot(promising("us"))}},
	})
}
