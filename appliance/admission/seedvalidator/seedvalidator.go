// SPDX-License-Identifier: Apache-2.0

// Package seedvalidator rejects the deletion of a Seed with shoots, and the removal of zones and domains that its shoots use
// (API-SEEDVAL-1, 2).
package seedvalidator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects changes that would break the shoots on a seed. A seed without shoots can be changed and deleted.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	seed, _ := a.GetObject().(*gardencorev1beta1.Seed)
	old, _ := a.GetOldObject().(*gardencorev1beta1.Seed)
	if seed != nil {
		if err := tooWide(seed, old); err != nil {
			return world.Answer(a, err)
		}
		if err := r.world.Decide(a, func(v world.View) error { return identity(ctx, v, seed, old) }); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	complaint := "the seed still runs shoots, delete or move them first"
	if seed != nil {
		if hosted(old) && !hosted(seed) {
			return world.Answer(a, fmt.Errorf("metadata.labels[%s]: cannot be removed", gardencorev1beta1.LabelSeedSelfHostedShoot))
		}
		if complaint = lost(seed, old); complaint == "" {
			return world.Answer(a, r.unused(ctx, seed, old))
		}
	}
	shoots, err := r.world.Fresh().ShootsOn(ctx, old.Name)
	switch {
	case err != nil:
		return world.Answer(a, fmt.Errorf("list shoots on the seed: %w", err))
	case len(shoots) == 0:
		return nil
	default:
		return world.Answer(a, fmt.Errorf("%s: %s", complaint, strings.Join(shoots, ", ")))
	}
}

// tooWide rejects a new default domain in which everybody can register names: every shoot of the garden with a domain below it would be
// refused.
func tooWide(seed, old *gardencorev1beta1.Seed) error {
	for i, d := range seed.Spec.DNS.Defaults {
		known := old != nil && slices.ContainsFunc(old.Spec.DNS.Defaults, func(o gardencorev1beta1.SeedDNSProviderConfig) bool { return o.Domain == d.Domain })
		if !known && query.PublicSuffix(d.Domain) {
			return fmt.Errorf("spec.dns.defaults[%d].domain: %q is one in which everybody can register names; use a domain below it that is yours", i, d.Domain)
		}
	}
	return nil
}

// hosted reports whether a seed is marked as a self-hosted shoot.
func hosted(s *gardencorev1beta1.Seed) bool {
	_, ok := s.Labels[gardencorev1beta1.LabelSeedSelfHostedShoot]
	return ok
}

// identity checks that the identity for the backups of a seed is for their provider.
func identity(ctx context.Context, v world.View, s, old *gardencorev1beta1.Seed) error {
	backup := s.Spec.Backup
	if s.DeletionTimestamp != nil || backup == nil || backup.CredentialsRef == nil || backup.CredentialsRef.Kind != "WorkloadIdentity" ||
		old != nil && equality.Semantic.DeepEqual(old.Spec.Backup, backup) {
		return nil
	}
	ref := backup.CredentialsRef
	found, err := world.Get[gardensecurityv1alpha1.WorkloadIdentity](ctx, v, world.Place{
		Group: gardensecurityv1alpha1.GroupName, Resource: "workloadidentities", Namespace: ref.Namespace, Name: ref.Name,
	})
	if err != nil {
		return world.Missing(err, "spec.backup.credentialsRef", ref.Kind, ref.Namespace+"/"+ref.Name)
	}
	if found.Spec.TargetSystem.Type != backup.Provider {
		return fmt.Errorf("spec.backup.credentialsRef: WorkloadIdentity %q is for provider %q, and the backups are at provider %q",
			ref.Namespace+"/"+ref.Name, found.Spec.TargetSystem.Type, backup.Provider)
	}
	return nil
}

// unused returns an error if a shoot has a name below a default domain that an update takes away. The first default domain of a seed itself
// takes those of the garden away, and the last one gives them back (API-DNS-1).
func (r *rule) unused(ctx context.Context, seed, old *gardencorev1beta1.Seed) error {
	if equality.Semantic.DeepEqual(seed.Spec.DNS.Defaults, old.Spec.DNS.Defaults) {
		return nil
	}
	v := r.world.Fresh()
	before, err := v.DefaultDomains(ctx, old)
	if err != nil {
		return err
	}
	after, err := v.DefaultDomains(ctx, seed)
	if err != nil {
		return err
	}
	gone := slices.DeleteFunc(before, func(d string) bool { return slices.Contains(after, d) })
	if len(gone) == 0 {
		return nil
	}
	shoots, err := v.Shoots(ctx, "", fields.OneTermEqualSelector(gardencorev1beta1.FieldShootSeedName, old.Name))
	if err != nil {
		return fmt.Errorf("list shoots on the seed: %w", err)
	}
	for i := range shoots {
		for _, d := range gone {
			if query.Below(query.Domain(shoots[i].Spec.DNS), d) {
				return fmt.Errorf("spec.dns.defaults: the domain %q cannot be removed: shoot %s/%s has a name below it",
					d, shoots[i].Namespace, shoots[i].Name)
			}
		}
	}
	return nil
}

// lost describes what an update removes that shoots use; it is empty if there is nothing.
func lost(seed, old *gardencorev1beta1.Seed) string {
	for _, zone := range old.Spec.Provider.Zones {
		if !slices.Contains(seed.Spec.Provider.Zones, zone) {
			return fmt.Sprintf("spec.provider.zones: zone %q cannot be removed while shoots are on the seed", zone)
		}
	}
	was := old.Spec.DNS.Internal
	if is := seed.Spec.DNS.Internal; was != nil && (is == nil || is.Domain != was.Domain) {
		return fmt.Sprintf("spec.dns.internal: the domain %q cannot be removed while shoots are on the seed", was.Domain)
	}
	return ""
}
