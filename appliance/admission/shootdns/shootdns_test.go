// SPDX-License-Identifier: Apache-2.0

package shootdns_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootdns"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot    = gardencorev1beta1.Shoot
	seed     = gardencorev1beta1.Seed
	provider = gardencorev1beta1.DNSProvider
)

func preset(name, domain, priority string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: name, Labels: map[string]string{"gardener.cloud/role": "default-domain"},
		Annotations: map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": domain},
	}}
	if priority != "" {
		s.Annotations["dns.gardener.cloud/domain-default-priority"] = priority
	}
	return s
}

func garden(more ...kind.Object) []kind.Object {
	return append([]kind.Object{admissiontest.Project(), admissiontest.Seed("a")}, more...)
}

func on(name string) func(*shoot) { return func(s *shoot) { s.Spec.SeedName = &name } }

func named(domain string, providers ...provider) func(*shoot) {
	return func(s *shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Providers: providers}
		if domain != "" {
			s.Spec.DNS.Domain = &domain
		}
	}
}

func service(typ string, primary *bool) provider {
	return provider{Type: &typ, SecretName: new("s"), Primary: primary}
}

func domainOf(s *shoot) string {
	if s.Spec.DNS == nil || s.Spec.DNS.Domain == nil {
		return ""
	}
	return *s.Spec.DNS.Domain
}

