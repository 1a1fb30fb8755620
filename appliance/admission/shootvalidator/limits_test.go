// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func all(changes ...func(*shoot)) func(*shoot) {
	return func(s *shoot) {
		for _, c := range changes {
			c(s)
		}
	}
}

func annotated(key, value string) func(*shoot) {
	return func(s *shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, key, value) }
}

func change(old, now func(*shoot)) admissiontest.Request {
	return admissiontest.Request{Object: admissiontest.Shoot(now), Old: admissiontest.Shoot(old)}
}

func TestGeneratedName(t *testing.T) {
	t.Parallel()
	generated := func(name string) func(*shoot) {
		return func(s *shoot) { s.Name, s.GenerateName = "", name }
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-NAME-3 generated":      {Reason: "16 characters and what is appended fit", Objects: garden(), Request: create(generated("ten-chars-"))},
		"API-NAME-3 generated long": {Reason: "17 do not", Objects: garden(), Request: create(generated("eleven-char")), Refused: []string{"too long together"}},
	})
}

func TestPlugins(t *testing.T) {
	t.Parallel()
	plugged := func(s *shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "X", KubeconfigSecretName: new("plugin")}}}
	}
	listed := func(s *shoot) {
		s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "p", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "plugin"}}}
	}
	secret := func(key string) kind.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "plugin"}, Data: map[string][]byte{key: []byte("x")}}
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-20 plugin":          {Reason: "a plugin has its kubeconfig", Objects: garden(secret("kubeconfig")), Request: create(plugged, listed)},
		"API-SVAL-20 plugin unlisted": {Reason: "which gets to the seed", Objects: garden(secret("kubeconfig")), Request: create(plugged), Refused: []string{`spec.resources: must contain Secret "plugin"`}},
		"API-SVAL-20 plugin empty":    {Reason: "and is one", Objects: garden(secret("other")), Request: create(plugged, listed), Refused: []string{`has no data under the key "kubeconfig"`}},
		"API-SVAL-20 plugin missing":  {Reason: "or exists at all", Objects: garden(), Request: create(plugged, listed), Refused: []string{`Secret "garden-meadow/plugin" does not exist`}},
		"API-SVAL-20 plugin kept":     {Reason: "what stays is not looked at", Objects: garden(), Request: change(all(plugged, listed), all(plugged, listed, surviving))},
		"API-SVAL-20 plugin dropped":  {Reason: "but it stays listed", Objects: garden(), Request: change(all(plugged, listed), plugged), Refused: []string{"spec.resources: must contain"}},
	})
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	managed := annotated("authentication.gardener.cloud/issuer", "managed")
	plain := func(*shoot) {}
	own := func(s *shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
			ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{Issuer: new("https://issuer.example.org")},
		}
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-20 issuer":      {Reason: "nobody serves managed issuers yet, so nobody trusts this one", Objects: garden(), Request: change(managed, plain)},
		"API-SVAL-20 issuer spec": {Reason: "a shoot that has asked for one can still be changed", Objects: garden(), Request: change(managed, all(managed, surviving))},
		"API-SVAL-20 issuer on":   {Reason: "it can be turned on, with a warning", Objects: garden(), Request: change(plain, managed)},
		"API-SVAL-20 issuer own":  {Reason: "there is one issuer", Objects: garden(), Request: create(managed, own), Refused: []string{"spec.kubernetes.kubeAPIServer.serviceAccountConfig.issuer", "authentication.gardener.cloud/issuer=managed"}},
	})
}

