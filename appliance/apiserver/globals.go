// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	// Each of these adds a group to the global scheme of the kube server.
	_ "k8s.io/kubernetes/pkg/apis/admission/install"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/features" // Registers the feature gates that are set below.

	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// configureLibraries sets the global state of the libraries. Only this file changes it.
//
//nolint:gochecknoglobals // The state belongs to the libraries; several servers in one process share it.
var configureLibraries = sync.OnceValue(func() error {
	// The first call registers the version and the gates of the component, without a lock.
	serveroptions.NewServerRunOptions()

	gates := map[string]bool{
		// A garden has one API server, so its identity and versions are not published for others, and there is no leader election.
		"APIServerIdentity":                   false,
		"UnknownVersionInteroperabilityProxy": false,
		// Every five minutes it would read all objects of each kind from the store and compare them with the watch cache. A store in this
		// process tells the cache of each record in order (see storage/registry/fresh). For others see compareCaches.
		"DetectCacheInconsistency": false,
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return fmt.Errorf("set feature gates: %w", err)
	}
	if err := compatibility.DefaultComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("set version of the API server: %w", err)
	}

	// Warnings for this process's own requests are of no use to its operator.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	for i, handle := range utilruntime.ErrorHandlers {
		utilruntime.ErrorHandlers[i] = unlessCancelled(handle)
	}
	legacyregistry.RawMustRegister(slices.Concat(kine.Collectors(), auditlog.Collectors(), backup.Collectors())...)

	return nil
})

// compareCaches has the library compare watch caches with their stores, for stores that are not in this process.
//
//nolint:gochecknoglobals // As above.
var compareCaches = sync.OnceValue(func() error {
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"DetectCacheInconsistency": true}); err != nil {
		return fmt.Errorf("set feature gate: %w", err)
	}

	return nil
})

// unlessCancelled ignores errors that a shutdown causes: each watch that ends with it would be reported as an error.
func unlessCancelled(handle utilruntime.ErrorHandler) utilruntime.ErrorHandler {
	return func(ctx context.Context, err error, message string, keysAndValues ...any) {
		if !errors.Is(err, context.Canceled) {
			handle(ctx, err, message, keysAndValues...)
		}
	}
}
