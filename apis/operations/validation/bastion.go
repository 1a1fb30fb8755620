// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/netip"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
)

// ValidateBastion checks a new Bastion (API-VALBAS-1).
func ValidateBastion(b *gardenoperationsv1alpha1.Bastion) field.ErrorList {
	errs := check.Metadata(b, true, apivalidation.NameIsDNSSubdomain)
	return append(errs, bastionSpec(&b.Spec, field.NewPath("spec"))...)
}

// ValidateBastionUpdate checks an updated Bastion (API-VALBAS-1).
func ValidateBastionUpdate(b, old *gardenoperationsv1alpha1.Bastion) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.MetadataUpdate(b, old)
	errs = append(errs, check.Frozen(b, b.Spec, old.Spec)...)
	errs = append(errs, check.Immutable(b.Spec.ShootRef.Name, old.Spec.ShootRef.Name, path.Child("shootRef", "name"))...)
	errs = append(errs, check.Immutable(b.Spec.SSHPublicKey, old.Spec.SSHPublicKey, path.Child("sshPublicKey"))...)
	creator := gardencorev1beta1.AnnotationCreatedBy
	errs = append(errs, check.Immutable(b.Annotations[creator], old.Annotations[creator],
		field.NewPath("metadata", "annotations").Key(creator))...)
	return append(errs, bastionSpec(&b.Spec, path)...)
}

// ValidateBastionStatusUpdate checks a new status of a Bastion at the time now (API-VALBAS-1).
func ValidateBastionStatusUpdate(b *gardenoperationsv1alpha1.Bastion, now time.Time) field.ErrorList {
	beat := b.Status.LastHeartbeatTimestamp
	if beat == nil || !beat.After(now) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("status", "lastHeartbeatTimestamp"), beat, "must not be in the future")}
}

func bastionSpec(s *gardenoperationsv1alpha1.BastionSpec, path *field.Path) field.ErrorList {
	errs := check.Required(s.ShootRef.Name, path.Child("shootRef", "name"), "the shoot whose nodes are to be reached")
	errs = append(errs, check.Required(s.SSHPublicKey, path.Child("sshPublicKey"), "the key of whom the bastion lets in")...)
	ingress := path.Child("ingress")
	if len(s.Ingress) == 0 {
		errs = append(errs, field.Required(ingress, "must list the networks from which the bastion is reached"))
	}
	for i, policy := range s.Ingress {
		errs = append(errs, bastionIngress(policy, ingress.Index(i).Child("ipBlock"))...)
	}
	return errs
}

func bastionIngress(p gardenoperationsv1alpha1.BastionIngressPolicy, path *field.Path) field.ErrorList {
	errs := check.Network(p.IPBlock.CIDR, path.Child("cidr"))
	for i, except := range p.IPBlock.Except {
		at := path.Child("except").Index(i)
		wrong := check.Network(except, at)
		errs = append(errs, wrong...)
		if len(wrong) == 0 && !inside(except, p.IPBlock.CIDR) {
			errs = append(errs, field.Invalid(at, except, "must be a part of "+p.IPBlock.CIDR))
		}
	}
	return errs
}

// inside tells whether the network small is a true part of the network large.
func inside(small, large string) bool {
	part, err := netip.ParsePrefix(small)
	if err != nil {
		return false
	}
	whole, err := netip.ParsePrefix(large)
	if err != nil {
		// The whole is what is wrong, and that is told already.
		return true
	}
	return whole.Bits() < part.Bits() && whole.Contains(part.Addr())
}
