// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/unserved"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// checkIssuer checks that a managed issuer stays managed, because other systems trust it, and that a shoot with a managed
// issuer does not set its own. As long as nobody serves managed issuers, there is none to trust, and it may be taken back (API-SVAL-20).
func checkIssuer(_ context.Context, _ world.View, q request) error {
	managed := func(s *gardencorev1beta1.Shoot) bool {
		return s.Annotations[gardencorev1beta1.AnnotationAuthenticationIssuer] == gardencorev1beta1.AuthenticationIssuerManaged
	}
	if managed(q.old) && !managed(q.shoot) && !unserved.Lists[gardencorev1beta1.Shoot](unserved.ManagedIssuer) {
		return fmt.Errorf("%s: a managed issuer must stay managed", unserved.ManagedIssuer)
	}
	if managed(q.shoot) && ownIssuer(&q.shoot.Spec) && (!managed(q.old) || !ownIssuer(&q.old.Spec)) {
		return fmt.Errorf("spec.kubernetes.kubeAPIServer.serviceAccountConfig.issuer: cannot be set together with the annotation %s=%s, which makes the garden the issuer",
			gardencorev1beta1.AnnotationAuthenticationIssuer, gardencorev1beta1.AuthenticationIssuerManaged)
	}
	return nil
}

func ownIssuer(s *gardencorev1beta1.ShootSpec) bool {
	a := s.Kubernetes.KubeAPIServer
	return a != nil && a.ServiceAccountConfig != nil && a.ServiceAccountConfig.Issuer != nil
}
