// SPDX-License-Identifier: Apache-2.0

package operation_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// judge writes a condition of the stored object, as another writer does.
func judge(t *testing.T, c client.Client, key client.ObjectKey, kind, status string) {
	t.Helper()
	s := &gardencorev1beta1.Shoot{}
	must(t, c.Get(t.Context(), key, s))
	s.Status.Conditions = kit.SetCondition(s.Status.Conditions, gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ConditionType(kind), Status: gardencorev1beta1.ConditionStatus(status),
	}, time.Unix(2000, 0))
	must(t, c.Status().Update(t.Context(), s))
}

// conditions are those of the stored object.
func conditions(t *testing.T, g *ground[*gardencorev1beta1.Shoot]) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, c := range g.live(t).Status.Conditions {
		all[string(c.Type)] = string(c.Status)
	}
	return all
}

func TestConditionsOfOthersStay(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	judge(t, g.Client, g.key, "Theirs", "True")
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	must(t, run.Change(t.Context(), func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "t" }))
	if diff := cmp.Diff(map[string]string{"Theirs": "True"}, conditions(t, g)); diff != "" {
		t.Errorf("Writes of an operation leave conditions alone (-want +got):\n%s", diff)
	}
	judge(t, g.Client, g.key, "Theirs", "False")
	// Another client writes between the read and the write, so that the first write is refused.
	g.meddle = func(c client.Client) { judge(t, c, g.key, "Late", "Unknown") }
	err := run.Succeed(t.Context(), func(s *gardencorev1beta1.Shoot) {
		for _, c := range s.Status.Conditions {
			if c.Status == "True" {
				t.Errorf("the change saw condition %s as it was before", c.Type)
			}
		}
		s.Status.Conditions = kit.SetCondition(s.Status.Conditions, gardencorev1beta1.Condition{Type: "Ours", Status: "Progressing"}, g.clock.Now())
		s.Status.AdvertisedAddresses = append(s.Status.AdvertisedAddresses, gardencorev1beta1.ShootAdvertisedAddress{Name: "once"})
	})
	must(t, err)
	if got := g.live(t).Status.AdvertisedAddresses; len(got) != 1 {
		t.Errorf("A change that is made again begins with the status as it was: %v", got)
	}
	if diff := cmp.Diff(map[string]string{"Theirs": "False", "Late": "Unknown", "Ours": "Progressing"}, conditions(t, g)); diff != "" {
		t.Errorf("A change of conditions is made on the current object (-want +got):\n%s", diff)
	}
	if got := g.last(t).State; got != "Succeeded" {
		t.Errorf("state = %s, want Succeeded", got)
	}
	if diff := cmp.Diff([]string{"Normal Reconciling", "Normal Reconciled"}, g.reasons()); diff != "" {
		t.Errorf("The second writer reports it once (-want +got):\n%s", diff)
	}
}

func TestFailedWriteIsMadeUpFor(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	g.refuse = []error{errBoom}
	if err := run.Change(t.Context(), func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "t" }); err == nil {
		t.Error("a write that failed is an error")
	}
	must(t, run.Succeed(t.Context()))
	if got := g.live(t).Status.TechnicalID; got != "t" {
		t.Errorf("technicalID = %q: what could not be written is written with the next word", got)
	}
}

func TestUpdateIsRefusedIfSomebodyWasFaster(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	annotate := func(s *gardencorev1beta1.Shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, "a", "b") }
	judge(t, g.Client, g.key, "Theirs", "True")
	if err := run.Update(t.Context(), annotate); !kit.IsTransient(err) {
		t.Errorf("Update(...) = %v, want a lost race", err)
	}
	must(t, g.pass(t).Update(t.Context(), annotate))
	if got := g.live(t).Annotations["a"]; got != "b" {
		t.Errorf("annotation = %q", got)
	}
}

