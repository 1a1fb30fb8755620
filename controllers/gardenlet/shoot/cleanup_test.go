// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

func service(name string, labels map[string]string, finalizers ...string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, Finalizers: finalizers}}
}

func cleaner(t *testing.T, objs ...client.Object) shoot.Cleaner {
	t.Helper()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return shoot.Cleaner{Client: fake.NewClientBuilder().WithScheme(s).WithObjects(objs...).Build(), Clock: clock.RealClock{}}
}

func services(finalize time.Duration) shoot.CleanGroup {
	return shoot.CleanGroup{
		Kinds:       []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Service"), {Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshot"}},
		DeleteGrace: time.Minute, FinalizeAfter: finalize,
	}
}

func left(t *testing.T, c shoot.Cleaner) []string {
	t.Helper()
	list := &corev1.ServiceList{}
	if err := c.Client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

func TestCleanSparesWhatBelongsToTheShoot_GLET_CLEAN_2(t *testing.T) {
	t.Parallel()
	c := cleaner(
		t,
		service("users", nil),
		service("spared", map[string]string{"shoot.gardener.cloud/no-cleanup": "true"}),
		service("system", map[string]string{"gardener.cloud/role": "system-component"}),
		service("kubernetes", map[string]string{"provider": "kubernetes"}),
	)
	synctest.Test(t, func(t *testing.T) {
		if err := c.Clean(t.Context(), services(time.Hour)); err != nil {
			t.Fatalf("Clean(...) returned %v", err)
		}
		if diff := cmp.Diff([]string{"kubernetes", "spared", "system"}, left(t, c)); diff != "" {
			t.Errorf("Services after the clean-up (-want +got):\n%s", diff)
		}
	})
}

// TestCleanGoesOn has one object that cannot be deleted. All others are.
func TestCleanGoesOn(t *testing.T) {
	t.Parallel()
	c := cleaner(t, service("a", nil), service("b", nil), service("c", nil))
	inner, _ := c.Client.(client.WithWatch)
	c.Client = interceptor.NewClient(inner, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.DeleteOption) error {
			if object.GetName() == "a" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "a", errors.New("a policy refuses it"))
			}
			return c.Delete(ctx, object, o...)
		},
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := c.Clean(ctx, services(time.Hour)); err == nil || !strings.Contains(err.Error(), "a policy refuses it") {
			t.Errorf("Clean(...) returned %v, want the reason of the one that stays", err)
		}
		if diff := cmp.Diff([]string{"a"}, left(t, c)); diff != "" {
			t.Errorf("Services after the clean-up (-want +got):\n%s", diff)
		}
	})
}

func TestCleanFinalizesByForce_GLET_CLEAN_3(t *testing.T) {
	t.Parallel()
	c := cleaner(t, service("held", nil, "example.com/hold"))
	synctest.Test(t, func(t *testing.T) {
		begin := clock.RealClock{}.Now()
		if err := c.Clean(t.Context(), services(5*time.Minute)); err != nil {
			t.Fatalf("Clean(...) returned %v", err)
		}
		if took := (clock.RealClock{}).Since(begin); took < 5*time.Minute || took > 5*time.Minute+3*time.Second {
			t.Errorf("finalizers were removed after %s, want 5 minutes", took)
		}
	})
}

func TestGrace_GLET_CLEAN_4(t *testing.T) {
	t.Parallel()
	const key = "shoot.gardener.cloud/cleanup-webhooks-finalize-grace-period-seconds"
	for text, want := range map[string]time.Duration{
		"": 5 * time.Minute, "60": time.Minute, "0": 0, "300": 5 * time.Minute, "301": 5 * time.Minute, "-1": 5 * time.Minute, "1m": 5 * time.Minute,
	} {
		if got := shoot.Grace(running(annotated(key, text)), key, 5*time.Minute); got != want {
			t.Errorf("%q seconds: %s, want %s", text, got, want)
		}
	}
}

func TestSkipCleanup_GLET_CLEAN_5(t *testing.T) {
	t.Parallel()
	skipping := running(annotated("shoot.gardener.cloud/skip-cleanup", "false"))
	var kinds []string
	for _, kind := range shoot.ResourceKinds(skipping) {
		kinds = append(kinds, kind.Kind)
	}
	if diff := cmp.Diff([]string{"Service", "PersistentVolumeClaim"}, kinds); diff != "" {
		t.Errorf("kinds that are cleaned up nevertheless (-want +got):\n%s", diff)
	}
	if all := shoot.ResourceKinds(running()); len(all) != 11 {
		t.Errorf("without the annotation %d kinds are cleaned up: %v", len(all), all)
	}
	// Without an access to the cluster anything else would end in a panic.
	if err := shoot.CleanExtendedAPIs(t.Context(), skipping); err != nil {
		t.Errorf("definitions are cleaned up: %v", err)
	}
}

