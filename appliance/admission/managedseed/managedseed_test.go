// SPDX-License-Identifier: Apache-2.0

package managedseed_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/managedseed"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	seedSpec = gardencorev1beta1.SeedSpec
	shoot    = gardencorev1beta1.Shoot
	managed  = gardenseedmanagementv1alpha1.ManagedSeed
)

func fit(change ...func(*shoot)) *shoot {
	return admissiontest.Shoot(append([]func(*shoot){func(s *shoot) {
		s.Namespace = "garden"
		s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
		s.Spec.Networking = &gardencorev1beta1.Networking{
			Type: new("local"), Nodes: new("10.0.0.0/16"), Pods: new("10.1.0.0/16"), Services: new("10.2.0.0/16"),
		}
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("sprout.x.y")}
		s.Spec.Provider.Workers[0].Zones, s.Spec.Provider.Workers[0].Maximum = []string{"b", "a"}, 2
	}}, change...)...)
}

// of makes a ManagedSeed of a shoot.
func of(name string, change ...func(*seedSpec)) *managed {
	m := &managed{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "child"},
		Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
			Shoot: &gardenseedmanagementv1alpha1.Shoot{Name: name}, SeedTemplate: &gardencorev1beta1.SeedTemplate{},
		},
	}
	for _, c := range change {
		c(&m.Spec.SeedTemplate.Spec)
	}
	return m
}

func TestFitting(t *testing.T) {
	t.Parallel()
	other := of("sprout")
	other.Name = "other"
	foreign := of("sprout")
	foreign.Namespace = admissiontest.Namespace
	going := of("gone")
	going.DeletionTimestamp = new(metav1.Now())
	nginx := fit(func(s *shoot) {
		s.Spec.Kubernetes.Version = "1.34.0"
		s.Spec.Addons = &gardencorev1beta1.Addons{NginxIngress: &gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: true}}}
	})
	workerless := fit(func(s *shoot) {
		s.Spec.Provider.Workers, s.Spec.Networking, s.Spec.CredentialsBindingName = nil, nil, nil
		s.Spec.Kubernetes.VerticalPodAutoscaler = nil
	})
	create := admissiontest.Request{Object: of("sprout")}
	admissiontest.Run(t, managedseed.New, map[string]admissiontest.Case{
		"API-MS-1 fit":        {Reason: "a shoot with everything can be a seed", Objects: []kind.Object{fit()}, Request: create},
		"API-MS-1 namespace":  {Reason: "only in the garden's namespace", Objects: []kind.Object{fit()}, Request: admissiontest.Request{Object: foreign}, As: metav1.StatusReasonInvalid, Refused: []string{"metadata.namespace", `"garden"`}},
		"API-MS-1 missing":    {Reason: "only one that exists", Request: create, As: metav1.StatusReasonInvalid, Refused: []string{`no shoot "sprout"`}},
		"API-MS-1 domain":     {Reason: "with a domain", Objects: []kind.Object{fit(func(s *shoot) { s.Spec.DNS = nil })}, Request: create, As: metav1.StatusReasonInvalid, Refused: []string{"spec.dns.domain"}},
		"API-MS-1 nginx":      {Reason: "without another ingress", Objects: []kind.Object{nginx}, Request: create, As: metav1.StatusReasonInvalid, Refused: []string{"nginxIngress"}},
		"API-MS-1 vpa":        {Reason: "with the autoscaler", Objects: []kind.Object{fit(func(s *shoot) { s.Spec.Kubernetes.VerticalPodAutoscaler = nil })}, Request: create, As: metav1.StatusReasonInvalid, Refused: []string{"verticalPodAutoscaler"}},
		"API-MS-1 workerless": {Reason: "with nodes", Objects: []kind.Object{workerless}, Request: create, As: metav1.StatusReasonInvalid, Refused: []string{"spec.provider.workers"}},
		"API-MS-1 taken":      {Reason: "for the first time", Objects: []kind.Object{fit(), other}, Request: create, As: metav1.StatusReasonInvalid, Refused: []string{`ManagedSeed "other"`}},
		"API-MS-1 update":     {Reason: "an update is looked at as well", Request: admissiontest.Request{Object: of("sprout"), Old: of("sprout")}, As: metav1.StatusReasonInvalid, Refused: []string{`no shoot "sprout"`}},
		"API-ADM-6 going":     {Reason: "a managed seed can always go", Request: admissiontest.Request{Object: going, Old: of("gone")}},
	})
}