func TestSelector(t *testing.T) {
	t.Parallel()
	selecting := func(key string, providers ...string) func(*shoot) {
		return func(s *shoot) {
			s.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: "x"}}, ProviderTypes: providers}
		}
	}
	seeds := garden(admissiontest.Seed("a", func(s *seed) { s.Labels = map[string]string{"here": "x"} }))
	here := all(networked, on("a"))
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-20 selector":          {Reason: "the seed stays selected", Objects: seeds, Request: change(here, all(here, selecting("here", "*")))},
		"API-SVAL-20 selector other":    {Reason: "or the shoot is at the wrong place", Objects: seeds, Request: change(here, all(here, selecting("there"))), Refused: []string{"spec.seedSelector", `must select seed "a"`}},
		"API-SVAL-20 selector provider": {Reason: "of the right provider", Objects: seeds, Request: change(here, all(here, selecting("here", "cloud"))), Refused: []string{"spec.seedSelector"}},
		"API-SVAL-20 selector kept":     {Reason: "what stays is not looked at", Objects: seeds, Request: change(all(here, selecting("there")), all(here, selecting("there"), func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }))},
		"API-SVAL-20 selector no seed":  {Reason: "without a seed all is open", Objects: seeds, Request: change(func(*shoot) {}, selecting("there"))},
	})
}

func TestPinned(t *testing.T) {
	t.Parallel()
	pinned := func(zone string) func(*shoot) {
		return func(s *shoot) { s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{Zones: []string{zone}} }
	}
	willing := []kind.Object{admissiontest.Project(), admissiontest.Seed("a"), admissiontest.Profile(func(p *profile) {
		p.Spec.ControlPlane = &gardencorev1beta1.CloudProfileControlPlane{AllowZonePinning: true}
	})}
	bind := func(zone string) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(networked, pinned(zone), on("a")), Old: admissiontest.Shoot(networked, pinned(zone)), Subresource: "binding"}
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-20 zone":         {Reason: "a seed has zones", Objects: willing, Request: bind("a")},
		"API-SVAL-20 zone missing": {Reason: "and not others", Objects: willing, Request: bind("z"), Refused: []string{"spec.controlPlane.zones", `seed "a" has no zone "z"`}},
	})
}

func TestExchange(t *testing.T) {
	t.Parallel()
	bound := func(name string) func(*shoot) {
		return func(s *shoot) { s.Spec.CredentialsBindingName = &name }
	}
	binding := func(name string) kind.Object {
		return &gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: name}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
			CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: admissiontest.Namespace, Name: "of-" + name},
		}
	}
	moved := &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "moved"}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: admissiontest.Namespace, Name: "local"},
	}
	all := garden(binding("new"), binding("old"), admissiontest.Binding(), moved)
	rights := []string{"rose get secrets garden-meadow/of-new", "rose get secrets garden-meadow/of-old", "rose get secrets garden-meadow/local"}
	former := func(s *shoot) { s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = new("local"), nil }
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-20 credentials":        {Reason: "who may read both replaces them", Rights: rights, Objects: all, Request: change(bound("old"), bound("new"))},
		"API-SVAL-20 credentials former": {Reason: "who may not read the former does not", Rights: rights[:1], Objects: all, Request: change(bound("old"), bound("new")), Refused: []string{`you may not read Secret "garden-meadow/of-old"`}},
		"API-SVAL-20 credentials new":    {Reason: "nor who may not read the new ones", Rights: rights[1:], Objects: all, Request: change(bound("old"), bound("new")), Refused: []string{`you may not read Secret "garden-meadow/of-new"`}},
		"API-SVAL-20 credentials moved":  {Reason: "be they bound in the older way", Rights: rights[:2], Objects: all, Request: change(former, bound("new")), Refused: []string{`you may not read Secret "garden-meadow/local"`}},
		"API-VALSHOOT-2 moved":           {Reason: "the older way of binding is left with the same credentials", Rights: rights, Objects: all, Request: change(former, bound("moved"))},
		"API-VALSHOOT-2 moved elsewhere": {Reason: "and not with others", Rights: rights, Objects: all, Request: change(former, bound("new")), Refused: []string{`CredentialsBinding "new" must refer to the same Secret as SecretBinding "local"`}},
		"API-SVAL-20 credentials gone":   {Reason: "what does not exist is not replaced", Rights: rights, Objects: garden(binding("new")), Request: change(bound("old"), bound("new")), Refused: []string{`CredentialsBinding "garden-meadow/old" does not exist`}},
		"API-SVAL-20 credentials kept":   {Reason: "what stays is not looked at", Objects: all, Request: change(bound("old"), func(s *shoot) { bound("old")(s); surviving(s) })},
	})
}