func TestManyWritersOfOneOperation(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	group := sync.WaitGroup{}
	for i := range 20 {
		group.Go(func() {
			err := run.Change(t.Context(), func(s *gardencorev1beta1.Shoot) {
				s.Status.AdvertisedAddresses = append(s.Status.AdvertisedAddresses, gardencorev1beta1.ShootAdvertisedAddress{Name: fmt.Sprint(i)})
			})
			if err != nil {
				t.Error(err)
			}
		})
		group.Go(func() { _ = run.Progress(t.Context(), flow.Progress{Total: 40, Succeeded: make([]flow.ID, i)}) })
		group.Go(func() { _, _ = run.Object(), run.State() })
	}
	group.Wait()
	if got := len(g.live(t).Status.AdvertisedAddresses); got != 20 {
		t.Errorf("%d of 20 changes arrived", got)
	}
}

func TestRunTellsTheJournal(t *testing.T) {
	t.Parallel()
	task := func(id flow.ID, after ...flow.ID) flow.Task {
		return flow.Task{ID: id, Title: "Working", After: after, Do: func(context.Context) error { return nil }}
	}
	graph, err := flow.Compile("f", task("dig"), task("water", "dig"))
	must(t, err)
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	must(t, run.Run(t.Context(), graph, 0))
	want := []string{"Shoot rose: nothing > Processing", "Shoot rose: task dig", "Shoot rose: task water"}
	if diff := cmp.Diff(want, g.diary.entries); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	g.Journal, g.Recorder = nil, nil
	run = g.pass(t)
	must(t, run.Run(t.Context(), graph, 0))
	must(t, run.Succeed(t.Context()))
}

func TestSeedsAreTriedForever(t *testing.T) {
	t.Parallel()
	g := newGround(t, operation.Seeds(), &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}})
	run := g.pass(t)
	must(t, run.Begin(t.Context(), operation.Start[*gardencorev1beta1.Seed]{Type: "Delete"}))
	g.clock.Step(24 * time.Hour)
	_, _ = run.Fail(t.Context(), operation.WithCodes(errBoom, gardencorev1beta1.ErrorCodeConfigurationProblem))
	if last := g.last(t); last.State != "Error" || last.Description != "Boom; the operation will be retried" {
		t.Errorf("lastOperation = %+v", last)
	}
	if diff := cmp.Diff([]string{"Normal Deleting", "Warning DeleteError"}, g.reasons()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestExtensionObjects(t *testing.T) {
	t.Parallel()
	object := &gardenextensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--rose", Name: "rose", Generation: 4}}
	g := newGround(t, operation.Extensions[*gardenextensionsv1alpha1.Network]("network"), object)
	progress := func() int32 { return g.last(t).Progress }
	run := g.pass(t)
	must(t, run.Begin(t.Context(), operation.Start[*gardenextensionsv1alpha1.Network]{Type: "Create"}))
	got := []int32{progress()}
	_, _ = run.Fail(t.Context(), kit.Wait(time.Second, "the agent is not ready"))
	got = append(got, progress())
	if n := g.live(t).Status.ObservedGeneration; n != 0 {
		t.Errorf("observedGeneration = %d before the end", n)
	}
	_, _ = run.Fail(t.Context(), operation.WithCodes(errBoom, gardencorev1beta1.ErrorCodeConfigurationProblem))
	got = append(got, progress())
	want := &gardencorev1beta1.LastError{Description: "Boom", Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}, LastUpdateTime: new(metav1.NewTime(time.Unix(1000, 0)))}
	if s := g.live(t).Status; !cmp.Equal(want, s.LastError) || s.LastOperation.State != "Error" || s.LastOperation.Description != "Boom" || s.ObservedGeneration != 4 {
		t.Errorf("status = %+v, lastError = %+v", s, s.LastError)
	}
	must(t, run.Begin(t.Context(), operation.Start[*gardenextensionsv1alpha1.Network]{Type: "Create"}))
	must(t, run.Succeed(t.Context()))
	got = append(got, progress())
	if diff := cmp.Diff([]int32{1, 50, 50, 100}, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if s := g.live(t).Status; s.LastError != nil || s.LastOperation.Description != "The extension object has been created" {
		t.Errorf("status = %+v", s)
	}
}
