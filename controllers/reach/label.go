// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

// hashLength is how much of a hash ends a name that was shortened.
const hashLength = 8

// Port is a port of the pods of a Service.
type Port struct {
	// Protocol of the port.
	Protocol corev1.Protocol
	// Port is the number or the name that the pods have for it.
	Port intstr.IntOrString
}

// TCP is a port by its number.
func TCP(number int32) Port {
	return Port{Protocol: corev1.ProtocolTCP, Port: intstr.FromInt32(number)}
}

// ID is what names of policies and labels say of a port of a Service: the Service, the protocol, and the port of the pods (GRM-NP-1).
func ID(service string, port Port) string {
	return service + "-" + strings.ToLower(string(port.Protocol)) + "-" + port.Port.String()
}

// Key is the key of the label that lets pods reach what has the id. A key may have a limited length only, so a longer one ends with a
// hash of the whole (GRM-NP-4).
func Key(id string) (key string, shortened bool) {
	name := strings.TrimPrefix(gardenresourcesv1alpha1.LabelPrefixNetworkPolicyTo, gardenresourcesv1alpha1.NetworkPolicyPrefix) + id
	if len(name) <= validation.LabelValueMaxLength {
		return gardenresourcesv1alpha1.NetworkPolicyPrefix + name, false
	}
	sum := sha256.Sum256([]byte(name))
	const kept = validation.LabelValueMaxLength - hashLength - 1
	return gardenresourcesv1alpha1.NetworkPolicyPrefix + name[:kept] + "-" + hex.EncodeToString(sum[:])[:hashLength], true
}

// Allowed is the label that opens a way, by its key.
func Allowed(key string) map[string]string {
	return map[string]string{key: gardencorev1beta1.LabelValueAllowed}
}
