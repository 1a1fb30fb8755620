// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// through makes the client of the reconciler behave in another way.
func (g *garden) through(funcs interceptor.Funcs) {
	g.t.Helper()
	base, ok := g.Client.(client.WithWatch)
	if !ok {
		g.t.Fatalf("%T cannot watch", g.Client)
	}
	g.reconciler.Client = interceptor.NewClient(base, funcs)
}

func TestSecretThatGoes_GCM_PLANT_1(t *testing.T) {
	t.Parallel()
	c := grow(t)
	going := holding("access", c.kubeconfig(t))
	going.DeletionTimestamp, going.Finalizers = new(metav1.Now()), []string{"test/held"}
	g := start(t, c, planted("a", "access"), going)
	g.pass("a")
	if diff := cmp.Diff([]string{"test/held"}, g.held("access")); diff != "" {
		t.Errorf("a Secret in deletion is not newly held (-want +got):\n%s", diff)
	}
	if got := told(g.plant("a"))["APIServerAvailable"]; got != "True HealthzRequestSucceeded: The API server answers its health check." {
		t.Errorf("but it is used as long as it is there, got %q", got)
	}
}

func TestSecretThatCannotBeWritten_GCM_PLANT_1(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{
		apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Secret").GroupKind(), "access", nil), apierrors.NewBadRequest("no"),
	} {
		c := grow(t)
		g := start(t, c, planted("a", "access"), holding("access", c.kubeconfig(t)))
		g.through(interceptor.Funcs{Patch: func(ctx context.Context, to client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			if o.GetName() == "access" {
				return refusal
			}
			return to.Patch(ctx, o, p, options...)
		}})
		g.pass("a")
		if len(told(g.plant("a"))) == 0 {
			t.Errorf("a Secret whose kubeconfig would be refused today is reported all the same, after %v", refusal)
		}
	}
}

// TestSecretHeldUnseen deletes a Plant before the cache shows that its Secret is held.
func TestSecretHeldUnseen_GCM_PLANT_4(t *testing.T) {
	t.Parallel()
	c := grow(t)
	g := start(t, c, planted("a", "access"), holding("access", c.kubeconfig(t)))
	g.pass("a")
	g.through(interceptor.Funcs{List: func(ctx context.Context, from client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if _, metadata := list.(*metav1.PartialObjectMetadataList); metadata {
			return nil
		}
		return from.List(ctx, list, options...)
	}})
	if err := g.Delete(t.Context(), g.plant("a")); err != nil {
		t.Fatal(err)
	}
	g.pass("a")
	if got := g.held("access"); len(got) > 0 {
		t.Errorf("the Secret is released, finalizers %v", got)
	}
}
