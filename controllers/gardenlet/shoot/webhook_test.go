// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestWebhookIsAway_EXT_WH_5 is about a seed that asks an extension which does not answer: the owner reads what is in the way, and the
// operation is tried again, because it is nothing that the owner could mend.
func TestWebhookIsAway_EXT_WH_5(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	seed, ok := l.SeedClient.(client.WithWatch)
	if !ok {
		t.Fatal("no client with watch")
	}
	l.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			u, ok := obj.(interface{ GetLabels() map[string]string })
			if ok && u.GetLabels()["provider.extensions.gardener.cloud/mutated-by-controlplane-webhook"] == "true" {
				// As a real API server answers, see tests/integration/extensionwebhook.
				return apierrors.NewInternalError(errors.New(`failed calling webhook "controlplane.demo.extensions.gardener.cloud": failed to call webhook: ` +
					`Post "https://demo.extension-demo.svc:10250/controlplane?timeout=10s": dial tcp 10.2.3.4:10250: connect: connection refused`))
			}
			return c.Apply(ctx, obj, options...)
		},
	})
	synctest.Test(t, func(t *testing.T) {
		if _, err := l.pass(t.Context()); err == nil {
			t.Error("Reconcile(...) returned no error, so nothing tries again")
		}
	})
	s := l.shoot(t)
	if s.Status.LastOperation.State != gardencorev1beta1.LastOperationStateError {
		t.Errorf("the operation is %s, want Error: it is tried again", s.Status.LastOperation.State)
	}
	found, blaming := map[string]string{}, map[string][]gardencorev1beta1.ErrorCode{}
	for _, e := range s.Status.LastErrors {
		found[*e.TaskID] = e.Description
		if len(e.Codes) > 0 {
			blaming[*e.TaskID] = e.Codes
		}
	}
	if diff := cmp.Diff(map[string][]gardencorev1beta1.ErrorCode{}, blaming); diff != "" {
		t.Errorf("codes by task, which would blame the owner (-want +got):\n%s", diff)
	}
	for _, want := range []string{`"shoot--dev--a/kube-apiserver"`, `webhook "controlplane.demo.extensions.gardener.cloud" of an extension does not answer`, `ControllerInstallation of extension "demo"`} {
		if got := found["apiserver-service"]; !strings.Contains(got, want) {
			t.Errorf("last error of the task apiserver-service is %q, want %s in it; all: %v", got, want, found)
		}
	}
}
