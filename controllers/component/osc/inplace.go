// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// inPlaceUpdates says to what the machines of a pool are updated in place; nil if they are replaced.
func inPlaceUpdates(v Values) *gardenextensionsv1alpha1.InPlaceUpdates {
	if !query.InPlace(v.Pool) {
		return nil
	}
	updates := &gardenextensionsv1alpha1.InPlaceUpdates{KubeletVersion: query.PoolVersion(&v.Facts.Shoot.Spec, v.Pool)}
	if image := v.Pool.Machine.Image; image != nil {
		updates.OperatingSystemVersion = ptr.Deref(image.Version, "")
	}
	times, rotation := query.PoolRollouts(v.Facts.Shoot, v.Pool.Name), gardenextensionsv1alpha1.CredentialsRotation{}
	if at := times[query.RolloutOfAuthorities]; at != nil {
		rotation.CertificateAuthorities = &gardenextensionsv1alpha1.CARotation{LastInitiationTime: at}
	}
	if at := times[query.RolloutOfServiceAccountKey]; at != nil {
		rotation.ServiceAccountKey = &gardenextensionsv1alpha1.ServiceAccountKeyRotation{LastInitiationTime: at}
	}
	if rotation != (gardenextensionsv1alpha1.CredentialsRotation{}) {
		updates.CredentialsRotation = &rotation
	}
	return updates
}
