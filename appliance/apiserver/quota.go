// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// quotaPauses returns the pauses before a creation is checked again after a conflict about its quota.
func quotaPauses() []time.Duration {
	return []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}
}

// recounting runs the quota plugin again if the quota was changed by another request in the meantime. The plugin retries
// three times without a pause, with a cache that may not have the change yet; otherwise the user would get a conflict about
// an object that the request does not change.
func recounting(c clock.Clock) admission.Decorator {
	return admission.DecoratorFunc(func(plugin admission.Interface, name string) admission.Interface {
		judge, ok := plugin.(admission.ValidationInterface)
		if !ok || name != resourcequota.PluginName {
			return plugin
		}

		return recount{ValidationInterface: judge, clock: c}
	})
}

type recount struct {
	admission.ValidationInterface

	clock clock.Clock
}

// Validate implements admission.ValidationInterface.
func (r recount) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if world.Tried(a) {
		return nil
	}
	err := r.ValidationInterface.Validate(ctx, a, o)
	for _, pause := range quotaPauses() {
		if !lostQuota(err) {
			return err
		}
		timer := r.clock.NewTimer(pause)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()

			return err
		}
		err = r.ValidationInterface.Validate(ctx, a, o)
	}

	return err
}

// lostQuota reports whether an error is a conflict about a quota.
func lostQuota(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details

	return details != nil && details.Kind == "resourcequotas"
}
