// SPDX-License-Identifier: Apache-2.0

package monitoring_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/monitoring"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const operation = "gardener.cloud/operation"

// stage is a garden with credentials and seeds.
type stage struct {
	client.Client

	controller *monitoring.Reconciler
	// refuse returns the error of a call, by its verb and the kind and name of its object.
	refuse func(call string) error
}

func staged(t *testing.T, objects ...client.Object) *stage {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{refuse: func(string) error { return nil }}
	ask := func(verb string, object client.Object, call func() error) error {
		kind := "secret"
		if _, is := object.(*gardencorev1beta1.Seed); is {
			kind = "seed"
		}
		if err := s.refuse(verb + " " + kind + " " + object.GetName()); err != nil {
			return err
		}
		return call()
	}
	s.Client = fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
			object.SetName(key.Name)
			return ask("get", object, func() error { return c.Get(ctx, key, object, o...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			kind := "secrets"
			if _, is := list.(*gardencorev1beta1.SeedList); is {
				kind = "seeds"
			}
			if err := s.refuse("list " + kind); err != nil {
				return err
			}
			return c.List(ctx, list, o...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.CreateOption) error {
			return ask("create", object, func() error { return c.Create(ctx, object, o...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.UpdateOption) error {
			return ask("update", object, func() error { return c.Update(ctx, object, o...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, p client.Patch, o ...client.PatchOption) error {
			return ask("patch", object, func() error { return c.Patch(ctx, object, p, o...) })
		},
	}).Build()
	clock := clocktesting.NewFakeClock(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))
	s.controller = &monitoring.Reconciler{Base: kit.Base{Client: s.Client, Reader: s.Client, Clock: clock}}
	return s
}

// pass has the controller look once, and returns when it wants to look again.
func (s *stage) pass(t *testing.T) time.Duration {
	t.Helper()
	result, err := s.controller.Reconcile(t.Context(), reconcile.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return result.RequeueAfter
}

func (s *stage) secret(t *testing.T, namespace, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// asked returns the operations that seeds are asked for.
func (s *stage) asked(t *testing.T) map[string]string {
	t.Helper()
	seeds := &gardencorev1beta1.SeedList{}
	if err := s.List(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for i := range seeds.Items {
		found[seeds.Items[i].Name] = seeds.Items[i].Annotations[operation]
	}
	return found
}

func check(t *testing.T, secret *corev1.Secret, user string) {
	t.Helper()
	password := secret.Data["password"]
	name, hash, _ := strings.Cut(string(secret.Data["auth"]), ":")
	err := bcrypt.CompareHashAndPassword([]byte(hash), password)
	if string(secret.Data["username"]) != user || name != user || len(password) != 32 || err != nil {
		t.Errorf("user %q, %q in the password file, with a password of %d characters: %v; want %q and 32 characters", secret.Data["username"], name, len(password), err, user)
	}
	if at := secret.Labels["last-rotation-initiation-time"]; at != "1777881600" {
		t.Errorf("the time of the rotation is %q, want that of the clock", at)
	}
}

// TestCreated_OPER_FLOW_19 begins with a garden that has no credentials.
func TestCreated_OPER_FLOW_19(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.pass(t)
	made := s.secret(t, "garden", "observability-ingress")
	check(t, made, "admin")
	s.pass(t)
	if diff := cmp.Diff(made, s.secret(t, "garden", "observability-ingress")); diff != "" {
		t.Errorf("they stay (-want +got):\n%s", diff)
	}
	others := credentials("mine", "")
	if err := s.Create(t.Context(), &others); err != nil {
		t.Fatal(err)
	}
	s.pass(t)
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(made), made); !apierrors.IsNotFound(err) {
		t.Errorf("when an operator has made others, those of the garden are still there: %v", err)
	}
}

// TestRotation_OPER_ROT_8 rotates the credentials of an operator, which the seeds use only after they have got them.
func TestRotation_OPER_ROT_8(t *testing.T) {
	t.Parallel()
	mine := credentials("mine", "rotate-observability-credentials")
	mine.Data = map[string][]byte{"username": []byte("watcher"), "password": []byte("old"), "more": []byte("kept")}
	seed := func(name string, change func(*gardencorev1beta1.Seed)) *gardencorev1beta1.Seed {
		s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name}}
		change(s)
		return s
	}
	s := staged(t, &mine, seed("eu", func(*gardencorev1beta1.Seed) {}),
		seed("busy", func(s *gardencorev1beta1.Seed) { s.Annotations = map[string]string{operation: "renew-kubeconfig"} }),
		seed("going", func(s *gardencorev1beta1.Seed) {
			s.DeletionTimestamp, s.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"gardener"}
		}))
	s.pass(t)
	fresh := s.secret(t, "garden", "mine")
	check(t, fresh, "watcher")
	if string(fresh.Data["password"]) == "old" || string(fresh.Data["more"]) != "kept" || fresh.Annotations[operation] != "reconcile" {
		t.Errorf("after the first pass: data %v, annotations %v, want another password and the same for the rest, and the next step", slices.Sorted(maps.Keys(fresh.Data)), fresh.Annotations)
	}

	before := map[string]string{"eu": "", "busy": "renew-kubeconfig", "going": ""}
	waits := func(reason string) {
		t.Helper()
		if again := s.pass(t); again != 2*time.Second {
			t.Errorf("%s: it looks again after %s, want 2 s", reason, again)
		}
		if diff := cmp.Diff(before, s.asked(t)); diff != "" {
			t.Errorf("%s: operations of seeds (-want +got):\n%s", reason, diff)
		}
	}
	waits("no seed has the credentials")
	for _, name := range []string{"eu", "busy"} {
		stale := mine.DeepCopy()
		stale.Namespace, stale.ResourceVersion = "seed-"+name, ""
		if err := s.Create(t.Context(), stale); err != nil {
			t.Fatal(err)
		}
	}
	waits("the seeds have the old ones")
	for _, name := range []string{"busy", "eu"} {
		have := s.secret(t, "seed-"+name, "mine")
		have.Data = fresh.Data
		if err := s.Update(t.Context(), have); err != nil {
			t.Fatal(err)
		}
		if name == "busy" {
			waits("one seed has the old ones")
		}
	}
	if again := s.pass(t); again != 0 {
		t.Errorf("at the end it looks again after %s", again)
	}
	if diff := cmp.Diff(map[string]string{"eu": "reconcile", "busy": "renew-kubeconfig", "going": ""}, s.asked(t)); diff != "" {
		t.Errorf("operations of seeds (-want +got):\n%s", diff)
	}
	end := s.secret(t, "garden", "mine")
	if diff := cmp.Diff(fresh.Data, end.Data); diff != "" || end.Annotations[operation] != "" {
		t.Errorf("at the end: annotations %v, want no operation; data (-want +got):\n%s", end.Annotations, diff)
	}
}

// TestInterrupted_OPER_ROT_8 has single calls fail: the pass fails too, and the next one goes on.
func TestInterrupted_OPER_ROT_8(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	gone := apierrors.NewNotFound(gardencorev1beta1.Resource("seeds"), "eu")
	for call, tc := range map[string]struct {
		operation string
		refusal   error
		fails     error
		// told is what the seed is asked for in the end.
		told string
	}{
		"list secrets":                        {refusal: boom, fails: boom},
		"create secret observability-ingress": {refusal: boom, fails: boom},
		"update secret mine":                  {operation: "rotate-observability-credentials", refusal: boom, fails: boom},
		"list seeds":                          {operation: "reconcile", refusal: boom, fails: boom, told: "reconcile"},
		"get secret mine":                     {operation: "reconcile", refusal: boom, fails: boom, told: "reconcile"},
		"patch seed eu":                       {operation: "reconcile", refusal: boom, fails: boom, told: "reconcile"},
		"patch seed eu ":                      {operation: "reconcile", refusal: gone},
		"patch secret mine":                   {operation: "reconcile", refusal: boom, fails: boom, told: "reconcile"},
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{&gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}}
			if tc.operation != "" {
				mine := credentials("mine", tc.operation)
				copied := mine.DeepCopy()
				copied.Namespace = "seed-eu"
				objects = append(objects, &mine, copied)
			}
			s := staged(t, objects...)
			asked := false
			s.refuse = func(is string) error {
				if is != strings.TrimSpace(call) {
					return nil
				}
				asked = true
				return tc.refusal
			}
			if _, err := s.controller.Reconcile(t.Context(), reconcile.Request{}); !errors.Is(err, tc.fails) || !asked {
				t.Errorf("Reconcile(...) = %v, want %v; the call was made: %t", err, tc.fails, asked)
			}
			s.refuse = func(string) error { return nil }
			if s.pass(t); tc.operation != "reconcile" {
				return
			}
			if got := s.secret(t, "garden", "mine").Annotations[operation]; got != "" || s.asked(t)["eu"] != tc.told {
				t.Errorf("in the end the seed is asked for %q, want %q, and the credentials for %q, want nothing", s.asked(t)["eu"], tc.told, got)
			}
		})
	}
}