func TestAssign(t *testing.T) {
	t.Parallel()
	override := admissiontest.Seed("b", func(s *seed) {
		s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "local", Domain: "b.example", CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "x"}}}
	})
	three := []kind.Object{preset("a", "low.example", "-1"), preset("b", "odd.example", "many"), preset("c", "high.example", "7"), preset("d", "nobody.example", "9")}
	delete(three[3].GetAnnotations(), "dns.gardener.cloud/provider")
	for name, tc := range map[string]struct {
		reason  string
		objects []kind.Object
		object  []func(*shoot)
		// old is the shoot before; nil for a new one.
		old         []func(*shoot)
		subresource string
		want        string
	}{
		"API-DNS-2 no seed":   {reason: "without a seed no name is given", objects: garden(three...)},
		"API-DNS-2 none":      {reason: "without a default domain neither", objects: garden(), object: []func(*shoot){on("a")}},
		"API-DNS-1 priority":  {reason: "the first domain counts; what has no provider is none", objects: garden(three...), object: []func(*shoot){on("a")}, want: "sprout.meadow.high.example"},
		"API-DNS-1 numbers":   {reason: "what is no number counts as 0", objects: garden(three[:2]...), object: []func(*shoot){on("a")}, want: "sprout.meadow.odd.example"},
		"API-DNS-1 seed":      {reason: "a seed may have domains of its own", objects: garden(append(three, override)...), object: []func(*shoot){on("b")}, want: "sprout.meadow.b.example"},
		"API-DNS-2 binding":   {reason: "the name comes with the seed", objects: garden(three...), object: []func(*shoot){on("a")}, old: []func(*shoot){}, subresource: "binding", want: "sprout.meadow.high.example"},
		"API-DNS-2 move":      {reason: "who moves stays as it is", objects: garden(append(three, admissiontest.Seed("c"))...), object: []func(*shoot){on("a")}, old: []func(*shoot){on("c")}, subresource: "binding"},
		"API-DNS-2 given":     {reason: "a name that is given stays", objects: garden(three...), object: []func(*shoot){on("a"), named("own.example")}, want: "own.example"},
		"API-DNS-2 unmanaged": {reason: "who wants none gets none", objects: garden(three...), object: []func(*shoot){on("a"), named("", provider{Type: new("unmanaged")})}},
		"API-DNS-2 unchanged": {reason: "what does not change is left alone", objects: garden(three...), object: []func(*shoot){on("a")}, old: []func(*shoot){on("a")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, tc.objects...)
			s := admissiontest.Shoot(tc.object...)
			r := admissiontest.Request{Object: s, Subresource: tc.subresource}
			if tc.old != nil {
				r.Old = admissiontest.Shoot(tc.old...)
			}
			if err := g.Ask(shootdns.New(g.World), r); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got := domainOf(s); got != tc.want {
				t.Errorf("%s: got domain %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestGeneratedName(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, garden(preset("a", "x.example", ""))...)
	s := admissiontest.Shoot(on("a"), func(s *shoot) { s.Name, s.GenerateName = "", "bud-" })
	if err := g.Ask(shootdns.New(g.World), admissiontest.Request{Object: s}); err != nil {
		t.Fatal(err)
	}
	if got := domainOf(s); !regexp.MustCompile(`^[a-z0-9]{9}\.meadow\.x\.example$`).MatchString(got) {
		t.Errorf("API-DNS-2: a shoot without a name gets one of letters, got %q", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	preset := preset("a", "x.example", "")
	silent := admissiontest.Seed("quiet", func(s *seed) {
		s.Spec.Settings = &gardencorev1beta1.SeedSettings{ShootDNS: &gardencorev1beta1.SeedSettingShootDNS{}}
	})
	ask := func(change ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(change...)}
	}
	generated := func(s *shoot) { s.Name, s.GenerateName = "", "bud-" }
	change := func(old, now []func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(now...), Old: admissiontest.Shoot(old...)}
	}
	admissiontest.Run(t, shootdns.New, map[string]admissiontest.Case{
		"API-DNS-3":                {Reason: "a seed that makes no names wants none", Objects: garden(silent), Request: ask(on("quiet"), named("own.example")), Refused: []string{"spec.dns", `seed "quiet" has DNS names for shoots disabled`}},
		"API-DNS-3 none":           {Reason: "and gives none", Objects: garden(silent, preset), Request: ask(on("quiet"))},
		"API-DNS-4 own":            {Reason: "below a default domain everybody has a place", Objects: garden(preset), Request: ask(named("sprout.meadow.x.example"))},
		"API-DNS-4 other":          {Reason: "and only that", Objects: garden(preset), Request: ask(named("other.meadow.x.example")), Refused: []string{"spec.dns.domain", `must be "sprout.meadow.x.example"`}},
		"API-DNS-4 beside":         {Reason: "the domain itself is no name below it", Objects: garden(preset), Request: ask(named("ax.example", service("t", nil)))},
		"API-DNS-4 generated":      {Reason: "who does not know the own name ends rightly", Objects: garden(preset), Request: ask(generated, named("any.meadow.x.example"))},
		"API-DNS-4 generated not":  {Reason: "or wrongly", Objects: garden(preset), Request: ask(generated, named("any.wood.x.example")), Refused: []string{`must end in ".meadow.x.example"`}},
		"API-DNS-4 later":          {Reason: "a name that comes later is looked at", Objects: garden(preset), Request: change([]func(*shoot){}, []func(*shoot){named("o.x.example")}), Refused: []string{"spec.dns.domain"}},
		"API-DNS-4 kept":           {Reason: "one that was there is not", Objects: garden(preset), Request: change([]func(*shoot){named("o.x.example")}, []func(*shoot){named("o.x.example", service("t", nil))})},
		"API-DNS-4 first seed":     {Reason: "but with the first seed it is", Objects: garden(preset), Request: change([]func(*shoot){named("o.x.example")}, []func(*shoot){named("o.x.example"), on("a")}), Refused: []string{"spec.dns.domain"}},
		"API-SVAL-18 everybody's":  {Reason: "a domain of everybody is nobody's", Objects: garden(), Request: ask(named("com", provider{Type: new("unmanaged")})), Refused: []string{"spec.dns.domain", "everybody can register"}},
		"API-SVAL-18 of a country": {Reason: "also with two labels", Objects: garden(), Request: ask(named("co.uk", provider{Type: new("unmanaged")})), Refused: []string{"everybody can register"}},
		"API-SVAL-18 default":      {Reason: "the default domain is for all", Objects: garden(preset), Request: ask(named("x.example", service("t", nil))), Refused: []string{`default domain "x.example"`}},
		"API-SVAL-18 above": {Reason: "so is what is above it", Objects: garden(admissiontest.Seed("b", func(s *seed) {
			s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "local", Domain: "b.own.example", CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "x"}}}
		})), Request: ask(on("a"), named("own.example", service("t", nil))), Refused: []string{`default domain "b.own.example"`}},
		"API-SVAL-18 of others": {Reason: "below the default domain of another seed everybody has a place as well", Objects: garden(preset, admissiontest.Seed("b", func(s *seed) {
			s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "local", Domain: "b.own.example", CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "x"}}}
		})), Request: ask(on("a"), named("wood.b.own.example", provider{Type: new("unmanaged")})), Refused: []string{`must be "sprout.meadow.b.own.example"`}},
		"API-SVAL-18 kept":       {Reason: "one that was there is not looked at", Objects: garden(preset), Request: change([]func(*shoot){named("x.example", service("t", nil))}, []func(*shoot){named("x.example", service("t", nil)), func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }})},
		"API-DNS-5 default":      {Reason: "the garden hosts its domains itself", Objects: garden(preset), Request: ask(named("sprout.meadow.x.example", service("t", new(true)))), Refused: []string{"spec.dns.providers", "no provider can be primary"}},
		"API-DNS-6":              {Reason: "a service without an account is of no use", Objects: garden(), Request: ask(named("", provider{Type: new("t")})), Refused: []string{"spec.dns.providers[0]", "type and credentials"}},
		"API-DNS-6 second":       {Reason: "neither as a second one", Objects: garden(), Request: ask(named("own.example", service("t", nil), provider{SecretName: new("s")})), Refused: []string{"spec.dns.providers[1]"}},
		"API-DNS-6 primary":      {Reason: "the primary one may leave it to others", Objects: garden(), Request: ask(named("own.example", provider{Type: new("t"), Primary: new(true)}))},
		"API-DNS-2 seed missing": {Reason: "a seed must exist", Objects: garden(), Request: ask(on("z")), Refused: []string{`spec.seedName: Seed "z" does not exist`}},
	})
}

func TestPrimary(t *testing.T) {
	t.Parallel()
	second := provider{Type: new("u"), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Kind: "Secret", Name: "s"}}
	for name, tc := range map[string]struct {
		reason   string
		now, old []provider
		want     []bool
	}{
		"API-DNS-5 first": {"the first one hosts the domain", []provider{service("t", nil), second}, nil, []bool{true, false}},
		"API-DNS-5 given": {"or the one that is named", []provider{service("t", nil), service("u", new(true))}, nil, []bool{false, true}},
		"API-DNS-5 lost":  {"who hosted it goes on, however it is spelt", []provider{service("t", nil), second}, []provider{service("t", nil), service("u", new(true))}, []bool{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, garden()...)
			s := admissiontest.Shoot(named("own.example", tc.now...))
			r := admissiontest.Request{Object: s}
			if tc.old != nil {
				r.Old = admissiontest.Shoot(named("own.example", tc.old...))
			}
			if err := g.Ask(shootdns.New(g.World), r); err != nil {
				t.Fatal(err)
			}
			var got []bool
			for _, p := range s.Spec.DNS.Providers {
				got = append(got, p.Primary != nil && *p.Primary)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
