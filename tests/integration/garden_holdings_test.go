// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// unattended leaves a shoot to nobody.
func unattended(shoot *gardencorev1beta1.Shoot) { shoot.Spec.SchedulerName = new("nobody") }

func at(domain string) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.DNS = &gardencorev1beta1.DNS{Domain: &domain} }
}

// TestHoldings wants what only one shoot can have, from many sides at once (API-SVAL-18, API-SVAL-4).
func TestHoldings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := operate(t, harness.WithDataDir(dir))
	o.provider("local")
	namespaces := []string{*o.project("dev").Spec.Namespace, *o.project("other").Spec.Namespace}

	nested := []string{"x.example.org", "a.x.example.org", "b.a.x.example.org"}
	winner := o.atOnce(24, func(n int) client.Object {
		return ordered(namespaces[n%2], fmt.Sprintf("d%d", n), unattended, at(nested[n%3]))
	}, func(object client.Object) error { return o.Client.Create(t.Context(), object) }, 1, "spec.dns.domain")[0]
	o.refused(ordered(namespaces[0], "late", unattended, at(nested[1])), "spec.dns.domain")

	mover := o.shoot(namespaces[0], "mover", "local", unattended, at("y.example.org"))
	err := o.Client.Patch(t.Context(), mover.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"dns":{"domain":"c.b.a.x.example.org"}}}`)))
	if err == nil || !strings.Contains(err.Error(), "spec.dns.domain") {
		t.Errorf("API-SVAL-18: an update meets the same rule, got %v", err)
	}

	taken := ordered(namespaces[0], "mover", unattended, at("z.example.org"))
	if err := o.Client.Create(t.Context(), taken); !apierrors.IsAlreadyExists(err) {
		t.Fatalf("a second shoot of the same name: %v", err)
	}
	o.create(ordered(namespaces[1], "owner", unattended, at("z.example.org"))) // Who was refused keeps no domain.

	seed := o.seed("small", "local", "north")
	o.changeStatus(seed, func() { seed.Status.Allocatable = corev1.ResourceList{"shoots": resource.MustParse("5")} })
	o.atOnce(20, func(n int) client.Object {
		return o.shoot(namespaces[n%2], fmt.Sprintf("p%d", n), "local", unattended)
	}, func(object client.Object) error {
		object.(*gardencorev1beta1.Shoot).Spec.SeedName = new("small")
		return o.Client.SubResource("binding").Update(t.Context(), object)
	}, 5, "it is full (5 of 5 shoots)")

	o.Stop(t)
	o = operate(t, harness.WithDataDir(dir))
	o.refused(ordered(namespaces[1], "again", unattended, at(nested[2])), "spec.dns.domain")
	last := o.shoot(namespaces[1], "last", "local", unattended)
	last.Spec.SeedName = new("small")
	if err := o.Client.SubResource("binding").Update(t.Context(), last); err == nil || !strings.Contains(err.Error(), "it is full") {
		t.Errorf("API-SVAL-4: the seed is still full after a restart, got %v", err)
	}

	gone := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: winner.GetNamespace(), Name: winner.GetName()}}
	o.confirm(gone)
	o.gone(gone, "a shoot that no gardenlet knows is deleted at once")
	o.create(ordered(namespaces[1], "heir", unattended, at(nested[2])))
}

// ordered is a shoot without workers that is not created yet.
func ordered(namespace, name string, change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	shoot.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
	shoot.Spec.Region, shoot.Spec.Provider.Type, shoot.Spec.Kubernetes.Version = "north", "local", "1.36.3"
	for _, c := range change {
		c(shoot)
	}
	return shoot
}

func (o *operator) refused(object client.Object, word string) {
	o.t.Helper()
	if err := o.Client.Create(o.t.Context(), object); err == nil || !strings.Contains(err.Error(), word) {
		o.t.Errorf("create %T %q: %v, want a refusal with %q", object, object.GetName(), err, word)
	}
}

// atOnce makes objects and asks for all of them at once. It returns those that were accepted, which must be as many as wanted; the
// others are refused with a word.
func (o *operator) atOnce(n int, order func(n int) client.Object, ask func(client.Object) error, want int, word string) []client.Object {
	o.t.Helper()
	var objects []client.Object
	for i := range n {
		objects = append(objects, order(i))
	}
	errs := []error{}
	var mu sync.Mutex
	var accepted []client.Object
	var refused atomic.Int64
	var group sync.WaitGroup
	start := make(chan struct{})
	for _, object := range objects {
		group.Go(func() {
			<-start
			err := ask(object)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				accepted = append(accepted, object)
			case (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) && strings.Contains(err.Error(), word):
				refused.Add(1)
			default:
				errs = append(errs, err)
			}
		})
	}
	close(start)
	group.Wait()
	if len(errs) > 0 || len(accepted) != want {
		o.t.Fatalf("%d of %d requests at once were accepted, want %d; %d were refused with %q, others failed with %v",
			len(accepted), n, want, refused.Load(), word, errs)
	}
	return accepted
}
