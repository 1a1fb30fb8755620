// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/quota"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
)

func shoot(name string, binding query.Binding) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}}
	switch binding.Kind {
	case query.KindSecretBinding:
		s.Spec.SecretBindingName = &binding.Name
	case query.KindCredentialsBinding:
		s.Spec.CredentialsBindingName = &binding.Name
	}

	return s
}

// looks tells which shoots the controller looks at.
type looks chan string

// next returns the names of the shoots that it looks at next, in the order in which it does.
func (l looks) next(count int) []string {
	var got []string
	for late := time.After(30 * time.Second); len(got) < count; {
		select {
		case name := <-l:
			got = append(got, name)
		case <-late:
			return got
		}
	}

	return got
}

// watch runs the controller with one worker.
func watch(t *testing.T) (kittest.Source, looks) {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	looked := make(looks, 100)
	// No shoot is found, so that a look ends at once.
	garden := fake.NewClientBuilder().WithScheme(kinds).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
			looked <- key.Name
			return c.Get(ctx, key, object, o...)
		},
	}).Build()
	cluster := kittest.NewCluster(t, kinds)
	r := &quota.Reconciler{Base: kit.Base{Client: garden, Reader: garden, Queue: kit.Queue{Concurrency: 1}}}
	if err := r.AddToManager(kit.Clusters{Garden: cluster.Manager}); err != nil {
		t.Fatal(err)
	}
	cluster.Start(t)

	return cluster.Of(&gardencorev1beta1.Shoot{}), looked
}

// TestBindingOfShootChanges_GCM_SHOOTQUOTA_1 gives shoots other bindings, whose Quotas may limit their lifetime.
func TestBindingOfShootChanges_GCM_SHOOTQUOTA_1(t *testing.T) {
	t.Parallel()
	shoots, looked := watch(t)
	secret := func(name string) query.Binding { return query.Binding{Kind: query.KindSecretBinding, Name: name} }
	credentials := func(name string) query.Binding { return query.Binding{Kind: query.KindCredentialsBinding, Name: name} }
	changes := []struct {
		name     string
		from, to query.Binding
	}{
		{"same binding", secret("trial"), secret("trial")},
		{"other SecretBinding", secret("trial"), secret("paid")},
		{"other CredentialsBinding", credentials("trial"), credentials("paid")},
		{"other kind", secret("trial"), credentials("trial")},
		{"no binding", secret("trial"), query.Binding{}},
	}
	var want []string
	for _, c := range changes {
		shoots.Add(shoot(c.name, c.from))
		if diff := cmp.Diff([]string{c.name}, looked.next(1)); diff != "" {
			t.Fatalf("A new shoot is looked at.\nlooks (-want +got):\n%s", diff)
		}
	}
	for _, c := range changes {
		changed := shoot(c.name, c.to)
		changed.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
		shoots.Modify(changed)
		if c.from != c.to {
			want = append(want, c.name)
		}
	}
	if diff := cmp.Diff(want, looked.next(len(want))); diff != "" {
		t.Errorf("A shoot is looked at when it gets another binding, and not for any other change.\nlooks (-want +got):\n%s", diff)
	}
}
