// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/netip"
	"time"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
)

// ValidateBastion checks a new Bastion (API-VALBAS-1).
func ValidateBastion(b *gardenoperationsv1alpha1.Bastion) field.ErrorList {
	errs := check.Metadata(b, true, apivalidation.NameIsDNSLabel)
	return append(errs, bastionSpec(&b.Spec, field.NewPath("spec"))...)
}

// ValidateBastionUpdate checks an updated Bastion (API-VALBAS-1). Admission leaves a bastion in deletion alone, so nothing else would
// keep its user from giving it to another seed, which would release it while the first one keeps its door open.
func ValidateBastionUpdate(b, old *gardenoperationsv1alpha1.Bastion) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.MetadataUpdate(b, old)
	errs = append(errs, check.Immutable(b.Spec.ShootRef.Name, old.Spec.ShootRef.Name, path.Child("shootRef", "name"))...)
	errs = append(errs, check.Immutable(b.Spec.SSHPublicKey, old.Spec.SSHPublicKey, path.Child("sshPublicKey"))...)
	creator := gardencorev1beta1.AnnotationCreatedBy
	errs = append(errs, check.Immutable(b.Annotations[creator], old.Annotations[creator], field.NewPath("metadata", "annotations"))...)
	errs = append(errs, check.Frozen(b, b.Spec, old.Spec)...)
	if equality.Semantic.DeepEqual(b.Spec, old.Spec) {
		return errs // A bastion that is older than a rule can still be released.
	}
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
	var errs field.ErrorList
	if s.ShootRef.Name == "" {
		errs = append(errs, field.Invalid(path.Child("shootRef", "name"), "", "must name the shoot whose nodes the bastion gives access to"))
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(s.SSHPublicKey)); err != nil {
		errs = append(errs, field.Invalid(path.Child("sshPublicKey"), s.SSHPublicKey, "must be the SSH public key of the user, as in ~/.ssh/id_ed25519.pub"))
	}
	ingress := path.Child("ingress")
	if len(s.Ingress) == 0 {
		errs = append(errs, field.Invalid(ingress, "", "must list the networks from which the bastion can be reached"))
	}
	for _, policy := range s.Ingress {
		for _, text := range append([]string{policy.IPBlock.CIDR}, policy.IPBlock.Except...) {
			if !isRange(text) {
				errs = append(errs, field.Invalid(ingress, text, "must be a network such as 10.0.0.0/8 or 2001:db8::/64"))
			}
		}
	}
	return errs
}

// isRange reports whether a seed takes a network as well: it does not take networks of the fourth version that are written as the sixth.
func isRange(text string) bool {
	prefix, err := netip.ParsePrefix(text)
	return err == nil && !prefix.Addr().Is4In6()
}