func TestMoves(t *testing.T) {
	t.Parallel()
	move := func(change ...func(*shoot)) admissiontest.Request {
		from, to := append(change, networked, on("b")), append(append([]func(*shoot){}, change...), networked, on("a"))
		return admissiontest.Request{Object: admissiontest.Shoot(to...), Old: admissiontest.Shoot(from...), Subresource: "binding"}
	}
	between := func(from, to func(*seed), more ...kind.Object) []kind.Object {
		return append(garden(admissiontest.Seed("a", backed, to), admissiontest.Seed("b", backed, from)), more...)
	}
	same := func(*seed) {}
	dns := func(name string) gardencorev1beta1.SeedDNSProviderConfig {
		return gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: name, CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "x"}}
	}
	internal := func(name string) func(*seed) { return func(s *seed) { s.Spec.DNS.Internal = new(dns(name)) } }
	preset := func(name string) func(*seed) {
		return func(s *seed) { s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{dns(name)} }
	}
	silent := func(s *seed) {
		s.Spec.Settings = &gardencorev1beta1.SeedSettings{ShootDNS: &gardencorev1beta1.SeedSettingShootDNS{}}
	}
	named := func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("sprout.meadow.x.example")} }
	versioned := func(v string) func(*seed) {
		return func(s *seed) { s.Status.Gardener = &gardencorev1beta1.Gardener{Version: v} }
	}
	far := func(s *seed) { versioned("1")(s); s.Spec.Provider.Region = "far" }
	live := annotated("migration.gardener.cloud/live-migrate", "true")
	hardy := func(s *shoot) {
		s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{FailureTolerance: gardencorev1beta1.FailureTolerance{Type: "node"}}}
	}
	distances := func(text string, annotations ...string) kind.Object {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "garden", Name: "regions", Labels: map[string]string{"scheduling.gardener.cloud/purpose": "region-config"},
			Annotations: map[string]string{"scheduling.gardener.cloud/cloudprofiles": "other, local"},
		}, Data: map[string]string{"north": text}}
		if len(annotations) > 0 {
			m.Annotations["migration.gardener.cloud/inter-region-distance-threshold"] = annotations[0]
		}
		return m
	}
	custom := func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("sprout.own.example")} }
	common := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "default-domain", Labels: map[string]string{"gardener.cloud/role": "default-domain"},
		Annotations: map[string]string{"dns.gardener.cloud/domain": "x.example", "dns.gardener.cloud/provider": "local"},
	}}
	controlled := func(s *shoot) { s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{} }
	misplaced, unlabelled := distances("far: 1"), distances("far: 1")
	misplaced.SetAnnotations(map[string]string{"scheduling.gardener.cloud/cloudprofiles": "other"})
	unlabelled.SetLabels(nil)
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-5 internal":         {Reason: "the internal name stays", Objects: between(internal("i.example"), internal("i.example")), Request: move()},
		"API-SVAL-5 internal differs": {Reason: "or the shoot does", Objects: between(internal("i.example"), internal("j.example")), Request: move(), Refused: []string{"their internal domains differ"}},
		"API-SVAL-5 default":          {Reason: "so does the default domain", Objects: between(preset("x.example"), preset("y.example")), Request: move(named), Refused: []string{`seed "a" does not serve the default domain "x.example"`}},
		"API-SVAL-5 of the garden":    {Reason: "a seed without its own has the default domains of the garden", Objects: between(preset("x.example"), same), Request: move(named), Refused: []string{`seed "a" does not serve the default domain "x.example"`}},
		"API-SVAL-5 garden's":         {Reason: "which one with its own has not", Objects: between(same, preset("y.example"), common), Request: move(named), Refused: []string{`seed "a" does not serve the default domain "x.example"`}},
		"API-SVAL-5 in common":        {Reason: "unless they are the same", Objects: between(preset("x.example"), same, common), Request: move(named)},
		"API-SVAL-5 own domain":       {Reason: "a name of its owner's is served everywhere", Objects: between(preset("x.example"), preset("y.example")), Request: move(custom)},
		"API-SVAL-5 nameless":         {Reason: "no name neither", Objects: between(preset("x.example"), preset("y.example")), Request: move()},
		"API-SVAL-5 internal missing": {Reason: "an internal name is needed", Objects: between(internal("i.example"), same), Request: move(), Refused: []string{"their internal domains differ"}},
		"API-SVAL-20 live alone":      {Reason: "a version that nobody has told is not the same", Objects: between(same, versioned("1")), Request: move(live, hardy), Refused: []string{"gardenlets of one version"}},
		"API-SVAL-20 live to unknown": {Reason: "in neither direction", Objects: between(versioned("1"), same), Request: move(live, hardy), Refused: []string{"gardenlets of one version"}},
		"API-SVAL-20 live exposed":    {Reason: "zones alone survive nothing", Objects: between(versioned("1"), versioned("1")), Request: move(live, controlled), Refused: []string{"needs a highly available control plane"}},
		"API-SVAL-20 live elsewhere":  {Reason: "distances of other profiles do not count", Objects: between(versioned("1"), far, misplaced), Request: move(live, hardy), Refused: []string{"is not known"}},
		"API-SVAL-20 live unlabelled": {Reason: "nor do other ConfigMaps", Objects: between(versioned("1"), far, unlabelled), Request: move(live, hardy), Refused: []string{"is not known"}},
		"API-SVAL-20 live unlisted":   {Reason: "nor is a distance to somewhere else one", Objects: between(versioned("1"), far, distances("near: 1")), Request: move(live, hardy), Refused: []string{"is not known"}},
		"API-SVAL-5 served":           {Reason: "which both may serve", Objects: between(preset("x.example"), preset("x.example")), Request: move(named)},
		"API-DNS-7":                   {Reason: "names are made at both ends", Objects: between(same, silent), Request: move(), Refused: []string{`seed "a" has DNS names for shoots disabled`}},
		"API-DNS-7 source":            {Reason: "the one that is left included", Objects: between(silent, same), Request: move(), Refused: []string{`seed "b" has DNS names for shoots disabled`}},
		"API-SVAL-20 live":            {Reason: "what is near and of one kind moves alive", Objects: between(versioned("1"), versioned("1")), Request: move(live, hardy)},
		"API-SVAL-20 live ha":         {Reason: "if it survives", Objects: between(versioned("1"), versioned("1")), Request: move(live), Refused: []string{"needs a highly available control plane"}},
		"API-SVAL-20 live version":    {Reason: "and both ends understand each other", Objects: between(versioned("1"), versioned("2")), Request: move(live, hardy), Refused: []string{"gardenlets of one version"}},
		"API-SVAL-20 live far":        {Reason: "not from far away", Objects: between(versioned("1"), far, distances("far: 181")), Request: move(live, hardy), Refused: []string{`region "far" is too far from "north"`, "181, at most 180"}},
		"API-SVAL-20 live near":       {Reason: "180 is near", Objects: between(versioned("1"), far, distances("far: 180")), Request: move(live, hardy)},
		"API-SVAL-20 live limit":      {Reason: "the garden may think otherwise", Objects: between(versioned("1"), far, distances("far: 180", "100")), Request: move(live, hardy), Refused: []string{"180, at most 100"}},
		"API-SVAL-20 live unknown":    {Reason: "nobody knows", Objects: between(versioned("1"), far), Request: move(live, hardy), Refused: []string{`is not known, and a live migration requires a short one`}},
		"API-SVAL-20 live allowed":    {Reason: "who insists may", Objects: between(versioned("1"), far), Request: move(live, hardy, annotated("migration.gardener.cloud/allow-distant-regions", "true"))},
	})
}