// TestCleanIgnoresWhatComesLate has objects that nobody lets go: two that came late, one without a namespace, and one that is waited for.
func TestCleanIgnoresWhatComesLate_GLET_CLEAN_6(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := clock.RealClock{}.Now()
		created := func(name, namespace string, after time.Duration) *corev1.Service {
			s := service(name, nil, "example.com/hold")
			s.Namespace, s.CreationTimestamp = namespace, metav1.NewTime(begin.Add(after))
			return s
		}
		home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		c := cleaner(t, home, created("late", "default", time.Minute+time.Second), created("homeless", "gone", 0), created("in-time", "default", time.Minute))
		group := services(time.Hour)
		group.Latest = begin.Add(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := c.Clean(ctx, group); err == nil || !strings.Contains(err.Error(), "still there: Service default/in-time (") {
			t.Errorf("Clean(...) = %v, want it to wait for one object", err)
		}
		inTime := &corev1.Service{}
		if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "in-time"}, inTime); err != nil {
			t.Fatal(err)
		}
		inTime.Finalizers = nil
		if err := c.Client.Update(t.Context(), inTime); err != nil {
			t.Fatal(err)
		}
		if err := c.Clean(t.Context(), group); err != nil {
			t.Errorf("Clean(...) = %v, want it not to wait for what came late", err)
		}
		late := &corev1.Service{}
		if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "late"}, late); err != nil || late.DeletionTimestamp == nil {
			t.Errorf("what comes late is deleted nevertheless: %v, %v", late, err)
		}
	})
}

// TestCleanNamespaces deletes the namespaces of users, one of which cannot be emptied: it is finalized, which is another request than to remove its
// finalizers.
func TestCleanNamespaces_GLET_CLEAN_1_3(t *testing.T) {
	t.Parallel()
	const stuck = "stuck"
	named := func(name string, labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	c := cleaner(
		t, named("default", nil), named("kube-system", nil), named("kube-public", nil), named("kube-node-lease", nil),
		named("spared", map[string]string{"shoot.gardener.cloud/no-cleanup": "true"}), named("users", nil), named(stuck, nil),
	)
	c.Client = emptying(t, c.Client, stuck)
	synctest.Test(t, func(t *testing.T) {
		if err := shoot.CleanNamespaces(t.Context(), running(annotated("shoot.gardener.cloud/skip-cleanup", "true")), c); err != nil {
			t.Errorf("GLET-CLEAN-5: nothing is to be cleaned up: %v", err)
		}
		begin := clock.RealClock{}.Now()
		if err := shoot.CleanNamespaces(t.Context(), running(), c); err != nil {
			t.Fatal(err)
		}
		if took := (clock.RealClock{}).Since(begin); took < 5*time.Minute || took > 5*time.Minute+3*time.Second {
			t.Errorf("the namespace was finalized after %s, want 5 minutes", took)
		}
		list := &corev1.NamespaceList{}
		if err := c.Client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		if diff := cmp.Diff([]string{"default", "kube-node-lease", "kube-public", "kube-system", "spared"}, names); diff != "" {
			t.Errorf("namespaces after the clean-up (-want +got):\n%s", diff)
		}
	})
}

// TestCleanEmptyNamespaces: a namespace that is held only because some API does not answer is finalized at once.
func TestCleanEmptyNamespaces_GLET_CLEAN_3(t *testing.T) {
	t.Parallel()
	const some = "Discovery failed for some groups, 1 failing: stale GroupVersion discovery: metrics.k8s.io/v1beta1"
	conditions := func(discovery string, rest ...corev1.ConditionStatus) []corev1.NamespaceCondition {
		all := []corev1.NamespaceCondition{{Type: corev1.NamespaceDeletionDiscoveryFailure, Status: corev1.ConditionTrue, Message: discovery}}
		if discovery == "" {
			all[0].Status = corev1.ConditionFalse
		}
		kinds := []corev1.NamespaceConditionType{corev1.NamespaceContentRemaining, corev1.NamespaceFinalizersRemaining, corev1.NamespaceDeletionContentFailure}
		for i, status := range rest {
			all = append(all, corev1.NamespaceCondition{Type: kinds[i], Status: status})
		}
		return all
	}
	const no, yes = corev1.ConditionFalse, corev1.ConditionTrue
	for reason, tc := range map[string]struct {
		conditions []corev1.NamespaceCondition
		want       time.Duration
	}{
		"nothing is left":              {conditions(some, no, no, no), 0},
		"nothing has been looked at":   {nil, 5 * time.Minute},
		"no API could be asked":        {conditions("connection refused", no, no, no), 5 * time.Minute},
		"all APIs answer":              {conditions("", no, no, no), 5 * time.Minute},
		"objects are left":             {conditions(some, yes, no, no), 5 * time.Minute},
		"objects are held":             {conditions(some, no, yes, no), 5 * time.Minute},
		"objects cannot be deleted":    {conditions(some, no, no, yes), 5 * time.Minute},
		"it is not known what is left": {conditions(some, no, no), 5 * time.Minute},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			stuck := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "stuck"}, Status: corev1.NamespaceStatus{Conditions: tc.conditions}}
			c := cleaner(t, stuck)
			c.Client = emptying(t, c.Client, stuck.Name)
			synctest.Test(t, func(t *testing.T) {
				begin := clock.RealClock{}.Now()
				if err := shoot.CleanNamespaces(t.Context(), running(), c); err != nil {
					t.Fatal(err)
				}
				if took := (clock.RealClock{}).Since(begin); took < tc.want || took > tc.want+3*time.Second {
					t.Errorf("the namespace was finalized after %s, want %s", took, tc.want)
				}
			})
		})
	}
}

