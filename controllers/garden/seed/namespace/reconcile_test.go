// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errBoom = errors.New("boom")

// pass reconciles the seed eu with some secrets, and returns what the copies then hold. An update of a secret named broken fails.
func pass(t *testing.T, secrets ...corev1.Secret) (held map[string]string, again bool, err error) {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu", UID: "1"}}
	builder := fake.NewClientBuilder().WithScheme(types).WithObjects(seed)
	for i := range secrets {
		builder.WithObjects(&secrets[i])
	}
	c := builder.WithInterceptorFuncs(interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if o.GetName() == "broken" {
				return errBoom
			}
			return c.Update(ctx, o, options...)
		},
	}).Build()
	r := &namespace.Reconciler{Base: kit.Base{Client: c, Reader: c}}
	result, err := r.Reconcile(t.Context(), seed)
	copies := &corev1.SecretList{}
	if err := c.List(t.Context(), copies, client.InNamespace("seed-eu"), client.HasLabels{"gardener.cloud/role"}); err != nil {
		t.Fatal(err)
	}
	held = map[string]string{}
	for i := range copies.Items {
		held[copies.Items[i].Name] = string(copies.Items[i].Data["k"])
	}
	return held, result.RequeueAfter > 0, err
}

func unlabelled(s *corev1.Secret) {
	s.Labels, s.Data = nil, map[string][]byte{"k": []byte("mine")}
}

func TestEvents_GCM_SEED_3(t *testing.T) {
	t.Parallel()
	update := func(before, after corev1.Secret) event.UpdateEvent {
		return event.UpdateEvent{ObjectOld: &before, ObjectNew: &after}
	}
	source, plain := secret("garden", "a"), secret("garden", "a", unlabelled)
	made, lost := secret("seed-eu", "a"), secret("seed-eu", "a", unlabelled)
	for reason, got := range map[string]bool{
		"a source that changes reaches the seeds":        namespace.Sources().Update(update(source, source)),
		"one that loses its label does":                  namespace.Sources().Update(update(source, plain)),
		"one that gets it does":                          namespace.Sources().Update(update(plain, source)),
		"one that never had it does not":                 !namespace.Sources().Update(update(plain, plain)),
		"a copy is no source":                            !namespace.Sources().Update(update(made, made)),
		"a copy that changes is looked at":               namespace.Copies().Update(update(made, made)),
		"one that loses its label is":                    namespace.Copies().Update(update(made, lost)),
		"what is not labelled in the namespace is not":   !namespace.Copies().Update(update(lost, lost)),
		"and a source is no copy, whatever its label is": !namespace.Copies().Update(update(source, plain)),
	} {
		if !got {
			t.Error(reason)
		}
	}
}

func TestTakenName_GCM_SEED_3(t *testing.T) {
	t.Parallel()
	held, again, err := pass(t, secret("garden", "a"), secret("garden", "b"), secret("seed-eu", "a", unlabelled))
	if err != nil || again {
		t.Errorf("Reconcile(...) = again %t, %v, want nothing left to do", again, err)
	}
	if diff := cmp.Diff(map[string]string{"a": "v", "b": "v"}, held); diff != "" {
		t.Errorf("a Secret without the label is taken over (-want +got):\n%s", diff)
	}
}

// TestForeignNamespace has namespaces of the name of that of the seed, and keys for it.
func TestForeignNamespace_GCM_SEED_1(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu", UID: "1"}}
	before := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu", UID: "0"}}
	kind := gardencorev1beta1.GroupVersion.WithKind("Seed")
	for reason, tc := range map[string]struct {
		owner []metav1.OwnerReference
		takes bool
	}{
		"its own gets the label and the copies":        {owner: []metav1.OwnerReference{*metav1.NewControllerRef(seed, kind)}, takes: true},
		"that of nobody is somebody's":                 {},
		"so is that of an earlier seed, until it goes": {owner: []metav1.OwnerReference{*metav1.NewControllerRef(before, kind)}},
	} {
		source := secret("garden", "a")
		taken := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "seed-eu", Labels: map[string]string{"gardener.cloud/role": "other"}, OwnerReferences: tc.owner}}
		c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(seed.DeepCopy(), taken, &source).Build()
		_, err := (&namespace.Reconciler{Base: kit.Base{Client: c, Reader: c}}).Reconcile(t.Context(), seed.DeepCopy())
		copies := &corev1.SecretList{}
		if failed := errors.Join(c.Get(t.Context(), client.ObjectKeyFromObject(taken), taken), c.List(t.Context(), copies, client.InNamespace("seed-eu"))); failed != nil {
			t.Fatal(failed)
		}
		labelled := taken.Labels["gardener.cloud/role"] == "seed"
		if (err == nil) != tc.takes || labelled != tc.takes || (len(copies.Items) > 0) != tc.takes {
			t.Errorf("%s: error %v, labelled %t, %d copies", reason, err, labelled, len(copies.Items))
		}
	}
}

func TestBrokenCopy_GCM_SEED_3(t *testing.T) {
	t.Parallel()
	old := func(s *corev1.Secret) { s.Data = map[string][]byte{"k": []byte("old")} }
	held, again, err := pass(t,
		secret("garden", "broken"), secret("garden", "made"), secret("garden", "updated"),
		secret("seed-eu", "broken", unlabelled), secret("seed-eu", "updated", old), secret("seed-eu", "without-source"),
	)
	if !errors.Is(err, errBoom) || again {
		t.Errorf("Reconcile(...) = again %t, %v, want an error, which is retried with a growing delay", again, err)
	}
	if diff := cmp.Diff(map[string]string{"made": "v", "updated": "v"}, held); diff != "" {
		t.Errorf("a copy that cannot be written does not hold up the others (-want +got):\n%s", diff)
	}
}
