// SPDX-License-Identifier: Apache-2.0

package managed_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/managed"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

func configMap(size int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"text": strings.Repeat("x", size)}}
}

func TestApplied(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	mr := &gardenresourcesv1alpha1.ManagedResource{}
	seed := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(mr).Build()
	engine := deploy.Engine{Client: seed, Owner: "test", Clock: clock.RealClock{}}
	set := managed.Set{Namespace: "garden", Name: "demo", Class: "seed"}
	apply := func(size int) string {
		t.Helper()
		if err := set.Apply(t.Context(), engine, configMap(size)); err != nil {
			t.Fatal(err)
		}
		secret := &corev1.Secret{}
		if err := seed.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "managedresource-demo"}, secret); err != nil {
			t.Fatal(err)
		}
		bundle := managedresource.Decode(secret)
		if len(secret.Data) != 1 || len(bundle.Objects) != 1 || len(bundle.Broken) > 0 || bundle.Objects[0].GetName() != "a" {
			t.Errorf("of %d bytes, the resource manager reads %v, broken %v", size, bundle.Objects, bundle.Broken)
		}

		return bundle.Checksum
	}
	say := func(sum string, applied, healthy gardencorev1beta1.ConditionStatus) {
		t.Helper()
		if err := seed.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "demo"}, mr); err != nil {
			t.Fatal(err)
		}
		mr.Status.ObservedGeneration, mr.Status.SecretsDataChecksum = mr.Generation, &sum
		mr.Status.Conditions = []gardencorev1beta1.Condition{
			{Type: "ResourcesApplied", Status: applied, Message: "it is so"}, {Type: "ResourcesHealthy", Status: healthy, Message: "it is so"},
		}
		if err := seed.Status().Update(t.Context(), mr); err != nil {
			t.Fatal(err)
		}
	}
	check := func(reason string, want ...string) {
		t.Helper()
		var got []string
		for _, err := range []error{set.Applied(t.Context(), seed), set.Healthy(t.Context(), seed)} {
			switch {
			case err == nil:
				got = append(got, "yes")
			case errors.Is(err, managed.ErrPending):
				got = append(got, "pending")
			default:
				got = append(got, "failed")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: applied and healthy (-want +got):\n%s", reason, diff)
		}
	}

	small := apply(10)
	check("nobody has looked yet", "pending", "pending")
	say(small, "True", "False")
	check("applied, but it does not run yet", "yes", "pending")
	say(small, "True", "True")
	check("all is well", "yes", "yes")
	large := apply(2 << 20)
	check("what was said is about other manifests", "pending", "pending")
	say(large, "False", "Unknown")
	check("they cannot be applied", "failed", "failed")
	if err := set.Applied(t.Context(), seed); !strings.Contains(err.Error(), "it is so") {
		t.Errorf("the error does not say why: %v", err)
	}

	for range 2 {
		gone, err := set.Forget(t.Context(), engine)
		if err != nil || !gone {
			t.Errorf("Forget(...) = %t, %v", gone, err)
		}
	}
	left := &corev1.SecretList{}
	if err := seed.List(t.Context(), left); err != nil || len(left.Items) > 0 {
		t.Errorf("%d Secrets are left, error %v", len(left.Items), err)
	}
}
