// SPDX-License-Identifier: Apache-2.0

// Package shootdns sets the domain of Shoots below a default domain of the garden, and rejects other names in these domains
// (API-DNS-1 to 6).
package shootdns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// generatedPart is how many characters the server appends to a generateName.
const generatedPart = 5

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.MutationInterface = &rule{}

// request is a request with the new shoot and the old one, which is empty on create.
type request struct {
	shoot, old *gardencorev1beta1.Shoot
	create     bool
}

// Admit completes and validates the DNS section of a Shoot that is not in deletion. It also runs for shoots/binding, because
// the name depends on the seed.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || shoot.DeletionTimestamp != nil || a.GetSubresource() != "" && a.GetSubresource() != "binding" {
		return nil
	}
	q := request{shoot: shoot, old: &gardencorev1beta1.Shoot{}, create: a.GetOperation() == admission.Create}
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok {
		q.old = old
	}
	if !q.create && check.Equal(&shoot.Spec, &q.old.Spec) {
		return nil
	}
	var done *gardencorev1beta1.DNS
	err := r.world.Decide(a, func(v world.View) error {
		var err error
		done, err = q.complete(ctx, v)
		return err
	})
	if err == nil {
		shoot.Spec.DNS = done
	}
	return err
}

// complete returns the completed DNS section.
func (q request) complete(ctx context.Context, v world.View) (*gardencorev1beta1.DNS, error) {
	dns := q.shoot.Spec.DNS.DeepCopy()
	if query.Domain(dns) == "" && q.shoot.Spec.SeedName == nil {
		return dns, complete(dns)
	}
	seed, err := q.seed(ctx, v)
	if err != nil {
		return nil, err
	}
	if seed != nil && !query.MakesNames(seed) { // API-DNS-3
		if dns != nil {
			return nil, fmt.Errorf("spec.dns: seed %q has DNS names for shoots disabled; remove the section", seed.Name)
		}
		return nil, nil //nolint:nilnil // There is no DNS section, and none is needed.
	}
	domains, err := v.DefaultDomains(ctx, seed)
	if err != nil {
		return nil, err
	}
	if query.Domain(dns) == "" {
		if dns, err = q.assign(ctx, v, dns, domains); err != nil {
			return nil, err
		}
	}
	if err := q.judge(ctx, v, dns, domains); err != nil {
		return nil, err
	}
	if err := q.choosePrimary(dns, domains); err != nil {
		return nil, err
	}
	return dns, complete(dns)
}

func (q request) seed(ctx context.Context, v world.View) (*gardencorev1beta1.Seed, error) {
	if q.shoot.Spec.SeedName == nil {
		return nil, nil //nolint:nilnil // A shoot may have no seed yet.
	}
	seed, err := v.Seed(ctx, *q.shoot.Spec.SeedName)
	return seed, world.Missing(err, "spec.seedName", "Seed", *q.shoot.Spec.SeedName)
}

// assign sets a name below the first default domain, if there is one. A shoot that moves to another seed keeps its section
// (API-DNS-2).
func (q request) assign(
	ctx context.Context, v world.View, dns *gardencorev1beta1.DNS, domains []string,
) (*gardencorev1beta1.DNS, error) {
	if unmanaged(dns) || len(domains) == 0 || q.shoot.Spec.SeedName == nil || q.moves() {
		return dns, nil
	}
	name := q.shoot.Name
	if name == "" {
		name = rand.String(len(q.shoot.GenerateName) + generatedPart)
	}
	project, err := v.Project(ctx, q.shoot.Namespace)
	if err != nil {
		return nil, err
	}
	if dns == nil {
		dns = &gardencorev1beta1.DNS{}
	}
	dns.Domain = new(name + "." + project.Name + "." + domains[0])
	return dns, nil
}

// moves reports whether the seed of the shoot changes, in which case nothing else may change (API-BIND-2).
func (q request) moves() bool {
	was := q.old.Spec.SeedName
	return was != nil && *was != *q.shoot.Spec.SeedName
}

// judge rejects a domain below a default domain that is not the shoot's own, which is derived from the names of shoot and project
// (API-DNS-4). That holds for default domains of other seeds too, and for one in which others need a place (see tooWide).
func (q request) judge(ctx context.Context, v world.View, dns *gardencorev1beta1.DNS, domains []string) error {
	domain := query.Domain(dns)
	if domain == "" || !q.create && query.Domain(q.old.Spec.DNS) != "" && (q.shoot.Spec.SeedName == nil || q.old.Spec.SeedName != nil) {
		return nil
	}
	below := belowAny(domain, domains)
	if below == "" {
		others, err := everyDefault(ctx, v)
		if err != nil {
			return err
		}
		if below = belowAny(domain, others); below == "" {
			return tooWide(domain, others)
		}
	}
	project, err := v.Project(ctx, q.shoot.Namespace)
	if err != nil {
		return err
	}
	own := "." + project.Name + "." + below
	switch name, rest := strings.CutSuffix(domain, own); {
	case q.shoot.Name == "" && rest && name != "":
		return nil
	case q.shoot.Name != "" && rest && name == q.shoot.Name:
		return nil
	case q.shoot.Name == "":
		return fmt.Errorf("spec.dns.domain: %q is below a default domain of the garden, so it must end in %q", domain, own)
	default:
		return fmt.Errorf("spec.dns.domain: %q is below a default domain of the garden, so it must be %q", domain, q.shoot.Name+own)
	}
}

// choosePrimary marks the provider that hosts the domain as primary: none for a default domain, else the one that did
// before, or the first one (API-DNS-5).
func (q request) choosePrimary(dns *gardencorev1beta1.DNS, domains []string) error {
	domain := query.Domain(dns)
	if domain == "" {
		return nil
	}
	given := query.PrimaryProvider(dns) != nil
	if belowAny(domain, domains) != "" {
		if given && !unmanaged(dns) {
			return errors.New("spec.dns.providers: no provider can be primary for a default domain, which the garden itself hosts")
		}
		return nil
	}
	if given || len(dns.Providers) == 0 {
		return nil
	}
	chosen := &dns.Providers[0]
	if was := query.PrimaryProvider(q.old.Spec.DNS); was != nil {
		for i := range dns.Providers {
			if same(&dns.Providers[i], was) {
				chosen = &dns.Providers[i]
				break
			}
		}
	}
	chosen.Primary = new(true)
	return nil
}

// complete checks that all providers except the primary one have a type and credentials (API-DNS-6).
func complete(dns *gardencorev1beta1.DNS) error {
	if dns == nil {
		return nil
	}
	for i, p := range dns.Providers {
		if p.Primary != nil && *p.Primary || p.Type != nil && (*p.Type == gardencorev1beta1.DNSProviderUnmanaged || p.SecretName != nil || p.CredentialsRef != nil) {
			continue
		}
		return fmt.Errorf("spec.dns.providers[%d]: a provider that is not primary needs a type and credentials", i)
	}
	return nil
}
