// SPDX-License-Identifier: Apache-2.0

package gardenresource

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcesize"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// LimitsName is the name of the plugin for the limits of objects in the Garden. It cannot be disabled.
const LimitsName = "GardenResourceSize"

// limits has objects keep to the limits in the Garden, beside those of the configuration.
type limits struct {
	*admission.Handler

	world   *world.World
	current func() *gardenconfigv1alpha1.ResourceSizeConfiguration
}

// NewLimits returns the maker of the plugin. The function returns the limits of now; nil for none.
func NewLimits(current func() *gardenconfigv1alpha1.ResourceSizeConfiguration) func(*world.World) admission.Interface {
	return func(w *world.World) admission.Interface {
		return &limits{Handler: admission.NewHandler(admission.Create, admission.Update), world: w, current: current}
	}
}

var _ admission.ValidationInterface = &limits{}

// Validate does not bound the Garden, so that limits can be taken back that are too narrow, nor what the server writes itself.
func (l *limits) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	now := l.current()
	if now == nil || a.GetKind().GroupKind() == gardenoperatorv1alpha1.Kind("Garden") || a.GetUserInfo().GetName() == user.APIServerUser {
		return nil
	}
	rule, ok := resourcesize.New(now)(l.world).(admission.ValidationInterface)
	if !ok {
		return nil
	}

	return rule.Validate(ctx, a, o)
}
