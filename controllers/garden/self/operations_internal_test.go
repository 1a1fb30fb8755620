// SPDX-License-Identifier: Apache-2.0

package self

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// of returns the controller of a Garden that describes a server with which nothing is wrong, apart from the changes.
func of(t *testing.T, change func(*Server)) *Reconciler {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	own := &garden{ObjectMeta: metav1.ObjectMeta{Name: "garden", Generation: 1}}
	own.Spec.VirtualCluster.Gardener.ClusterIdentity = "here"
	c := fake.NewClientBuilder().WithScheme(types).WithObjects(own).WithStatusSubresource(own).Build()
	r := &Reconciler{Base: kit.Base{Client: c, Reader: c, Clock: clock.RealClock{}}, Server: Server{
		Identity:  "here",
		Settled:   func() bool { return true },
		Describe:  func(present *spec) *spec { return present },
		Apply:     func(context.Context, *spec, bool) error { return nil },
		Report:    func(*gardenoperatorv1alpha1.GardenStatus) error { return nil },
		Rotations: func(context.Context) (Rotations, error) { return Rotations{}, nil },
		Health:    func(context.Context) ([]gardencorev1beta1.Condition, error) { return nil, nil },
		Operate:   func(context.Context, string) error { return nil },
	}}
	change(&r.Server)

	return r
}

// pass has the controller look once, after somebody has asked for operations unless ask is empty, and returns what the Garden tells.
func (r *Reconciler) pass(t *testing.T, ask string) *garden {
	t.Helper()
	own := &garden{}
	read := func() {
		t.Helper()
		if err := r.Client.Get(t.Context(), client.ObjectKey{Name: "garden"}, own); err != nil {
			t.Fatal(err)
		}
	}
	if read(); ask != "" {
		metav1.SetMetaDataAnnotation(&own.ObjectMeta, "gardener.cloud/operation", ask)
		if err := r.Client.Update(t.Context(), own); err != nil {
			t.Fatal(err)
		}
	}
	// A failure is told in the status.
	_, _ = r.Reconcile(t.Context(), reconcile.Request{})
	read()

	return own
}

