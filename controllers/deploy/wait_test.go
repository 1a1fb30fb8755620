// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// etcd is a stateful set whose only pod is in the given state.
func etcd(status corev1.PodStatus) []client.Object {
	labels := map[string]string{"app": "etcd"}
	return []client.Object{
		&appsv1.StatefulSet{ObjectMeta: inNamespace("etcd-main"), Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "etcd-main-0", Labels: labels}, Status: status},
	}
}

func waiting(reason, message string) corev1.PodStatus {
	return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "etcd", Image: "registry.k8s.io/etcd:3.6.13",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}}
}

func TestWaitReadyExplainsWhatIsMissing(t *testing.T) {
	t.Parallel()
	crashed := corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "etcd", RestartCount: 3,
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Message: "data directory is not writable\n"}},
	}}}
	unschedulable := corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available: 1 Insufficient cpu.",
	}}}
	cases := map[string]struct {
		reason string
		status corev1.PodStatus
		after  time.Duration
		want   string
	}{
		"Image": {
			reason: "a missing image ends the wait early and tells what to do", status: waiting("ImagePullBackOff", "Back-off"), after: 30 * time.Second,
			want: `StatefulSet "etcd-main" is not ready: 0 of 1 pods are ready: image "registry.k8s.io/etcd:3.6.13" of pod "etcd-main-0" cannot be pulled: ` +
				`load the image on the seed's nodes or correct the image vector`,
		},
		"Crash": {
			reason: "the last words of a container that crashes are shown", status: crashed, after: 5 * time.Minute,
			want: `StatefulSet "etcd-main" is not ready: 0 of 1 pods are ready: container "etcd" of pod "etcd-main-0" has ended 3 times, with status 2 the last time: ` +
				`data directory is not writable`,
		},
		"NoRoom": {
			reason: "the scheduler's words are shown", status: unschedulable, after: 5 * time.Minute,
			want: `StatefulSet "etcd-main" is not ready: 0 of 1 pods are ready: pod "etcd-main-0" finds no node: 0/1 nodes are available: 1 Insufficient cpu.`,
		},
		"Config": {
			reason: "a missing key of a secret is shown", status: waiting("CreateContainerConfigError", `secret "x" not found`), after: 5 * time.Minute,
			want: `StatefulSet "etcd-main" is not ready: 0 of 1 pods are ready: container "etcd" of pod "etcd-main-0" cannot start: secret "x" not found`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objs := etcd(tc.status)
			c := newCluster(t, objs...)
			synctest.Test(t, func(t *testing.T) {
				begin := clock.RealClock{}.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				if diff := cmp.Diff(tc.want, fmt.Sprint(c.WaitReady(ctx, objs[0]))); diff != "" {
					t.Errorf("%s\nWaitReady(...) (-want +got):\n%s", tc.reason, diff)
				}
				if took := (clock.RealClock{}).Since(begin); took != tc.after {
					t.Errorf("%s\nended after %s, want %s", tc.reason, took, tc.after)
				}
			})
		})
	}
}

func TestWaitReadyEndsWhenTheObjectIsReady(t *testing.T) {
	t.Parallel()
	objs := etcd(corev1.PodStatus{})
	c := newCluster(t, objs...)
	synctest.Test(t, func(t *testing.T) {
		begin := clock.RealClock{}.Now()
		done := make(chan error)
		go func() {
			<-clock.RealClock{}.After(2200 * time.Millisecond)
			set := objs[0].DeepCopyObject().(*appsv1.StatefulSet)
			set.Status.ReadyReplicas = 1
			done <- c.Client.Status().Patch(t.Context(), set, client.MergeFrom(objs[0]))
		}()
		if err := c.WaitReady(t.Context(), objs[0]); err != nil {
			t.Errorf("WaitReady(...) returned %v", err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if took := (clock.RealClock{}).Since(begin); took > 3*time.Second {
			t.Errorf("ready after 2.2 s was seen after %s only", took)
		}
	})
}

// TestWaitStopped_GLET_HIB_2: a store is stopped before the next one only when its program has ended.
func TestWaitStopped_GLET_HIB_2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		phase   corev1.PodPhase
		deleted bool
		waits   bool
	}{
		"Ended":    {reason: "its program has ended, and the node still removes its volumes", phase: corev1.PodSucceeded, deleted: true},
		"Killed":   {reason: "its program was killed", phase: corev1.PodFailed, deleted: true},
		"Stopping": {reason: "its program still writes", phase: corev1.PodRunning, deleted: true, waits: true},
		"Running":  {reason: "nobody has told it to end yet", phase: corev1.PodRunning, waits: true},
		"Evicted":  {reason: "another pod will take the place of one that failed", phase: corev1.PodFailed, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objs := etcd(corev1.PodStatus{Phase: tc.phase})
			if tc.deleted {
				objs[1].SetDeletionTimestamp(&metav1.Time{Time: clock.RealClock{}.Now()})
				objs[1].SetFinalizers([]string{"example.com/node"})
			}
			c := newCluster(t, objs...)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := c.WaitStopped(ctx, objs[0])
				if waited := err != nil; waited != tc.waits {
					t.Errorf("%s\nWaitStopped(...) = %v, want an error: %t", tc.reason, err, tc.waits)
				}
			})
		})
	}
}

func TestWaitsKeepTheCauseOfTheEnd(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "held", Finalizers: []string{"example.com/hold"}}})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the gardenlet stops")
	cancel(stopped)
	err := c.WaitGone(ctx, &corev1.ConfigMap{ObjectMeta: inNamespace("held")})
	if diff := cmp.Diff(`ConfigMap "held" still exists and waits for example.com/hold`, fmt.Sprint(err)); diff != "" {
		t.Errorf("WaitGone(...) (-want +got):\n%s", diff)
	}
	if !errors.Is(err, stopped) {
		t.Errorf("errors.Is(%v, the cause of the cancellation) is false", err)
	}
	err = c.WaitReady(ctx, &corev1.Secret{ObjectMeta: inNamespace("missing")})
	if diff := cmp.Diff(`Secret "missing" does not exist`, fmt.Sprint(err)); diff != "" {
		t.Errorf("WaitReady(...) (-want +got):\n%s", diff)
	}
}
