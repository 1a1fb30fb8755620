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

// Older manifests and clients name the cloud profile and the credentials of DNS providers in fields that others came to
// replace. While the Kubernetes version of a shoot is an older one, both say the same.
const (
	// firstWithoutName is the first version in which the profile's name is no longer derived from the reference.
	firstWithoutName = 33
	// firstWithReference is the first version in which the name is dropped where the reference says the same.
	firstWithReference = 34
	// firstWithCredentialsRef is the first version in which names of Secrets of DNS providers are not mirrored.
	firstWithCredentialsRef = 35
)

func prepareCreate(_ context.Context, obj *gardencorev1beta1.Shoot) {
	syncProfile(&obj.Spec, nil)
	syncDNS(&obj.Spec, nil)
	// What GCM-STATUSLABEL-2 says of a shoot that nothing was done about yet; the controller need not write it again.
	metav1.SetMetaDataLabel(&obj.ObjectMeta, gardencorev1beta1.LabelShootStatus, gardencorev1beta1.ShootStatusHealthy)
}

func prepareUpdate(_ context.Context, obj, old *gardencorev1beta1.Shoot) {
	if obj.DeletionTimestamp != nil {
		return // The spec is frozen.
	}
	syncProfile(&obj.Spec, &old.Spec)
	syncDNS(&obj.Spec, &old.Spec)
	dropShareOfIPv6(&obj.Spec, &old.Spec)
}

// dropShareOfIPv6 takes away the size of each node's share of IPv6 addresses from a shoot that gives up IPv6: it was filled
// in when the family came, and would be refused without it.
func dropShareOfIPv6(s, old *gardencorev1beta1.ShootSpec) {
	kcm := s.Kubernetes.KubeControllerManager
	if kcm != nil && hasIPv6(old) && !hasIPv6(s) {
		kcm.NodeCIDRMaskSizeIPv6 = nil
	}
}

func hasIPv6(s *gardencorev1beta1.ShootSpec) bool {
	return s.Networking != nil && slices.Contains(s.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
}

// before reports whether the Kubernetes version of a shoot comes before a minor one.
func before(s *gardencorev1beta1.ShootSpec, minor uint) bool {
	v, err := version.ParseGeneric(s.Kubernetes.Version)
	return err == nil && v.Minor() < minor
}

// syncProfile keeps the name and the reference of the cloud profile in step (API-SHOOTSTRAT-9).
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

// deriveReference takes the reference from the name where the name is all there is, or all that has changed. Where
// the version of Kubernetes no longer has the name, it is left to be refused.
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

// syncDNS keeps the two fields for the credentials of a DNS provider in step (API-SHOOTSTRAT-10).
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