// TestRefusedBesideFailing_OPER_REC_4 asks for an operation that is refused and for one that fails and is tried again: nobody who asks for
// both learns of the one alone.
func TestRefusedBesideFailing_OPER_REC_4(t *testing.T) {
	t.Parallel()
	const refused, failing = "rotate-ca-complete", "rotate-serviceaccount-key-start"
	failure := errors.New("the disk is full")
	var unknown error
	r := of(t, func(s *Server) {
		s.Operate = func(_ context.Context, name string) error {
			return map[string]error{refused: kit.UserMustFix("OperationRefused", errors.New("not before tomorrow")), failing: failure}[name]
		}
		s.Rotations = func(context.Context) (Rotations, error) { return Rotations{}, unknown }
	})
	type told struct{ State, Description, Asked string }
	const both = refused + ": not before tomorrow\n" + failing + ": the disk is full. The server tries again."
	for _, step := range []struct {
		reason, ask string
		prepare     func()
		want        told
	}{
		{reason: "both are told", ask: refused + ";" + failing, want: told{"Error", both, refused + ";" + failing}},
		{reason: "also when it is tried again", want: told{"Error", both, refused + ";" + failing}},
		{
			reason: "what is done is not tried again for something else that fails", prepare: func() { failure, unknown = nil, errors.New("no key") },
			want: told{"Error", refused + ": not before tomorrow\nno key. The server tries again.", refused},
		},
		{
			reason: "the refusal is left, and nobody asks any more", prepare: func() { unknown = nil },
			want: told{State: "Failed", Description: refused + ": not before tomorrow"},
		},
		{reason: "it stays", want: told{State: "Failed", Description: refused + ": not before tomorrow"}},
		{reason: "until somebody asks for something else", ask: "reconcile", want: told{State: "Succeeded", Description: description}},
	} {
		if step.prepare != nil {
			step.prepare()
		}
		own := r.pass(t, step.ask)
		got := told{string(own.Status.LastOperation.State), own.Status.LastOperation.Description, own.Annotations["gardener.cloud/operation"]}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestCovered_OPER_ROT_4 asks for all credentials and for single ones: these are not rotated once more.
func TestCovered_OPER_ROT_4(t *testing.T) {
	t.Parallel()
	const asked = "rotate-observability-credentials;rotate-credentials-start;rotate-ca-start;reconcile"
	failure := errors.New("the disk is full")
	var done []string
	r := of(t, func(s *Server) {
		s.Operate = func(_ context.Context, name string) error {
			done = append(done, name)

			return failure
		}
	})
	if left := r.pass(t, asked).Annotations["gardener.cloud/operation"]; left != asked {
		t.Errorf("what has failed is asked for again: got %q", left)
	}
	failure = nil
	if left := r.pass(t, "").Annotations["gardener.cloud/operation"]; left != "" {
		t.Errorf("when all credentials are rotated, %q is left", left)
	}
	if diff := cmp.Diff([]string{"rotate-credentials-start", "rotate-credentials-start", "reconcile"}, done); diff != "" {
		t.Errorf("operations that were carried out (-want +got):\n%s", diff)
	}
}

// TestCoveredByRefused_OPER_ROT_4 asks for all credentials and for single ones, and all of them together are refused: a single one that can be
// rotated is, and one that cannot is told too. While something else fails, what was refused is tried again, and what was done is not.
func TestCoveredByRefused_OPER_ROT_4(t *testing.T) {
	t.Parallel()
	const all, allowed, refused = "rotate-credentials-start", "rotate-ca-start", "rotate-serviceaccount-key-start"
	no, unknown := kit.UserMustFix("OperationRefused", errors.New("not before tomorrow")), errors.New("no key")
	var done []string
	r := of(t, func(s *Server) {
		s.Operate = func(_ context.Context, name string) error {
			done = append(done, name)

			return map[string]error{all: no, refused: no}[name]
		}
		s.Rotations = func(context.Context) (Rotations, error) { return Rotations{}, unknown }
	})
	if left := r.pass(t, allowed+";"+all+";"+refused).Annotations["gardener.cloud/operation"]; left != all+";"+refused {
		t.Errorf("beside something else that fails, what was refused stays in the annotation: got %q", left)
	}
	unknown = nil
	own := r.pass(t, "")
	if diff := cmp.Diff([]string{all, allowed, refused, all, refused}, done); diff != "" {
		t.Errorf("operations that were tried (-want +got):\n%s", diff)
	}
	want := all + ": not before tomorrow\n" + refused + ": not before tomorrow"
	if got := own.Status.LastOperation.Description; got != want || own.Annotations["gardener.cloud/operation"] != "" {
		t.Errorf("last operation %q, annotations %v, want %q and no operation", got, own.Annotations, want)
	}
}

// TestPartlyExamined_OPER_CARE_1 cannot examine all of the server: what is known is told.
func TestPartlyExamined_OPER_CARE_1(t *testing.T) {
	t.Parallel()
	const api, runtime = gardenoperatorv1alpha1.ConditionTypeVirtualGardenAPIServerAvailable, gardenoperatorv1alpha1.ConditionTypeRuntimeComponentsHealthy
	health := []gardencorev1beta1.Condition{{Type: api, Status: "True"}, {Type: runtime, Status: "True"}}
	var unknown error
	r := of(t, func(s *Server) {
		s.Health = func(context.Context) ([]gardencorev1beta1.Condition, error) { return health, unknown }
	})
	r.pass(t, "")
	health, unknown = []gardencorev1beta1.Condition{{Type: api, Status: "False"}}, errors.New("no objects")
	own := r.pass(t, "")
	got := map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{}
	for _, c := range own.Status.Conditions {
		got[c.Type] = c.Status
	}
	if diff := cmp.Diff(map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{api: "False", runtime: "True"}, got); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	want := "examine the server: no objects. The server tries again."
	if last := own.Status.LastOperation; last.State != gardencorev1beta1.LastOperationStateError || last.Description != want {
		t.Errorf("last operation %+v, want an error: %s", last, want)
	}
}
