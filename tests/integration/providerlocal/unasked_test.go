// SPDX-License-Identifier: Apache-2.0

package providerlocal_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// counter is an actor that counts its runs by the names of objects.
type counter[T gardenextensionsv1alpha1.Object] struct {
	mutex sync.Mutex
	runs  map[string]int
}

// Reconcile counts.
func (c *counter[T]) Reconcile(_ context.Context, object T, _ *engine.Cluster) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.runs == nil {
		c.runs = map[string]int{}
	}
	c.runs[object.GetName()]++
	return nil
}

// Delete does nothing.
func (c *counter[T]) Delete(context.Context, T, *engine.Cluster) error { return nil }

// await waits until an object was acted on that many times.
func (c *counter[T]) await(t *testing.T, what, name string, want int) {
	t.Helper()
	harness.Eventually(t, what, func(context.Context) error {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		if got := c.runs[name]; got != want {
			return fmt.Errorf("%q was acted on %d times, want %d", name, got, want)
		}
		return nil
	})
}

// more waits until an object was acted on again since there were that many runs. A run whose last write meets a conflict is repeated, so there
// may be more than one.
func (c *counter[T]) more(t *testing.T, what, name string, before int, nudge func()) {
	t.Helper()
	began := time.Now()
	harness.Eventually(t, what, func(context.Context) error {
		if got := c.count(name); got > before {
			return nil
		}
		if time.Since(began) > missed {
			began = time.Now()
			nudge()
		}
		return fmt.Errorf("%q was acted on %d times, want more", name, before)
	})
}

func (c *counter[T]) count(name string) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.runs[name]
}

// missed is after how long a step of the clock is repeated: the controller may have begun to wait only after it.
const missed = 5 * time.Second

func newExtension(namespace, name string) *gardenextensionsv1alpha1.Extension {
	x := &gardenextensionsv1alpha1.Extension{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	x.Spec.Type = engine.Type
	return x
}

// succeeded waits for the end of a run that began at a time or later.
func (s *seed) succeeded(t *testing.T, object *gardenextensionsv1alpha1.Extension, since time.Time) {
	t.Helper()
	harness.Await(t, s, object, "the run has ended", func(x *gardenextensionsv1alpha1.Extension) error {
		last := x.Status.LastOperation
		if last == nil || last.State != gardencorev1beta1.LastOperationStateSucceeded || last.LastUpdateTime.Time.Before(since.Truncate(time.Second)) {
			return fmt.Errorf("last operation %+v", last)
		}
		return nil
	})
}

// TestResync_EXT_CTRL_6 lets time pass for an object that nobody asks about.
func TestResync_EXT_CTRL_6(t *testing.T) {
	t.Parallel()
	const period = time.Hour
	s := newSeed(t)
	namespace := s.namespace(t, "shoot--dev--resync", `{}`)
	clk, actor := harness.NewClock(t), &counter[*gardenextensionsv1alpha1.Extension]{}
	start := func() (stop func()) {
		return s.run(t, &engine.Reconciler[*gardenextensionsv1alpha1.Extension]{
			Name: "extension", New: func() *gardenextensionsv1alpha1.Extension { return &gardenextensionsv1alpha1.Extension{} },
			Finalizer: "extensions.gardener.cloud/extension-local", Actor: actor, Base: kit.Base{Clock: clk}, Resync: period,
		})
	}
	stop := start()
	object := newExtension(namespace, "a")
	s.create(t, object)
	actor.await(t, "it is created", "a", 1)
	s.succeeded(t, object, clk.Now().Add(-period))

	step := func() { clk.Step(period + time.Second) }
	for range 2 {
		now, before := clk.Now(), actor.count("a")
		step()
		actor.more(t, "EXT-CTRL-6: it is acted on after the period", "a", before, step)
		s.succeeded(t, object, now.Add(period))
	}
	// A request counts as well: the period begins with the last run.
	clk.Step(period / 2)
	now, before := clk.Now(), actor.count("a")
	s.ask(t, object, gardencorev1beta1.OperationReconcile)
	actor.more(t, "it is asked for", "a", before, func() {})
	s.succeeded(t, object, now)
	before = actor.count("a")
	second := newExtension(namespace, "b")
	clk.Step(period/2 + period/4)
	s.create(t, second)
	actor.await(t, "another one is created", "b", 1)
	s.succeeded(t, second, now)
	actor.await(t, "EXT-CTRL-6: it is not acted on before the period is over", "a", before)

	stop()
	clk.Step(period)
	start()
	actor.more(t, "EXT-CTRL-6: a period that has ended meanwhile counts after a restart", "a", before, func() {})
}

// TestUnasked_EXT_OP_7 changes what objects depend on, without asking for anything.
func TestUnasked_EXT_OP_7(t *testing.T) {
	t.Parallel()
	s := newSeed(t)
	namespace := s.namespace(t, "shoot--dev--unasked", `{}`)
	actor := &counter[*infrastructure]{}
	s.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloudprovider"}})
	s.run(t, &engine.Reconciler[*infrastructure]{
		Name: "infrastructure", New: func() *infrastructure { return &infrastructure{} }, Finalizer: "extensions.gardener.cloud/infrastructure",
		Actor: actor, Unasked: true,
	})
	object := newInfrastructure(namespace, "a")
	object.Spec.SecretRef.Namespace = namespace
	other := newInfrastructure(namespace, "other-type")
	other.Spec.Type = "other"
	s.create(t, other)
	s.create(t, object)
	actor.await(t, "it is created", "a", 1)
	s.await(t, object, "Create", "Succeeded")
	change := func(what string, changed client.Object, patch string) {
		t.Helper()
		before := actor.count("a")
		if err := s.Patch(t.Context(), changed, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
		actor.more(t, what, "a", before, func() {})
		s.await(t, object, "Reconcile", "Succeeded")
	}
	change("EXT-OP-7: the spec changes", object, `{"spec":{"sshPublicKey":"a2V5"}}`)
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	change("EXT-OP-7: the Cluster changes", cluster, `{"spec":{"shoot":{"metadata":{"name":"x"}}}}`)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloudprovider"}}
	change("EXT-OP-7: the Secret changes", secret, `{"data":{"key":"dmFsdWU="}}`)
	s.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "another"}})
	change("its annotations do not count, and a request does", object, `{"metadata":{"annotations":{"a":"b","gardener.cloud/operation":"reconcile"}}}`)
	actor.await(t, "that of somebody else is left alone", "other-type", 0)
}
