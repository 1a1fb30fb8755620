// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// loadExposure finds out how the API server is to be exposed. An operation does not begin without the handler of the shoot's exposure
// class: another load balancer could open to everybody what is meant for a few. A deletion does, and leaves the load balancer as it is.
func (o *operation) loadExposure(ctx context.Context) error {
	present, err := o.ground().loadBalancer(ctx)
	if err != nil {
		return err
	}
	handler, err := o.exposureHandler(ctx)
	switch {
	case err == nil:
		o.facts.Exposure = facts.ExposureBy(o.facts.Seed, handler)
	case !o.facts.Deleting() || len(lastoperation.Codes(err)) == 0:
		return err
	case present != nil:
		ctrl.LoggerFrom(ctx).Info("The load balancer of the API server stays as it is for the deletion", "reason", err.Error())
		o.facts.Exposure = facts.ExposureOf(present)
	default:
		o.facts.Exposure = facts.ExposureBy(o.facts.Seed, nil)
	}
	if present != nil {
		// A Service keeps its class, so a class that is set later is for new load balancers.
		o.facts.Exposure.Class = present.Spec.LoadBalancerClass
	}
	return nil
}

// misconfigured is an error that waits for somebody to correct a configuration.
func misconfigured(format string, args ...any) error {
	return lastoperation.WithCodes(fmt.Errorf(format, args...), gardencorev1beta1.ErrorCodeConfigurationProblem)
}

// loadBalancer is the Service of the API server, nil if there is none yet.
func (g ground) loadBalancer(ctx context.Context) (*corev1.Service, error) {
	service := &corev1.Service{}
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: gardencorev1beta1.ServiceKubeAPIServer}
	err := g.seed.Get(ctx, key, service)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get the load balancer of the API server: %w", err)
	}
	return service, nil
}

// exposureHandler is the part of the gardenlet's configuration that the exposure class of the shoot names, nil for a shoot without one.
func (o *operation) exposureHandler(ctx context.Context) (*gardenconfigv1alpha1.LoadBalancerServiceConfig, error) {
	const field = "spec.exposureClassName"
	name := o.facts.Shoot.Spec.ExposureClassName
	if name == nil {
		return nil, nil
	}
	class := &gardencorev1beta1.ExposureClass{}
	if err := o.r.GardenReader.Get(ctx, client.ObjectKey{Name: *name}, class); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, misconfigured("%s: the garden has no exposure class %q; ask its operator for it", field, *name)
		}
		return nil, fmt.Errorf("get exposure class %q: %w", *name, err)
	}
	i := slices.IndexFunc(o.r.ExposureHandlers, func(h gardenconfigv1alpha1.ExposureClassHandler) bool { return h.Name == class.Handler })
	if i < 0 {
		return nil, misconfigured("%s: the gardenlet of seed %q does not know the handler %q of exposure class %q; "+
			"its operator adds it to exposureClassHandlers in the gardenlet's configuration", field, o.r.SeedName, class.Handler, *name)
	}
	return &o.r.ExposureHandlers[i].LoadBalancerService, nil
}
