// SPDX-License-Identifier: Apache-2.0

package stalepods_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/stalepods"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name, UID: "uid"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for _, change := range changes {
		change(p)
	}
	return p
}

func because(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Reason = reason }
}

func ended(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func ending(ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp, p.Finalizers = new(metav1.NewTime(now().Add(-ago))), []string{"example.org/held"}
	}
}

func ownedBy(kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "o", UID: "o", Controller: new(true)}}
	}
}

func disrupted(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		pod    *corev1.Pod
		want   stalepods.Verdict
	}{
		"GLET-GC-2 running":            {"what runs is needed", pod("a"), stalepods.Keep},
		"GLET-GC-2 evicted":            {"a node had no room for it any more", pod("a", because("Evicted")), stalepods.Delete},
		"GLET-GC-2 out of memory":      {"a node never had room for it", pod("a", because("OutOfmemory")), stalepods.Delete},
		"GLET-GC-2 out of pods":        {"of whatever", pod("a", because("OutOfpods")), stalepods.Delete},
		"GLET-GC-2 about":              {"the reason has to begin so", pod("a", because("RunOutOf")), stalepods.Keep},
		"GLET-GC-2 node affinity":      {"it does not fit the node", pod("a", because("PodNodeAffinity")), stalepods.Delete},
		"GLET-GC-2 node lost":          {"its node is lost", pod("a", because("NodeLost")), stalepods.Delete},
		"GLET-GC-2 preempting":         {"another one took its place", pod("a", because("Preempting")), stalepods.Delete},
		"GLET-GC-2 other":              {"all other reasons are none", pod("a", because("Shutdown")), stalepods.Keep},
		"GLET-GC-2 replaced":           {"a ReplicaSet has made another one", pod("a", ended(corev1.PodFailed), ownedBy("ReplicaSet")), stalepods.Delete},
		"GLET-GC-2 replaced, ended":    {"also if it ended well", pod("a", ended(corev1.PodSucceeded), ownedBy("ReplicaSet")), stalepods.Delete},
		"GLET-GC-2 of a job":           {"the result of a Job is wanted", pod("a", ended(corev1.PodFailed), ownedBy("Job")), stalepods.Keep},
		"GLET-GC-2 of nobody":          {"so is that of a pod of its own", pod("a", ended(corev1.PodFailed)), stalepods.Keep},
		"GLET-GC-2 running, replica":   {"a replica that runs is needed", pod("a", ownedBy("ReplicaSet")), stalepods.Keep},
		"GLET-GC-2 disrupted":          {"it was ended by force", pod("a", ended(corev1.PodFailed), disrupted), stalepods.Delete},
		"GLET-GC-2 being disrupted":    {"it still ends", pod("a", disrupted), stalepods.Keep},
		"GLET-GC-2 in deletion":        {"a pod has time to end", pod("a", ending(5*time.Minute)), stalepods.Keep},
		"GLET-GC-2 in deletion, lost":  {"also if its node is lost", pod("a", ending(time.Minute), because("NodeLost")), stalepods.Keep},
		"GLET-GC-2 in deletion for ev": {"but not for ever", pod("a", ending(5*time.Minute+time.Second)), stalepods.Force},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := stalepods.Judge(tc.pod, now()); got != tc.want {
				t.Errorf("%s: Judge(...) = %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	elsewhere := pod("other", because("Evicted"))
	elsewhere.Namespace = "other"
	var forced []string
	c := fake.NewClientBuilder().WithObjects(
		pod("runs"), pod("evicted", because("Evicted")), pod("held", because("Evicted")), pod("stuck", ending(time.Hour)), elsewhere,
	).WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if o.GetName() == "held" {
				return boom
			}
			applied := (&client.DeleteOptions{}).ApplyOptions(options)
			if applied.Preconditions == nil || applied.Preconditions.UID == nil {
				t.Errorf("pod %q is deleted by its name only", o.GetName())
			}
			if applied.GracePeriodSeconds != nil && *applied.GracePeriodSeconds == 0 {
				forced = append(forced, o.GetName())
			}
			return c.Delete(ctx, o, options...)
		},
	}).Build()
	deleted, err := stalepods.Collector{Client: c, Now: now()}.Collect(t.Context(), client.InNamespace("shoot--dev--a"))
	if !errors.Is(err, boom) || deleted != 2 {
		t.Errorf("GLET-GC-1: Collect(...) = %d, %v, want two pods, and the error about the third", deleted, err)
	}
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods); err != nil {
		t.Fatal(err)
	}
	var left []string
	for i := range pods.Items {
		left = append(left, pods.Items[i].Name)
	}
	slices.Sort(left)
	if diff := cmp.Diff([]string{"held", "other", "runs", "stuck"}, left); diff != "" {
		t.Errorf("GLET-GC-1: pods that are left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"stuck"}, forced); diff != "" {
		t.Errorf("GLET-GC-2: pods deleted without grace (-want +got):\n%s", diff)
	}
}

// TestCollectEndless has a program of an owner answer in the place of the API server, which lists stale pods without an end and deletes none.
func TestCollectEndless(t *testing.T) {
	t.Parallel()
	pages, boom := 0, errors.New("boom")
	c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			if pages++; pages > 5000 {
				return errors.New("the list is read without an end")
			}
			page, _ := list.(*corev1.PodList)
			page.Items, page.Continue = []corev1.Pod{*pod("evicted", because("Evicted"))}, "more"
			return nil
		},
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return boom },
	})
	deleted, err := stalepods.Collector{Client: c, Now: now()}.Collect(t.Context())
	if deleted != 0 || !errors.Is(err, kit.ErrEndless) || strings.Count(err.Error(), "boom") != 10 {
		t.Errorf("Collect(...) = %d, %v, want %v, and ten of the pods that were not deleted", deleted, err, kit.ErrEndless)
	}
}
