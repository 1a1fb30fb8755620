// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

type domains = []gardencorev1beta1.SeedDNSProviderConfig

// givenDomains rejects a new default domain of a seed that an operator has not given to it: no shoot of the garden, on whatever seed, may
// have another domain below a default domain than its own. An operator gives a domain with the annotation on the Secret that the seed
// names, which clients of seeds cannot write, or in the ManagedSeed of the seed (GAC-SR-11).
func (r *request) givenDomains(ctx context.Context, now, before domains) error {
	for _, d := range now {
		if slices.ContainsFunc(before, func(o gardencorev1beta1.SeedDNSProviderConfig) bool { return o.Domain == d.Domain }) {
			continue
		}
		given, err := r.givenDomain(ctx, &d)
		if err != nil {
			return err
		}
		if !given {
			return fmt.Errorf("spec.dns.defaults: an operator has not given the domain %q to seed %q; if it is for this seed, run: "+
				"kubectl -n %s annotate secret %s %s=%s", d.Domain, r.client.Seed, d.CredentialsRef.Namespace, d.CredentialsRef.Name,
				gardencorev1beta1.AnnotationDNSDomain, d.Domain)
		}
	}

	return nil
}

func (r *request) givenDomain(ctx context.Context, d *gardencorev1beta1.SeedDNSProviderConfig) (bool, error) {
	if ref := d.CredentialsRef; ref.Kind == "Secret" {
		secret, err := r.Metadata(ctx, world.Target{Version: corev1.SchemeGroupVersion.Version, Resource: "secrets", Namespace: ref.Namespace, Name: ref.Name})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("read secret %q: %w", ref.Namespace+"/"+ref.Name, err)
		}
		if err == nil && secret.Annotations[gardencorev1beta1.AnnotationDNSDomain] == d.Domain {
			return true, nil
		}
	}
	managed, err := r.managedSeed(ctx, gardencorev1beta1.NamespaceGarden, r.client.Seed)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read managed seed %q: %w", r.client.Seed, err)
	}
	template := references.SeedTemplate(managed)

	return template != nil && slices.ContainsFunc(template.Spec.DNS.Defaults, func(o gardencorev1beta1.SeedDNSProviderConfig) bool {
		return o.Domain == d.Domain && o.CredentialsRef == d.CredentialsRef
	}), nil
}

// templateDomains are the default domains in the template of a managed seed.
func templateDomains(template *gardencorev1beta1.SeedTemplate) domains {
	if template == nil {
		return nil
	}

	return template.Spec.DNS.Defaults
}