func TestComplete(t *testing.T) {
	t.Parallel()
	completed := seedSpec{
		Provider: gardencorev1beta1.SeedProvider{Type: "local", Region: "north", Zones: []string{"a", "b"}},
		Ingress:  &gardencorev1beta1.Ingress{Domain: "ingress.sprout.x.y", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}},
		Networks: gardencorev1beta1.SeedNetworks{Nodes: new("10.0.0.0/16"), Pods: "10.1.0.0/16", Services: "10.2.0.0/16"},
		Settings: &gardencorev1beta1.SeedSettings{VerticalPodAutoscaler: &gardencorev1beta1.SeedSettingVerticalPodAutoscaler{Enabled: false}},
	}
	with := func(change func(*seedSpec)) seedSpec {
		s := *completed.DeepCopy()
		change(&s)
		return s
	}
	custom := fit(func(s *shoot) {
		s.Spec.DNS.Providers = []gardencorev1beta1.DNSProvider{{Type: new("cloud"), Primary: new(true), SecretName: new("dns")}}
	})
	domain := admissiontest.Secret("default", func(s *corev1.Secret) {
		s.Namespace, s.Labels = "garden", map[string]string{"gardener.cloud/role": "default-domain"}
		s.Annotations = map[string]string{"dns.gardener.cloud/provider": "hosted", "dns.gardener.cloud/domain": "x.y"}
	})
	elsewhere := domain.DeepCopy()
	elsewhere.Annotations["dns.gardener.cloud/domain"] = "y.z"
	reference := func(name string) *corev1.ObjectReference {
		return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: name}
	}
	for name, tc := range map[string]struct {
		reason  string
		objects []kind.Object
		given   func(*seedSpec)
		want    seedSpec
	}{
		"API-MS-2 all":    {"what was left out is the shoot's", []kind.Object{fit()}, func(*seedSpec) {}, completed},
		"API-MS-2 given":  {"what was given stays", []kind.Object{fit()}, func(s *seedSpec) { s.Provider.Zones = []string{"a"} }, with(func(s *seedSpec) { s.Provider.Zones = []string{"a"} })},
		"API-MS-2 backup": {"backups go to the same provider", []kind.Object{fit()}, func(s *seedSpec) { s.Backup = &gardencorev1beta1.Backup{} }, with(func(s *seedSpec) { s.Backup = &gardencorev1beta1.Backup{Provider: "local"} })},
		"API-MS-2 custom": {"names are where the shoot's are", []kind.Object{custom, domain}, func(*seedSpec) {}, with(func(s *seedSpec) {
			s.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "cloud", CredentialsRef: reference("dns")}
		})},
		"API-MS-2 default": {"or where the default domain is", []kind.Object{fit(), domain}, func(*seedSpec) {}, with(func(s *seedSpec) {
			s.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "hosted", CredentialsRef: reference("default")}
		})},
		"API-MS-2 no match": {"another domain is of no use", []kind.Object{fit(), elsewhere}, func(*seedSpec) {}, completed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, tc.objects...)
			m := of("sprout", tc.given)
			if err := g.Ask(managedseed.New(g.World), admissiontest.Request{Object: m}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, m.Spec.SeedTemplate.Spec); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGardenletConfig completes the seed inside the configuration of a gardenlet and keeps what else stands there.
