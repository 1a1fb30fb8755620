// SPDX-License-Identifier: Apache-2.0

package revocation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/revocation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// book says whether seed eu is shut out, and why; or that nobody knows yet.
type book struct {
	out     bool
	why     string
	unknown error
}

func (b book) Wait(context.Context) error { return b.unknown }

func (b book) Revoked(seed string) (reason string, is bool) { return b.why, b.out && seed == "eu" }

func (book) OnChange(func(string)) {}

// TestMark looks at a shoot once, whose seed is shut out or not.
func TestMark(t *testing.T) {
	t.Parallel()
	const out = `Seed "eu" is shut out of the garden, and what it could read may be known to others. The shoot is not reconciled.`
	errBoom := errors.New("boom")
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	trusted := func(status gardencorev1beta1.ConditionStatus, message string) gardencorev1beta1.Condition {
		return gardencorev1beta1.Condition{Type: "SeedTrusted", Status: status, Reason: "SeedRevoked", Message: message}
	}
	own := gardencorev1beta1.Condition{Type: "HibernationPossible", Status: "True"}
	for name, tc := range map[string]struct {
		reason  string
		book    book
		on      string
		have    []gardencorev1beta1.Condition
		list    error
		refusal error
		want    []gardencorev1beta1.Condition
		// writes is how often it is written, fails the error of the pass.
		writes int
		fails  error
	}{
		"out":       {reason: "it says so", book: book{out: true, why: "stolen"}, on: "eu", have: []gardencorev1beta1.Condition{own}, want: []gardencorev1beta1.Condition{own, trusted("False", out+" Reason: stolen")}, writes: 1},
		"no reason": {reason: "nobody has said why", book: book{out: true}, on: "eu", want: []gardencorev1beta1.Condition{trusted("False", out)}, writes: 1},
		"said":      {reason: "it says so already", book: book{out: true}, on: "eu", have: []gardencorev1beta1.Condition{trusted("False", out)}, want: []gardencorev1beta1.Condition{trusted("False", out)}},
		"why":       {reason: "another reason is another message", book: book{out: true, why: "lost"}, on: "eu", have: []gardencorev1beta1.Condition{trusted("False", out)}, want: []gardencorev1beta1.Condition{trusted("False", out+" Reason: lost")}, writes: 1},
		"wrong":     {reason: "what is wrong is set right", book: book{out: true}, on: "eu", have: []gardencorev1beta1.Condition{trusted("True", out)}, want: []gardencorev1beta1.Condition{trusted("False", out)}, writes: 1},
		"forgiven":  {reason: "only that goes", on: "eu", have: []gardencorev1beta1.Condition{own, trusted("False", out)}, want: []gardencorev1beta1.Condition{own}, writes: 1},
		"trusted":   {reason: "nothing is to say", on: "eu", have: []gardencorev1beta1.Condition{own}, want: []gardencorev1beta1.Condition{own}},
		"leaves":    {reason: "a shoot that moves away is that of the other seed", book: book{out: true}, on: "us", have: []gardencorev1beta1.Condition{trusted("False", out)}, want: []gardencorev1beta1.Condition{trusted("False", out)}},
		"nowhere":   {reason: "nor is one that is on none", book: book{out: true}},
		"unknown":   {reason: "it is not known yet", book: book{out: true, unknown: errBoom}, on: "eu", fails: errBoom},
		"unlisted":  {reason: "nor are the shoots", book: book{out: true}, on: "eu", list: errBoom, fails: errBoom},
		"gone":      {reason: "a shoot that is gone needs no mark", book: book{out: true}, on: "eu", refusal: apierrors.NewNotFound(gardencorev1beta1.Resource("shoots"), "a"), writes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}
			if shoot.Status.SeedName, shoot.Status.Constraints = new("eu"), tc.have; tc.on != "" {
				shoot.Spec.SeedName = &tc.on
			}
			writes := 0
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(shoot).WithStatusSubresource(shoot).
				WithIndex(shoot, hosted.Field, func(object client.Object) []string { return hosted.Seeds(object.(*gardencorev1beta1.Shoot)) }).
				WithInterceptorFuncs(interceptor.Funcs{
					List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
						if tc.list != nil {
							return tc.list
						}
						return c.List(ctx, list, o...)
					},
					SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, p client.Patch, o ...client.SubResourcePatchOption) error {
						if writes++; tc.refusal != nil {
							return tc.refusal
						}
						return c.SubResource(name).Patch(ctx, object, p, o...)
					},
				}).Build()
			r := &revocation.Reconciler{Base: kit.Base{Client: c, Clock: clocktesting.NewFakeClock(now)}, Records: tc.book}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "eu"}}); !errors.Is(err, tc.fails) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, tc.fails)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
				t.Fatal(err)
			}
			for i := range shoot.Status.Constraints {
				shoot.Status.Constraints[i].LastTransitionTime, shoot.Status.Constraints[i].LastUpdateTime = metav1.Time{}, metav1.Time{}
			}
			if diff := cmp.Diff(tc.want, shoot.Status.Constraints); diff != "" || writes != tc.writes {
				t.Errorf("%s\n%d writes, want %d; constraints (-want +got):\n%s", tc.reason, writes, tc.writes, diff)
			}
		})
	}
}
