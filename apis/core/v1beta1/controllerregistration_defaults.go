// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"time"

	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
)

const defaultReconcileTimeout = 3 * time.Minute

// SetDefaultsControllerRegistration sets whether resources are primary, when the extension is deployed and in which order it
// acts (API-DEF-16).
func SetDefaultsControllerRegistration(r *ControllerRegistration) {
	for i := range r.Spec.Resources {
		res := &r.Spec.Resources[i]
		setDefault(&res.Primary, true)
		if res.Kind == kind.SelfHostedShootExposure {
			setDefault(&res.ContinuousEndpointUpdate, true)
		}
		if res.Kind != kind.Extension {
			continue
		}
		if len(res.ClusterCompatibility) == 0 {
			res.ClusterCompatibility = []ClusterType{ClusterTypeShoot}
		}
		setDefault(&res.ReconcileTimeout, lasting(defaultReconcileTimeout))
		lifecycle := ensure(&res.Lifecycle)
		setDefault(&lifecycle.Reconcile, ControllerResourceLifecycleStrategyAfterKubeAPIServer)
		setDefault(&lifecycle.Delete, ControllerResourceLifecycleStrategyBeforeKubeAPIServer)
		setDefault(&lifecycle.Migrate, ControllerResourceLifecycleStrategyBeforeKubeAPIServer)
	}
	if r.Spec.Deployment != nil {
		setDefault(&r.Spec.Deployment.Policy, ControllerDeploymentPolicyOnDemand)
	}
}
