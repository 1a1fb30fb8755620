// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Older manifests and clients name the cloud profile and the credentials of DNS providers in fields that were later replaced
// by others. For older Kubernetes versions of a shoot, both fields are kept the same.
const (
	// firstWithoutName is the first version in which the profile's name is no longer derived from the reference.
	firstWithoutName = 33
	// firstWithReference is the first version in which the name is dropped if the reference is the same.
	firstWithReference = 34
	// firstWithCredentialsRef is the first version in which names of Secrets of DNS providers are not mirrored.
	firstWithCredentialsRef = 35
)

func prepareCreate(_ context.Context, obj *gardencorev1beta1.Shoot) {
	syncProfile(&obj.Spec, nil)
	syncDNS(&obj.Spec, nil)
	// A shoot without a last operation is healthy; the controller does not have to write the label again (GCM-STATUSLABEL-2).
	metav1.SetMetaDataLabel(&obj.ObjectMeta, gardencorev1beta1.LabelShootStatus, gardencorev1beta1.ShootStatusHealthy)
}

func prepareUpdate(_ context.Context, obj, old *gardencorev1beta1.Shoot) {
	if obj.DeletionTimestamp != nil {
		return // The spec of a shoot in deletion cannot change.
	}
	syncProfile(&obj.Spec, &old.Spec)
	syncDNS(&obj.Spec, &old.Spec)
	dropShareOfIPv6(&obj.Spec, &old.Spec)
}

// dropShareOfIPv6 removes the IPv6 mask size of nodes from a shoot that no longer uses IPv6: it was set by default when the
// family was added, and validation would reject it without the family.
func dropShareOfIPv6(s, old *gardencorev1beta1.ShootSpec) {
	kcm := s.Kubernetes.KubeControllerManager
	if kcm != nil && hasIPv6(old) && !hasIPv6(s) {
		kcm.NodeCIDRMaskSizeIPv6 = nil
	}
}

func hasIPv6(s *gardencorev1beta1.ShootSpec) bool {
	return s.Networking != nil && slices.Contains(s.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
}

// before reports whether the Kubernetes version of a shoot is below a minor version.
func before(s *gardencorev1beta1.ShootSpec, minor uint) bool {
	v, err := version.ParseGeneric(s.Kubernetes.Version)
	return err == nil && v.Minor() < minor
}

// syncProfile synchronizes the name and the reference of the cloud profile (API-SHOOTSTRAT-9).
func syncProfile(s, old *gardencorev1beta1.ShootSpec) {
	deriveReference(s, old)
	ref := s.CloudProfile
	switch {
	case ref == nil:
	case ref.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile:
		s.CloudProfileName = nil
	case before(s, firstWithoutName):
		s.CloudProfileName = new(ref.Name)
	case before(s, firstWithReference):
	case s.CloudProfileName != nil && *s.CloudProfileName == ref.Name:
		s.CloudProfileName = nil
	}
}

// deriveReference sets the reference from the name if only the name is given or only the name has changed. If the version of
// Kubernetes no longer supports the name, validation rejects it.
func deriveReference(s, old *gardencorev1beta1.ShootSpec) {
	const kind = gardencorev1beta1.CloudProfileReferenceKindCloudProfile
	if ref := s.CloudProfile; ref != nil && ref.Kind == "" {
		s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: ref.Name}
	}
	if s.CloudProfileName == nil || !before(s, firstWithReference) {
		return
	}
	nameChanged := old != nil && old.CloudProfileName != nil && *old.CloudProfileName != *s.CloudProfileName &&
		equality.Semantic.DeepEqual(old.CloudProfile, s.CloudProfile)
	if s.CloudProfile == nil || nameChanged {
		s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: *s.CloudProfileName}
	}
}

// syncDNS synchronizes the two fields for the credentials of a DNS provider (API-SHOOTSTRAT-10).
func syncDNS(s, old *gardencorev1beta1.ShootSpec) {
	if s.DNS == nil || !before(s, firstWithCredentialsRef) {
		return
	}
	for i := range s.DNS.Providers {
		p := &s.DNS.Providers[i]
		var was *gardencorev1beta1.DNSProvider
		if old != nil && old.DNS != nil && i < len(old.DNS.Providers) {
			was = &old.DNS.Providers[i]
		}
		syncCredentials(p, was)
	}
}

func syncCredentials(p, was *gardencorev1beta1.DNSProvider) {
	switch {
	case p.CredentialsRef == nil && p.SecretName == nil:
	case p.CredentialsRef == nil, was != nil && p.SecretName != nil && equality.Semantic.DeepEqual(p.CredentialsRef, was.CredentialsRef) &&
		!equality.Semantic.DeepEqual(p.SecretName, was.SecretName):
		p.CredentialsRef = &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: *p.SecretName}
	case p.SecretName == nil, was != nil && equality.Semantic.DeepEqual(p.SecretName, was.SecretName):
		p.SecretName = nil
		if p.CredentialsRef.Kind == "Secret" {
			p.SecretName = new(p.CredentialsRef.Name)
		}
	}
}
