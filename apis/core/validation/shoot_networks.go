// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"math"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	minNodeMaskIPv4   = 16
	maxNodeMaskIPv4   = 28
	minNodeMaskIPv6   = 64
	maxNodeMaskIPv6   = 124
	bitsIPv4          = 32
	bitsIPv6          = 128
	unusableAddresses = 2
	defaultMaxPods    = 110
)

// shootNetworking checks the networks (API-VALSHOOT-1, 10, 11).
func shootNetworking(s *gardencorev1beta1.ShootSpec, spec *field.Path) field.ErrorList {
	path := spec.Child("networking")
	n := s.Networking
	hasWorkers := !query.Workerless(s)
	if n == nil {
		if hasWorkers {
			return field.ErrorList{field.Required(path, "a shoot with workers needs a network")}
		}
		return nil
	}
	var errs field.ErrorList
	switch typ := deref(n.Type); {
	case !hasWorkers: // Shoots without workers are checked elsewhere.
	case typ == "":
		errs = append(errs, field.Required(path.Child("type"), "a shoot with workers needs a network"))
	case len(metav1validation.ValidateLabelName(gardencorev1beta1.LabelPrefixNetworkingExtension+typ, path.Child("type"))) > 0:
		errs = append(errs, field.Invalid(path.Child("type"), typ, "must be valid as a label key"))
	}
	all := []network{{"nodes", n.Nodes}, {"pods", n.Pods}, {"services", n.Services}}
	errs = append(errs, families(n.IPFamilies, path.Child("ipFamilies"))...)
	errs = append(errs, networks(all, path)...)
	errs = append(errs, inFamilies(all, n.IPFamilies, path)...)
	errs = append(errs, notReserved(all, path)...)
	return append(errs, nodeMasks(s, spec.Child("kubernetes", "kubeControllerManager"))...)
}

// nodeMasks checks that the pods of a node fit into its share of the pod networks (API-VALSHOOT-10).
func nodeMasks(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	kcm := s.Kubernetes.KubeControllerManager
	if kcm == nil {
		return nil
	}
	var errs field.ErrorList
	if size := kcm.NodeCIDRMaskSize; size != nil {
		limits := nodeMaskLimits{minNodeMaskIPv4, maxNodeMaskIPv4, bitsIPv4}
		if only(s.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6) {
			limits = nodeMaskLimits{minNodeMaskIPv6, maxNodeMaskIPv6, bitsIPv6}
		}
		errs = append(errs, limits.check(*size, maxPods(s), path.Child("nodeCIDRMaskSize"))...)
	}
	if size := kcm.NodeCIDRMaskSizeIPv6; size != nil {
		limits := nodeMaskLimits{minNodeMaskIPv6, maxNodeMaskIPv6, bitsIPv6}
		errs = append(errs, limits.check(*size, maxPods(s), path.Child("nodeCIDRMaskSizeIPv6"))...)
	}
	return errs
}

func only(all []gardencorev1beta1.IPFamily, family gardencorev1beta1.IPFamily) bool {
	return len(all) == 1 && all[0] == family
}

// nodeMaskLimits bound the size of a node's share, of addresses with that many bits.
type nodeMaskLimits struct{ least, most, bits int32 }

func (l nodeMaskLimits) check(size int32, pods int64, path *field.Path) field.ErrorList {
	if size < l.least || size > l.most {
		return field.ErrorList{field.Invalid(path, size, fmt.Sprintf("must be between %d and %d", l.least, l.most))}
	}
	room := math.Exp2(float64(l.bits-size)) - unusableAddresses
	if room < float64(pods) {
		return field.ErrorList{field.Invalid(path, size, fmt.Sprintf("leaves room for %.0f pods, but a node may have %d", room, pods))}
	}
	return nil
}

// maxPods returns the greatest number of pods of a node in any pool.
func maxPods(s *gardencorev1beta1.ShootSpec) int64 {
	most := int64(0)
	for i := range s.Provider.Workers {
		pods := int64(defaultMaxPods)
		if k := kubeletOf(&s.Provider.Workers[i], s); k != nil && k.MaxPods != nil {
			pods = int64(*k.MaxPods)
		}
		most = max(most, pods)
	}
	return most
}

// networkingUpdate checks that the networks, from which machines and pods have addresses, do not change (API-VALSHOOT-2).
func networkingUpdate(s, old *gardencorev1beta1.ShootSpec, spec *field.Path) field.ErrorList {
	path := spec.Child("networking")
	was, now := old.Networking, s.Networking
	if was == nil {
		return nil
	}
	if now == nil {
		return field.ErrorList{field.Forbidden(path, "cannot be removed")}
	}
	errs := immutable(now.Type, was.Type, path.Child("type"))
	errs = append(errs, immutableOnceSet(now.Pods, was.Pods, path.Child("pods"))...)
	errs = append(errs, immutableOnceSet(now.Services, was.Services, path.Child("services"))...)
	if old.SeedName != nil { // A shoot without a seed has no machines yet.
		errs = append(errs, nodesUpdate(now.Nodes, was.Nodes, path.Child("nodes"))...)
	}
	errs = append(errs, familiesUpdate(now.IPFamilies, was.IPFamilies, path.Child("ipFamilies"))...)
	if w := old.Kubernetes.KubeControllerManager; w != nil {
		k, here := deref(s.Kubernetes.KubeControllerManager), spec.Child("kubernetes", "kubeControllerManager")
		errs = append(errs, immutableOnceSet(k.NodeCIDRMaskSize, w.NodeCIDRMaskSize, here.Child("nodeCIDRMaskSize"))...)
		if slices.Contains(now.IPFamilies, gardencorev1beta1.IPFamilyIPv6) {
			errs = append(errs, immutableOnceSet(k.NodeCIDRMaskSizeIPv6, w.NodeCIDRMaskSizeIPv6, here.Child("nodeCIDRMaskSizeIPv6"))...)
		}
	}
	return errs
}

// nodesUpdate checks that the range of the nodes is only extended.
func nodesUpdate(now, was *string, path *field.Path) field.ErrorList {
	if was == nil || apiequality.Semantic.DeepEqual(now, was) {
		return nil
	}
	before, _ := rangeOf(was)
	after, _ := rangeOf(now)
	if after.Bits() <= before.Bits() && after.Contains(before.Addr()) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, deref(now), "can only be extended: it must contain "+*was)}
}

// familiesUpdate checks that the families change only from IPv4 to both families or back.
func familiesUpdate(now, was []gardencorev1beta1.IPFamily, path *field.Path) field.ErrorList {
	now, was = orIPv4(now), orIPv4(was)
	if slices.Equal(now, was) {
		return nil
	}
	dual := []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	v4 := dual[:1]
	if slices.Equal(was, v4) && slices.Equal(now, dual) || slices.Equal(was, dual) && slices.Equal(now, v4) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("cannot change from %[2]v to %[1]v: only a change between IPv4 and both families is possible", now, was))}
}
