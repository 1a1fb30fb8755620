// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// atOnce creates copies of an object, whose names the server makes up, at the same moment, and expects that just one is made. Once that one
// is gone there is room for another one, which it leaves to the caller.
func (g garden) atOnce(why string, object client.Object, is func(error) bool) {
	g.t.Helper()
	const many = 8
	object.SetGenerateName("crowd-")
	made, errs := make([]client.Object, many), make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		o, ok := object.DeepCopyObject().(client.Object)
		if !ok {
			g.t.Fatalf("a copy of %T is no object", object)
		}
		made[i] = o
		all.Go(func() { errs[i] = g.Client.Create(g.t.Context(), o) })
	}
	all.Wait()
	count := 0
	for i, err := range errs {
		switch {
		case err == nil:
			count++
			g.gone(made[i])
		case !is(err):
			g.t.Errorf("%s: got %v", why, err)
		}
	}
	if count != 1 {
		g.t.Errorf("%s: %d were made", why, count)
	}
}

// gone deletes an object and waits until nothing holds it any more.
func (g garden) gone(object client.Object) {
	g.t.Helper()
	if err := g.Client.Delete(g.t.Context(), object); err != nil {
		g.t.Fatal(err)
	}
	harness.Eventually(g.t, "it goes", func(ctx context.Context) error {
		err := g.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("%T %q is there: %w", object, object.GetName(), err)
		}
		return nil
	})
}

// manyDomains asks for many internal domains at once (GAC-IDOM-1).
func (g garden) manyDomains(namespace string, is func(error) bool) {
	g.t.Helper()
	g.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Labels: map[string]string{"gardener.cloud/role": "internal-domain"},
		Annotations: map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": "x.y"},
	}}
	g.atOnce("GAC-IDOM-1: one of many at once is enough", secret.DeepCopy(), is)
	g.atOnce("GAC-IDOM-1: another one follows it", secret, is)
}

// manyClasses asks for more of what is limited than there is room for (GAC-SIZE-8).
func (g garden) manyClasses(is func(error) bool) {
	g.t.Helper()
	class := &gardencorev1beta1.ExposureClass{Handler: "h"}
	g.atOnce("GAC-SIZE-8: the last place is taken once", class.DeepCopy(), is)
	g.atOnce("GAC-SIZE-8: and again when it is free", class, is)
}
