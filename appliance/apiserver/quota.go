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
)

// quotaPauses are the pauses before a creation that lost the race for its quota is counted again.
func quotaPauses() []time.Duration {
	return []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}
}

// recounting asks the plugin for quotas again where the quota was changed by somebody else meanwhile. The plugin tries three
// times without a pause, against a cache that may not have the change yet; its answer would be a conflict about an object
// that the user has not touched.
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

// lostQuota reports whether an error says that a quota was changed by somebody else.
func lostQuota(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details

	return details != nil && details.Kind == "resourcequotas"
}