// emptying is a client that deletes one namespace as an API server does which cannot empty it: only a request to finalize it lets it go.
func emptying(t *testing.T, c client.Client, name string) client.Client {
	t.Helper()
	const kubernetes = "e2e/kubernetes"
	all, _ := c.(client.WithWatch)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	hold := func(ctx context.Context, finalizers ...string) error {
		if err := all.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
			return err
		}
		namespace.Finalizers = finalizers
		return all.Update(ctx, namespace)
	}
	return interceptor.NewClient(all, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
			if obj.GetName() == name {
				if err := hold(ctx, kubernetes); err != nil {
					return err
				}
			}
			return c.Delete(ctx, obj, options...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, obj, options...)
			if live, ok := obj.(*corev1.Namespace); ok && live.Name == name && live.DeletionTimestamp != nil {
				live.Finalizers, live.Spec.Finalizers = nil, []corev1.FinalizerName{corev1.FinalizerKubernetes}
			}
			return err
		},
		SubResourceUpdate: func(ctx context.Context, _ client.Client, subresource string, obj client.Object, _ ...client.SubResourceUpdateOption) error {
			if live, ok := obj.(*corev1.Namespace); subresource != "finalize" || !ok || len(live.Spec.Finalizers) > 0 {
				return fmt.Errorf("an unexpected request for %q of %v", subresource, obj)
			}
			return hold(ctx)
		},
	})
}

// TestCleanBegin sees that the begin of a clean-up is kept for the next runs.
func TestCleanBegin_GLET_CLEAN_6(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLandscape(t, fresh())
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
		if err := l.SeedClient.Create(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		first, err := shoot.CleanBegin(t.Context(), l.Reconciler, namespace.Name)
		if err != nil || !first.Equal(clock.RealClock{}.Now().Truncate(time.Second)) {
			t.Errorf("begin = %v, %v, want now", first, err)
		}
		time.Sleep(time.Hour) // of the time of the bubble
		if again, err := shoot.CleanBegin(t.Context(), l.Reconciler, namespace.Name); err != nil || !again.Equal(first) {
			t.Errorf("begin = %v, %v an hour later, want %v", again, err, first)
		}
	})
}

// TestCleanSnapshots sees that the driver of a storage may delete snapshots, and has time for it.
func TestCleanSnapshots_GLET_CLEAN_7(t *testing.T) {
	t.Parallel()
	kind := schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshotContent"}
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	types.AddKnownTypeWithName(kind, &metav1.PartialObjectMetadata{})
	types.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &metav1.PartialObjectMetadataList{})
	content := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "content", Finalizers: []string{"example.com/hold"}}}
	content.SetGroupVersionKind(kind)
	synctest.Test(t, func(t *testing.T) {
		c := shoot.Cleaner{Client: fake.NewClientBuilder().WithScheme(types).WithObjects(content).Build(), Clock: clock.RealClock{}}
		announced := func(after time.Duration) bool {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			if err := c.Clean(ctx, shoot.Snapshots(running())); err == nil {
				t.Fatal("the content is gone before its time")
			}
			if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(content), content); err != nil {
				t.Fatal(err)
			}
			return content.Annotations["snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"] == "yes"
		}
		if announced(4 * time.Minute) {
			t.Error("the snapshot may be deleted before its grace period is over")
		}
		if !announced(2 * time.Minute) {
			t.Error("the snapshot may not be deleted when its grace period is over")
		}
		if err := c.Clean(t.Context(), shoot.Snapshots(running())); err != nil {
			t.Errorf("Clean(...) = %v, want the content to go after an hour", err)
		}
	})
}

func TestCleanNamesWhatIsLeft_GLET_CLEAN_8(t *testing.T) {
	t.Parallel()
	var held []client.Object
	for i := range 12 {
		held = append(held, service(fmt.Sprintf("held-%02d", i), nil, "example.com/hold"))
	}
	c := cleaner(t, held...)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		err := c.Clean(ctx, services(time.Hour))
		if err == nil || !strings.Contains(err.Error(), "objects inside the shoot are still there: Service default/held-00, ") || !strings.Contains(err.Error(), "Service default/held-09 and 2 more") {
			t.Errorf("Clean(...) = %v, want the first ten by name", err)
		}
		if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CLEANUP_CLUSTER_RESOURCES"}, operation.Codes(err)); diff != "" {
			t.Errorf("codes (-want +got):\n%s", diff)
		}
	})
}