func TestOwnProfile(t *testing.T) {
	t.Parallel()
	own := func(s *shoot) {
		s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
	}
	objects := garden(admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) {
		p.Status.CloudProfileSpec.MachineTypes[0].Name = "tiny"
	}))
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-14 own profile":  {Reason: "what a project's profile offers counts", Objects: objects, Request: create(own, pool(func(w *worker) { w.Machine.Type = "tiny" }))},
		"API-SVAL-14 not offered":  {Reason: "and only that", Objects: objects, Request: create(own), Refused: []string{"spec.provider.workers[0].machine.type", `"tiny"`}},
		"API-SVAL-14 unknown kind": {Reason: "there are two kinds of profiles", Objects: objects, Request: create(func(s *shoot) { s.Spec.CloudProfile.Kind = "X" }), Refused: []string{"spec.cloudProfile.kind"}},
	})
}

func TestCapabilities(t *testing.T) {
	t.Parallel()
	flavored := func(p *profile) {
		p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "boot", Values: []string{"uefi", "bios"}}}
		p.Spec.MachineTypes[0].Capabilities = gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "boot": {"uefi"}}
		v := &p.Spec.MachineImages[0].Versions[0]
		v.Architectures = nil
		v.CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "boot": {"bios"}}}}
		w := *v.DeepCopy()
		w.Version, w.CapabilityFlavors[0].Capabilities["boot"] = "0.9.0", []string{"uefi"}
		p.Spec.MachineImages[0].Versions = append(p.Spec.MachineImages[0].Versions, w)
	}
	objects := []kind.Object{admissiontest.Project(), admissiontest.Profile(flavored)}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-15 flavor":     {Reason: "an image has to boot on the machine", Objects: objects, Request: create(), Refused: []string{"machine.image.version", `"1.0.0"`}},
		"API-SMUT-5 flavor":      {Reason: "one that does is chosen", Objects: objects, Request: create(image("local", nil))},
		"API-SVAL-15 in place":   {Reason: "images that machines cannot be updated to are not for updates in place", Objects: garden(), Request: create(pool(func(w *worker) { w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate) })), Refused: []string{"does not support in-place updates"}},
		"API-SVAL-15 suits both": {Reason: "one that fits by name passes", Objects: objects, Request: create(image("local", new("0.9.0")))},
	})
}

