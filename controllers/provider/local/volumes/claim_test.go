// SPDX-License-Identifier: Apache-2.0

package volumes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumes"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func class(name string, age time.Duration, isDefault string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(now().Add(-age)),
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": isDefault},
		},
		VolumeBindingMode: &mode,
	}
}

func now() time.Time { return time.Unix(1_000_000, 0) }

// TestEnsure: there is a claim only where its class can bind it before there is a machine.
func TestEnsure(t *testing.T) {
	t.Parallel()
	const immediate, late = storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer
	for name, tc := range map[string]struct {
		reason  string
		classes []client.Object
		want    string
	}{
		"None":       {reason: "without a class all is as it was"},
		"NoDefault":  {reason: "a class that nobody made the default is for others", classes: []client.Object{class("a", 0, "false", immediate)}},
		"Late":       {reason: "a class that waits for a pod would pin the machines to its node", classes: []client.Object{class("a", 0, "true", late)}},
		"Default":    {reason: "the claim is of the default class", classes: []client.Object{class("a", 0, "", immediate), class("b", 0, "true", immediate)}, want: "b"},
		"Youngest":   {reason: "of several, the API server takes the youngest", classes: []client.Object{class("a", 2*time.Second, "true", immediate), class("b", time.Second, "true", immediate), class("c", 3*time.Second, "true", immediate)}, want: "b"},
		"YoungestIs": {reason: "even if an older one would do", classes: []client.Object{class("a", 2*time.Second, "true", immediate), class("b", 0, "true", late)}},
		"SameAge":    {reason: "or the first by name", classes: []client.Object{class("b", 0, "true", immediate), class("a", 0, "true", immediate)}, want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := cloud.Cloud{Client: cloudtest.Cluster(t, "seed", tc.classes...), Namespace: cloudtest.Namespace}
			if err := volumes.Ensure(t.Context(), in, now()); err != nil {
				t.Fatal(err)
			}
			list := &corev1.PersistentVolumeClaimList{}
			if err := in.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			var want, got []string
			if tc.want != "" {
				want = []string{cloudtest.Namespace + "/" + tc.want}
			}
			for i := range list.Items {
				got = append(got, list.Items[i].Namespace+"/"+*list.Items[i].Spec.StorageClassName)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nclasses of the claims (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBinding: machines wait for the claim, but not for ever, and never have one that is not bound.
func TestBinding(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		age    time.Duration
		phase  corev1.PersistentVolumeClaimPhase
		ends   bool
		waits  bool
		mounts string
	}{
		"Young":  {reason: "it will be bound soon", phase: corev1.ClaimPending, waits: true},
		"Old":    {reason: "the class has no volume with several writers", age: time.Minute, phase: corev1.ClaimPending},
		"Bound":  {reason: "machines have it", phase: corev1.ClaimBound, mounts: "machine-volumes"},
		"Lost":   {reason: "a machine with it would not start", age: time.Minute, phase: corev1.ClaimLost},
		"Ending": {reason: "neither would one with a claim that goes", age: time.Minute, phase: corev1.ClaimBound, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			claim := volumes.Claim(cloudtest.Namespace, "a")
			claim.CreationTimestamp, claim.Status.Phase = metav1.NewTime(now().Add(-tc.age)), tc.phase
			if tc.ends {
				claim.DeletionTimestamp, claim.Finalizers = new(metav1.NewTime(now())), []string{"kubernetes.io/pvc-protection"}
			}
			in := cloud.Cloud{Client: cloudtest.Cluster(t, "seed", claim), Namespace: cloudtest.Namespace}
			err := volumes.Ensure(t.Context(), in, now())
			if _, waits := kit.WaitReason(err); waits != tc.waits || (err != nil && !waits) {
				t.Errorf("%s\nEnsure(...) = %v", tc.reason, err)
			}
			if got, err := volumes.Mounted(t.Context(), in); got != tc.mounts || err != nil {
				t.Errorf("%s\nMounted(...) = %q, %v", tc.reason, got, err)
			}
		})
	}
}

// TestRefused: the user of another cluster may have no right to claims. The seed always gives it.
func TestRefused(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", nil)
	refusing := func(t *testing.T, what string) client.Client {
		t.Helper()
		inner, _ := cloudtest.Cluster(t, "other", class("a", 0, "true", storagev1.VolumeBindingImmediate)).(client.WithWatch)
		return interceptor.NewClient(inner, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
				if what == "get" {
					return forbidden
				}
				return c.Get(ctx, key, o, options...)
			},
			List: func(ctx context.Context, c client.WithWatch, o client.ObjectList, options ...client.ListOption) error {
				if what == "list" {
					return forbidden
				}
				return c.List(ctx, o, options...)
			},
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
				if what == "create" {
					return forbidden
				}
				return c.Create(ctx, o, options...)
			},
		})
	}
	for _, what := range []string{"get", "list", "create"} {
		for place, wanted := range map[string]string{"uid": "", "": "forbidden"} {
			t.Run(what+place, func(t *testing.T) {
				t.Parallel()
				in := cloud.Cloud{Client: refusing(t, what), Namespace: cloudtest.Namespace, Place: place}
				err := volumes.Ensure(t.Context(), in, now())
				if _, waits := kit.WaitReason(err); waits {
					t.Errorf("somebody waits: %v", err)
				}
				if (err == nil) != (wanted == "") || (err != nil && !strings.Contains(err.Error(), wanted)) {
					t.Errorf("Ensure(...) = %v, want %q", err, wanted)
				}
			})
		}
	}
}

func TestOffer(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "objects.yaml", volumes.Render("terrarium.garden/seedling:v1.36.3"))
	for phase, want := range map[corev1.PersistentVolumeClaimPhase]bool{corev1.ClaimPending: false, corev1.ClaimBound: true} {
		claim := volumes.Claim(cloudtest.Namespace, "a")
		claim.Status.Phase = phase
		objects, err := volumes.Offer(t.Context(), cloud.InSeed(cloudtest.Cluster(t, "seed", claim)), cloudtest.Namespace, "image")
		if err != nil || (len(objects) > 0) != want {
			t.Errorf("with a claim that is %s, the shoot gets %d objects, %v", phase, len(objects), err)
		}
	}
}