func TestGardenletConfig(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, fit())
	m := of("sprout")
	m.Spec.SeedTemplate = nil
	m.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{Config: runtime.RawExtension{
		Raw: []byte(`{"kind":"GardenletConfiguration","mine":{"a":1},"seedConfig":{"metadata":{"labels":{"a":"b"}},"spec":{"provider":{"region":"north"}}}}`),
	}}
	if err := g.Ask(managedseed.New(g.World), admissiontest.Request{Object: m}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kind       string         `json:"kind"`
		Mine       map[string]int `json:"mine"`
		SeedConfig gardencorev1beta1.SeedTemplate
	}
	if err := json.Unmarshal(m.Spec.Gardenlet.Config.Raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "GardenletConfiguration" || got.Mine["a"] != 1 || got.SeedConfig.Labels["a"] != "b" || got.SeedConfig.Spec.Provider.Type != "local" {
		t.Errorf("API-MS-2: got %s", m.Spec.Gardenlet.Config.Raw)
	}
	again := m.DeepCopy()
	if err := g.Ask(managedseed.New(g.World), admissiontest.Request{Object: again, Old: m}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(m.Spec.Gardenlet.Config.Raw), string(again.Spec.Gardenlet.Config.Raw)); diff != "" {
		t.Errorf("API-MS-2: what is complete is not written anew (-want +got):\n%s", diff)
	}
	m.Spec.Gardenlet.Config.Raw = []byte("x")
	if err := g.Ask(managedseed.New(g.World), admissiontest.Request{Object: m}); err == nil {
		t.Error("API-MS-2: what cannot be read is refused")
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	cases := map[string]admissiontest.Case{}
	for name, tc := range map[string]struct {
		change func(*seedSpec)
		says   string
	}{
		"type":     {func(s *seedSpec) { s.Provider.Type = "cloud" }, "spec.provider.type"},
		"region":   {func(s *seedSpec) { s.Provider.Region = "south" }, "spec.provider.region"},
		"zone":     {func(s *seedSpec) { s.Provider.Zones = []string{"c"} }, `zone "c"`},
		"ingress":  {func(s *seedSpec) { s.Ingress = &gardencorev1beta1.Ingress{Domain: "other.x.y"} }, "spec.ingress.domain"},
		"nodes":    {func(s *seedSpec) { s.Networks.Nodes = new("10.9.0.0/16") }, "spec.networks.nodes"},
		"pods":     {func(s *seedSpec) { s.Networks.Pods = "10.9.0.0/16" }, "spec.networks.pods"},
		"services": {func(s *seedSpec) { s.Networks.Services = "10.9.0.0/16" }, "spec.networks.services"},
		"vpa": {func(s *seedSpec) {
			s.Settings = &gardencorev1beta1.SeedSettings{VerticalPodAutoscaler: &gardencorev1beta1.SeedSettingVerticalPodAutoscaler{Enabled: true}}
		}, "verticalPodAutoscaler"},
	} {
		cases["API-MS-3 "+name] = admissiontest.Case{
			Reason: "the seed is the shoot", Objects: []kind.Object{fit()},
			Request: admissiontest.Request{Object: of("sprout", tc.change)}, As: metav1.StatusReasonInvalid, Refused: []string{"spec.seedTemplate", tc.says},
		}
	}
	one, two := of("sprout", func(s *seedSpec) { s.Provider.Zones = []string{"a"} }), of("sprout", func(s *seedSpec) { s.Provider.Zones = []string{"a", "b"} })
	used := admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName = new("child") })
	cases["API-MS-3 zone in use"] = admissiontest.Case{Reason: "shoots stand on it", Objects: []kind.Object{fit(), used}, Request: admissiontest.Request{Object: one, Old: two}, As: metav1.StatusReasonInvalid, Refused: []string{"spec.provider.zones", "garden-meadow/sprout"}}
	cases["API-MS-3 zone unused"] = admissiontest.Case{Reason: "nobody stands on it", Objects: []kind.Object{fit()}, Request: admissiontest.Request{Object: one, Old: two}}
	cases["API-MS-3 more zones"] = admissiontest.Case{Reason: "more are welcome", Objects: []kind.Object{fit(), used}, Request: admissiontest.Request{Object: two, Old: one}}
	admissiontest.Run(t, managedseed.New, cases)
}

// TestLabels labels a managed seed with the seed below it and the one that it becomes.
func TestLabels(t *testing.T) {
	t.Parallel()
	const prefix = "name.seed.gardener.cloud/"
	g := admissiontest.New(t, nil, fit(func(s *shoot) { s.Spec.SeedName = new("ground") }))
	m := of("sprout")
	m.Labels = map[string]string{"mine": "kept", prefix + "former": "true"}
	if err := g.Ask(managedseed.New(g.World), admissiontest.Request{Object: m}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"mine": "kept", prefix + "ground": "true", prefix + m.Name: "true"}
	if diff := cmp.Diff(want, m.Labels); diff != "" {
		t.Errorf("the labels of seeds are those of the shoot's seed and of its own (-want +got):\n%s", diff)
	}
}

// TestInvalid answers as static validation does, with the field.
func TestInvalid(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	err := g.Ask(managedseed.New(g.World), admissiontest.Request{Object: of("sprout")})
	if !apierrors.IsInvalid(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid) {
		t.Errorf("API-MS-1: a shoot that does not exist is a wrong value, got %v", err)
	}
}

// TestLooksPastTheCache_API_MS_1 makes a second ManagedSeed for a shoot right after the first one.
func TestLooksPastTheCache_API_MS_1(t *testing.T) {
	t.Parallel()
	other := of("sprout")
	other.Name = "other"
	g := admissiontest.New(t, nil, fit(), other)
	err := g.Ask(managedseed.New(g.Behind("managedseeds")), admissiontest.Request{Object: of("sprout")})
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want Invalid: ManagedSeeds are listed from the store, not from the cache", err)
	}
}
