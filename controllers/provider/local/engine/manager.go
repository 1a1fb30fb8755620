// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// NewManager returns a manager for a process of the extension, not started yet. It knows all kinds of the garden, serves
// /healthz and /readyz if options name an address for them, and serves no metrics.
func NewManager(config *rest.Config, options ctrl.Options) (manager.Manager, error) {
	types, err := scheme.New()
	if err != nil {
		return nil, fmt.Errorf("build scheme: %w", err)
	}
	options.Scheme = types
	options.Metrics.BindAddress = cmp.Or(options.Metrics.BindAddress, "0")
	options.HealthProbeBindAddress = cmp.Or(options.HealthProbeBindAddress, "0")
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("make manager: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return nil, fmt.Errorf("add health checks: %w", err)
	}
	return mgr, nil
}
