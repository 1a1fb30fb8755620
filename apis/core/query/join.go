// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// MayJoin reports whether the gardenlet of a seed may get a certificate without presenting its current one: the Seed does
// not exist (is nil), the certificate has expired, or an annotation of one of the given objects asks for a new one
// (GAC-SR-15).
func MayJoin(seed *gardencorev1beta1.Seed, now time.Time, asking ...metav1.Object) bool {
	if seed == nil || slices.ContainsFunc(asking, asksForKubeconfig) {
		return true
	}
	end := seed.Status.ClientCertificateExpirationTimestamp

	return end != nil && end.Time.Before(now)
}

func asksForKubeconfig(object metav1.Object) bool {
	operations := Operations(object.GetAnnotations()[gardencorev1beta1.AnnotationOperation])

	return slices.Contains(operations, gardencorev1beta1.OperationRenewKubeconfig)
}

// NeverJoined reports whether no gardenlet has worked for a Seed yet, because the Seed was created before its gardenlet joined.
func NeverJoined(seed *gardencorev1beta1.Seed) bool {
	s := &seed.Status

	return s.ClientCertificateExpirationTimestamp == nil && s.Gardener == nil && s.ClusterIdentity == nil &&
		s.KubernetesVersion == nil && s.LastOperation == nil
}
