// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// createAtOnce creates objects at once, and returns how many were allowed. The others must be forbidden.
func (o *operator) createAtOnce(who client.Client, n int, object func(i int) client.Object) int64 {
	o.t.Helper()
	var made atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			switch err := who.Create(o.t.Context(), object(i)); {
			case err == nil:
				made.Add(1)
			case !apierrors.IsForbidden(err):
				o.t.Errorf("create object %d: %v", i, err)
			}
		})
	}
	all.Wait()

	return made.Load()
}

// TestSeedsFillNoStore has a compromised gardenlet create as many objects as it likes, of each kind that it can create under names of its
// choice.
func TestSeedsFillNoStore(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	one, extension := o.acting(seedRole("one")), o.acting(roleNamed("extension one"))
	harness.Await(t, o.Client, &corev1.Namespace{ObjectMeta: named("", "seed-one")}, "the seed has a namespace", func(*corev1.Namespace) error { return nil })

	if n := o.createAtOnce(one, 130, func(i int) client.Object {
		request := requestFor(o, "one")
		request.Name, request.GenerateName = "", fmt.Sprintf("flood-%d-", i)
		return request
	}); n != 100 {
		t.Errorf("a gardenlet has 100 certificate requests, however many it makes at once: got %d", n)
	}
	if n := o.createAtOnce(o.acting(seedRole("two")), 1, func(int) client.Object {
		request := requestFor(o, "two")
		request.Name = "two"
		return request
	}); n != 1 {
		t.Error("another gardenlet is not hindered")
	}
	if n := o.createAtOnce(o.acting(roleNamed("join token")), 130, func(i int) client.Object {
		request := requestFor(o, "two")
		request.Name = fmt.Sprint("token-", i)
		return request
	}); n != 100 {
		t.Errorf("who has a join token has 100: got %d", n)
	}
	if n := o.createAtOnce(extension, 230, func(int) client.Object {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-one", GenerateName: "flood-"}}
	}); n != 200 {
		t.Errorf("the extensions of a seed have 200 leases: got %d", n)
	}
	if n := o.createAtOnce(one, 30, func(i int) client.Object {
		return bastionOn("garden-meadow", fmt.Sprint("b", i), "mine")
	}); n != 20 {
		t.Errorf("a seed creates 20 Bastions in a project: got %d", n)
	}
	o.checkBuckets(one)
	o.checkEvents("one", "mine")
}

// checkBuckets has a gardenlet create buckets under other names than that of its seed, through each door.
func (o *operator) checkBuckets(one client.Client) {
	o.t.Helper()
	seed := &gardencorev1beta1.Seed{ObjectMeta: named("", "one")}
	o.read(seed)
	bucket := func(name string) *gardencorev1beta1.BackupBucket {
		return raceBucket(name, "one", "garden", "given-one")
	}
	unnamed := bucket("")
	unnamed.GenerateName = string(seed.UID) + "-"
	applied := bucket("applied")
	applied.APIVersion, applied.Kind = coreAPI, "BackupBucket"
	for door, err := range map[string]error{
		"create": one.Create(o.t.Context(), bucket("any")), "a generated name": one.Create(o.t.Context(), unnamed),
	} {
		refusedWith(o.t, err, fmt.Sprintf("the bucket of seed %q is %q", "one", seed.UID), "GAC-SR-2: a seed has one bucket; "+door)
	}
	//nolint:staticcheck // There are no apply configurations of the garden's kinds.
	if err := one.Patch(o.t.Context(), applied, client.Apply, client.FieldOwner("gardenlet")); !apierrors.IsForbidden(err) {
		o.t.Errorf("GAC-SR-2: nor by server-side apply: got %v, want Forbidden", err)
	}
	if err := one.Create(o.t.Context(), bucket(string(seed.UID))); err != nil {
		o.t.Errorf("GAC-SR-2: a seed has its bucket: %v", err)
	}
}

// checkEvents has a gardenlet report more than it may, and another one a little.
func (o *operator) checkEvents(seed, shoot string) {
	o.t.Helper()
	const most = 16
	report := func(who role, shoot, namespace string, size int) error {
		config := rest.CopyConfig(o.Config)
		config.Impersonate = rest.ImpersonationConfig{UserName: who.user, Groups: who.groups}
		set, err := kubernetes.NewForConfig(config)
		if err != nil {
			o.t.Fatal(err)
		}
		event := eventAbout("Shoot", namespace, shoot)
		event.Name, event.GenerateName, event.Message = "", shoot+".", strings.Repeat("x", size)
		// The client would wait by itself, as it is asked to.
		return set.CoreV1().RESTClient().Post().Namespace(namespace).Resource("events").Body(event).MaxRetries(0).Do(o.t.Context()).Error()
	}
	n, last := 0, error(nil)
	for ; last == nil && n < most; n++ {
		last = report(seedRole(seed), shoot, "garden-meadow", 1<<20)
	}
	if !apierrors.IsTooManyRequests(last) {
		o.t.Errorf("GAC-SAR-9: a gardenlet reports %d events of a MiB at once: got %v, want Too Many Requests", n, last)
	}
	if err := report(seedRole("two"), "other", "garden-wood", 1<<10); err != nil {
		o.t.Errorf("GAC-SAR-9: another one is not hindered: %v", err)
	}
	list := &corev1.EventList{}
	if err := o.Client.List(o.t.Context(), list, client.InNamespace("garden-meadow")); err != nil {
		o.t.Fatal(err)
	}
	kept := 0
	for i := range list.Items {
		if list.Items[i].Size() > 1<<20 {
			kept++
		}
	}
	if kept != n-1 {
		o.t.Errorf("GAC-SAR-9: what was refused is not kept: got %d events, want %d", kept, n-1)
	}
}
