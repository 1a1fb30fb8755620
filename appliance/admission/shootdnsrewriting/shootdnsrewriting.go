// SPDX-License-Identifier: Apache-2.0

// Package shootdnsrewriting adds domains to new Shoots whose names their DNS resolves without search domains (API-DNSRW-1).
package shootdnsrewriting

import (
	"context"
	"slices"

	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	suffixes []string
}

// New returns the constructor of the plugin; without a configuration it adds nothing.
func New(c *gardenconfigv1alpha1.ShootDNSRewritingConfiguration) func(*world.World) admission.Interface {
	r := &rule{Handler: admission.NewHandler(admission.Create)}
	if c != nil {
		r.suffixes = c.CommonSuffixes
	}
	return func(*world.World) admission.Interface { return r }
}

var _ admission.MutationInterface = &rule{}

// Admit adds the configured domains that the Shoot does not have, after its own ones.
func (r *rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || query.Workerless(&shoot.Spec) || len(r.suffixes) == 0 {
		return nil
	}
	if shoot.Spec.SystemComponents == nil {
		shoot.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{}
	}
	components := shoot.Spec.SystemComponents
	if components.CoreDNS == nil {
		components.CoreDNS = &gardencorev1beta1.CoreDNS{}
	}
	if components.CoreDNS.Rewriting == nil {
		components.CoreDNS.Rewriting = &gardencorev1beta1.CoreDNSRewriting{}
	}
	rewriting := components.CoreDNS.Rewriting
	for _, suffix := range r.suffixes {
		if !slices.Contains(rewriting.CommonSuffixes, suffix) {
			rewriting.CommonSuffixes = append(rewriting.CommonSuffixes, suffix)
		}
	}
	return nil
}
