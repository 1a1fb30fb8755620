// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// TestDNSCacheStaysForTheNodesThatAskIt follows a cache that is switched off.
func TestDNSCacheStaysForTheNodesThatAskIt(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	cache := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "shoot-core-node-local-dns"}}
	worker := func(label string, state gardencorev1beta1.LastOperationState) *gardenextensionsv1alpha1.Worker {
		w := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a", Generation: 1}}
		w.Spec.Pools = []gardenextensionsv1alpha1.WorkerPool{
			{Name: "small", Labels: map[string]string{"networking.gardener.cloud/node-local-dns-enabled": "false"}},
			{Name: "large", Labels: map[string]string{"networking.gardener.cloud/node-local-dns-enabled": label}},
		}
		w.Status.ObservedGeneration, w.Status.LastOperation = 1, &gardencorev1beta1.LastOperation{State: state}
		return w
	}
	inPlace := func(how gardencorev1beta1.MachineUpdateStrategy) *gardenextensionsv1alpha1.Worker {
		w := worker("false", "Succeeded")
		w.Spec.Pools[1].UpdateStrategy = &how
		return w
	}
	machine := func(leaves bool) *gardenmachinev1alpha1.Machine {
		m := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "m"}}
		if leaves {
			m.DeletionTimestamp, m.Finalizers = new(metav1.Now()), []string{"drain"}
		}
		return m
	}
	for name, tc := range map[string]struct {
		reason  string
		objects []client.Object
		want    bool
	}{
		"Never":    {reason: "a shoot whose workers are made has no cache because of that", objects: []client.Object{worker("false", "Processing")}},
		"On":       {reason: "the nodes ask it", objects: []client.Object{cache, worker("true", "Succeeded")}, want: true},
		"Rolling":  {reason: "some nodes are not replaced yet", objects: []client.Object{cache, worker("false", "Processing")}, want: true},
		"Failed":   {reason: "nor are they after an error", objects: []client.Object{cache, worker("false", "Error")}, want: true},
		"Draining": {reason: "nodes that go still have pods", objects: []client.Object{cache, worker("false", "Succeeded"), machine(true)}, want: true},
		"Replaced": {reason: "no node asks it any more", objects: []client.Object{cache, worker("false", "Succeeded"), machine(false)}},
		"Manual": {
			reason:  "the worker is ready while nodes wait for their owner to select them",
			objects: []client.Object{cache, inPlace("ManualInPlaceUpdate"), machine(false)}, want: true,
		},
		"Automatic": {
			reason:  "pods of daemon sets survive the drain, and ask as before",
			objects: []client.Object{cache, inPlace("AutoInPlaceUpdate"), machine(false)}, want: true,
		},
		"Slept":   {reason: "machines that wake up are new", objects: []client.Object{cache, inPlace("AutoInPlaceUpdate")}},
		"Rolled":  {reason: "a pool may name the strategy that it has by default", objects: []client.Object{cache, inPlace("AutoRollingUpdate"), machine(false)}},
		"NoNodes": {reason: "there are none", objects: []client.Object{cache}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := shoot.DNSCacheInUse(t.Context(), fake.NewClientBuilder().WithScheme(types).WithObjects(tc.objects...).Build())
			if err != nil || got != tc.want {
				t.Errorf("%s\ndnsCacheInUse() = %t, %v, want %t", tc.reason, got, err, tc.want)
			}
		})
	}
}
