// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// AdoptDomains gives a Seed whose configuration has no default domains those of the garden, which are Secrets in the namespace of the
// seed (GLET-REG-4). A Seed keeps the domains that it has, because shoots use them.
func (r Registrar) AdoptDomains(ctx context.Context) error {
	if len(r.Template.Spec.DNS.Defaults) > 0 {
		return nil
	}
	secrets := &corev1.SecretList{}
	err := r.Garden.List(ctx, secrets, client.InNamespace(namespacePrefix+r.Template.Name),
		client.MatchingLabels{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleDefaultDomain})
	if apierrors.IsForbidden(err) {
		return nil // There is no namespace yet.
	}
	if err != nil {
		return fmt.Errorf("list default domains of seed %q: %w", r.Template.Name, err)
	}
	domains := Domains(secrets.Items)
	if len(domains) == 0 {
		return nil
	}
	seed := &gardencorev1beta1.Seed{}
	if err := r.Garden.Get(ctx, client.ObjectKey{Name: r.Template.Name}, seed); err != nil {
		return fmt.Errorf("get seed %q: %w", r.Template.Name, err)
	}
	if reflect.DeepEqual(seed.Spec.DNS.Defaults, domains) {
		return nil
	}
	patch := client.MergeFromWithOptions(seed.DeepCopy(), client.MergeFromWithOptimisticLock{})
	seed.Spec.DNS.Defaults = domains
	if err := r.Garden.Patch(ctx, seed, patch); err != nil {
		return fmt.Errorf("add default domains to seed %q: %w", r.Template.Name, err)
	}
	return nil
}

// Domains are the default domains in Secrets, in the order of their priorities, each once. Secrets that do not say of which domain they
// are, or of which provider, are left out.
func Domains(secrets []corev1.Secret) []gardencorev1beta1.SeedDNSProviderConfig {
	sorted := slices.Clone(secrets)
	slices.SortFunc(sorted, func(a, b corev1.Secret) int {
		return cmp.Or(cmp.Compare(priority(b), priority(a)), cmp.Compare(a.Name, b.Name))
	})
	var domains []gardencorev1beta1.SeedDNSProviderConfig
	for _, s := range sorted {
		d := gardencorev1beta1.SeedDNSProviderConfig{
			Type: s.Annotations[gardencorev1beta1.AnnotationDNSProvider], Domain: s.Annotations[gardencorev1beta1.AnnotationDNSDomain],
			CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: s.Namespace, Name: s.Name},
		}
		if zone := s.Annotations[gardencorev1beta1.AnnotationDNSZone]; zone != "" {
			d.Zone = &zone
		}
		known := slices.ContainsFunc(domains, func(o gardencorev1beta1.SeedDNSProviderConfig) bool { return o.Domain == d.Domain })
		if d.Type != "" && d.Domain != "" && !known {
			domains = append(domains, d)
		}
	}
	return domains
}

func priority(s corev1.Secret) int {
	n, err := strconv.Atoi(s.Annotations[gardencorev1beta1.AnnotationDNSDefaultPriority])
	if err != nil {
		return 0
	}
	return n
}
