// SPDX-License-Identifier: Apache-2.0

package garbage_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/garbage"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// made is metadata of an object that was made some time ago.
func made(name string, ago time.Duration, candidate bool, references ...string) metav1.ObjectMeta {
	o := metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now().Add(-ago)), Annotations: map[string]string{}}
	if candidate {
		o.Labels = map[string]string{"resources.gardener.cloud/garbage-collectable-reference": "true"}
	}
	for _, reference := range references {
		key, value, _ := strings.Cut(reference, "=")
		o.Annotations["reference.resources.gardener.cloud/"+key] = value
	}
	return o
}

func cluster(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build()
}

func left(t *testing.T, c client.Client) []string {
	t.Helper()
	maps, secrets := &corev1.ConfigMapList{}, &corev1.SecretList{}
	if err := errors.Join(c.List(t.Context(), maps), c.List(t.Context(), secrets)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range maps.Items {
		names = append(names, maps.Items[i].Name)
	}
	for i := range secrets.Items {
		names = append(names, secrets.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

func inhabited(t *testing.T) client.WithWatch {
	t.Helper()
	inside := cluster(t,
		&corev1.ConfigMap{ObjectMeta: made("unused", time.Hour, true)},
		&corev1.ConfigMap{ObjectMeta: made("fresh", 9*time.Minute, true)},
		&corev1.ConfigMap{ObjectMeta: made("unmarked", time.Hour, false)},
		&corev1.ConfigMap{ObjectMeta: made("of-deployment", time.Hour, true)},
		&corev1.ConfigMap{ObjectMeta: made("of-cronjob", time.Hour, true)},
		&corev1.Secret{ObjectMeta: made("of-managedresource", time.Hour, true)},
		&corev1.Secret{ObjectMeta: made("of-prometheus", time.Hour, true)},
		&corev1.Secret{ObjectMeta: made("unused-secret", time.Hour, true)},
		// A reference to a ConfigMap keeps no Secret of that name.
		&corev1.Secret{ObjectMeta: made("of-deployment-as-secret", time.Hour, true)},
		&appsv1.Deployment{ObjectMeta: made("d", time.Hour, false, "configmap-12345678=of-deployment", "configmap-87654321=of-deployment-as-secret")},
		&batchv1.CronJob{ObjectMeta: made("c", time.Hour, false, "configmap-x=of-cronjob")},
		&gardenresourcesv1alpha1.ManagedResource{ObjectMeta: made("m", time.Hour, false, "secret-x=of-managedresource")},
	)
	// The scheme of the fake does not know the kind.
	return interceptor.NewClient(inside, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			found, ok := list.(*metav1.PartialObjectMetadataList)
			if ok && found.GroupVersionKind() == (schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusList"}) {
				found.Items = []metav1.PartialObjectMetadata{{ObjectMeta: made("p", time.Hour, false, "secret-x=of-prometheus")}}
				return nil
			}
			return c.List(ctx, list, options...)
		},
	})
}

func TestCollection_GRM_GC(t *testing.T) {
	t.Parallel()
	seed, shoot := inhabited(t), inhabited(t)
	awake := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
	awake.Spec.Shoot.Raw = []byte(`{}`)
	asleep := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--b"}}
	asleep.Spec.Shoot.Raw = []byte(`{"spec":{"hibernation":{"enabled":true}},"status":{"hibernated":true}}`)
	broken := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a-broken-one"}}
	broken.Spec.Shoot.Raw = []byte(`{}`)
	for _, c := range []client.Object{awake, asleep, broken} {
		if err := seed.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	collector := &garbage.Collector{Clock: clocktesting.NewFakeClock(now()), Targets: target.Finder{Seed: seed, Shoot: func(_ context.Context, namespace string) (*kit.Shoot, error) {
		switch namespace {
		case "shoot--dev--a":
			return &kit.Shoot{Client: shoot}, nil
		case "shoot--dev--b":
			t.Error("a shoot that is asleep was reached")
		}
		return nil, errors.New("no answer")
	}}}
	collect := func() {
		t.Helper()
		err := collector.Collect(t.Context())
		if err == nil || !strings.Contains(err.Error(), "a-broken-one") {
			t.Errorf("GRM-GC-4: Collect(...) = %v, want an error that names the shoot", err)
		}
	}
	collect()
	if len(left(t, seed)) != 9 || len(left(t, shoot)) != 9 {
		t.Errorf("left after the first collection: %v and %v, want all", left(t, seed), left(t, shoot))
	}
	collect()
	want := []string{"fresh", "of-cronjob", "of-deployment", "of-managedresource", "of-prometheus", "unmarked"}
	for name, c := range map[string]client.Client{"seed": seed, "shoot": shoot} {
		if diff := cmp.Diff(want, left(t, c)); diff != "" {
			t.Errorf("left in the %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNothingIsDeletedWithoutKnowingTheUsers(t *testing.T) {
	t.Parallel()
	seed := interceptor.NewClient(inhabited(t), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Kind == "PodList" {
				return errors.New("no answer")
			}
			return c.List(ctx, list, options...)
		},
	})
	collector := &garbage.Collector{Clock: clocktesting.NewFakeClock(now()), Targets: target.Finder{Seed: seed}}
	for range 2 {
		if err := collector.Collect(t.Context()); err == nil {
			t.Error("Collect(...) succeeded")
		}
	}
	if got := left(t, seed); len(got) != 9 {
		t.Errorf("left: %v, want all", got)
	}
}

// TestUnusedTwiceInARow: what came back into use in between, or was made anew with the same name, has another collection to go.
func TestUnusedTwiceInARow_GRM_GC_4(t *testing.T) {
	t.Parallel()
	user := &appsv1.Deployment{ObjectMeta: made("d", time.Hour, false, "configmap-x=back")}
	seed := cluster(t,
		&corev1.ConfigMap{ObjectMeta: made("back", time.Hour, true)}, &corev1.ConfigMap{ObjectMeta: made("anew", time.Hour, true)},
		&corev1.ConfigMap{ObjectMeta: made("unused", time.Hour, true)},
	)
	again := &corev1.ConfigMap{ObjectMeta: made("anew", time.Hour, true)}
	again.UID = "another"
	collector := &garbage.Collector{Clock: clocktesting.NewFakeClock(now()), Targets: target.Finder{Seed: seed}}
	for _, step := range []struct {
		reason string
		before func() error
		want   []string
	}{
		{"nothing is known of an earlier collection", func() error { return nil }, []string{"anew", "back", "unused"}},
		{"one is used, and one is another", func() error {
			return errors.Join(seed.Create(t.Context(), user), seed.Delete(t.Context(), again), seed.Create(t.Context(), again))
		}, []string{"anew", "back"}},
		{"one was used the last time", func() error { return seed.Delete(t.Context(), user) }, []string{"back"}},
		{"nobody has used it for a whole period", func() error { return nil }, nil},
	} {
		if err := errors.Join(step.before(), collector.Collect(t.Context())); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, left(t, seed)); diff != "" {
			t.Errorf("%s\nleft (-want +got):\n%s", step.reason, diff)
		}
	}
}