func TestFamily(t *testing.T) {
	t.Parallel()
	derived := func(name, parent string) kind.Object {
		return admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) {
			p.Name, p.Spec.Parent.Name, p.Spec.Parent.Kind = name, parent, "CloudProfile"
			p.Status.CloudProfileSpec = admissiontest.Profile().Spec
		})
	}
	world := append(garden(), derived("own", "local"), derived("second", "local"), derived("foreign", "other"),
		admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) { p.Name = "other" }))
	of := func(kind, name string) *gardencorev1beta1.Shoot {
		return admissiontest.Shoot(func(s *shoot) {
			s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: name}
		})
	}
	const garden, project = "CloudProfile", "NamespacedCloudProfile"
	moves := func(was, is *gardencorev1beta1.Shoot) admissiontest.Request {
		return admissiontest.Request{Old: was, Object: is}
	}
	refused := []string{`a shoot of CloudProfile "local", or of one derived from it, cannot change to CloudProfile "other"`}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SHOOTSTRAT-9 derived":         {Reason: "a profile of the project derived from that of the garden takes its place", Objects: world, Request: moves(of(garden, "local"), of(project, "own"))},
		"API-SHOOTSTRAT-9 sibling":         {Reason: "so does another one derived from it", Objects: world, Request: moves(of(project, "own"), of(project, "second"))},
		"API-SHOOTSTRAT-9 back":            {Reason: "and the one of the garden again", Objects: world, Request: moves(of(project, "own"), of(garden, "local"))},
		"API-SHOOTSTRAT-9 foreign":         {Reason: "one of another family does not", Objects: world, Request: moves(of(garden, "local"), of(project, "foreign")), Refused: refused},
		"API-SHOOTSTRAT-9 foreign parent":  {Reason: "nor does its parent", Objects: world, Request: moves(of(project, "own"), of(garden, "other")), Refused: refused},
		"API-SHOOTSTRAT-9 foreign sibling": {Reason: "nor does a cousin", Objects: world, Request: moves(of(project, "own"), of(project, "foreign")), Refused: refused},
	})
}
