// SPDX-License-Identifier: Apache-2.0

package workloadidentity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/workloadidentity"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// tokenSecret is a Secret whose token has to be renewed at a time; without a time it has no token.
func tokenSecret(t *testing.T, renewal string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "cloudprovider"}}
	identity := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "account"}}
	identity.Spec.TargetSystem.Type = "local"
	if err := workloadidentity.Describe(secret, identity, gardensecurityv1alpha1.ContextObject{Kind: "Shoot", Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if renewal != "" {
		secret.Annotations["workloadidentity.security.gardener.cloud/token-renew-timestamp"] = renewal
		secret.Data["token"] = []byte("old")
	}
	return secret
}

func TestRenewal_GLET_TOK_2(t *testing.T) {
	t.Parallel()
	const life = 6 * time.Hour
	cases := map[string]struct {
		reason string
		secret func(t *testing.T) *corev1.Secret
		valid  time.Duration
		token  string
		// atLeast and atMost bound the time to the next pass.
		atLeast, atMost time.Duration
	}{
		"Fresh": {
			reason: "it is not time yet", token: "old", atLeast: time.Hour, atMost: time.Hour,
			secret: func(t *testing.T) *corev1.Secret { t.Helper(); return tokenSecret(t, "2026-03-01T13:00:00Z") },
		},
		"Due": {
			reason: "after half of its life, a little later at most", token: "new", valid: life, atLeast: 3*time.Hour - time.Second, atMost: 3*time.Hour + 9*time.Minute,
			secret: func(t *testing.T) *corev1.Secret { t.Helper(); return tokenSecret(t, "2026-03-01T12:00:00Z") },
		},
		"None": {
			reason: "a Secret without a token gets one", token: "new", valid: life, atLeast: 3*time.Hour - time.Second, atMost: 3*time.Hour + 9*time.Minute,
			secret: func(t *testing.T) *corev1.Secret { t.Helper(); return tokenSecret(t, "") },
		},
		"Unreadable": {
			reason: "its age is unknown", token: "new", valid: life, atLeast: 3*time.Hour - time.Second, atMost: 3*time.Hour + 9*time.Minute,
			secret: func(t *testing.T) *corev1.Secret { t.Helper(); return tokenSecret(t, "tomorrow") },
		},
		"Long": {
			reason: "a day is the longest", token: "new", valid: 96 * time.Hour, atLeast: 24*time.Hour - time.Second, atMost: 24*time.Hour + 72*time.Minute,
			secret: func(t *testing.T) *corev1.Secret { t.Helper(); return tokenSecret(t, "") },
		},
		"Other": {
			reason: "a Secret without the label is left alone", token: "old",
			secret: func(t *testing.T) *corev1.Secret {
				t.Helper()
				secret := tokenSecret(t, "2026-03-01T12:00:00Z")
				delete(secret.Labels, "security.gardener.cloud/purpose")
				return secret
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, seed := newReconciler(t, tc.secret(t), tc.valid, nil)
			result, err := r.Reconcile(t.Context(), key())
			if err != nil || result.RequeueAfter < tc.atLeast || result.RequeueAfter > tc.atMost {
				t.Errorf("%s\nReconcile(...) = %v, %v, want a pass between %s and %s from now", tc.reason, result, err, tc.atLeast, tc.atMost)
			}
			secret := &corev1.Secret{}
			if err := seed.Get(t.Context(), key().NamespacedName, secret); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string][]byte{"token": []byte(tc.token)}, secret.Data); diff != "" {
				t.Errorf("%s\ndata of the Secret (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefusedRenewalKeepsTheToken(t *testing.T) {
	t.Parallel()
	r, seed := newReconciler(t, tokenSecret(t, "2026-03-01T12:00:00Z"), 0, errors.New("the garden is away"))
	if _, err := r.Reconcile(t.Context(), key()); err == nil || !strings.Contains(err.Error(), `workload identity "garden-dev/account": the garden is away`) {
		t.Errorf("Reconcile(...) = %v, want an error that is tried again and names the identity", err)
	}
	secret := &corev1.Secret{}
	if err := seed.Get(t.Context(), key().NamespacedName, secret); err != nil {
		t.Fatal(err)
	}
	want := tokenSecret(t, "2026-03-01T12:00:00Z")
	if diff := cmp.Diff(want, secret, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion")); diff != "" {
		t.Errorf("A token that is valid for hours to come stays (-want +got):\n%s", diff)
	}
}

// TestSecretThatChangesMeanwhile: what happens to the Secret while the garden is asked for a token stays as it is, and another pass follows.
func TestSecretThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	const identity = "workloadidentity.security.gardener.cloud/name"
	gone := apierrors.NewNotFound(corev1.Resource("secrets"), "cloudprovider")
	for name, tc := range map[string]struct {
		reason string
		change func(ctx context.Context, seed client.Client, secret *corev1.Secret) error
		// missing is what the API server answers for the UID of an object that is gone.
		missing error
		want    string
	}{
		"Described": {
			reason: "a newer description is not overwritten", want: "another",
			change: func(ctx context.Context, seed client.Client, secret *corev1.Secret) error {
				secret.Annotations[identity] = "another"
				return seed.Update(ctx, secret)
			},
		},
		"Deleted": {
			reason: "a deleted Secret does not come back", missing: apierrors.NewConflict(corev1.Resource("secrets"), "cloudprovider", errors.New("uid mismatch")),
			change: func(ctx context.Context, seed client.Client, secret *corev1.Secret) error {
				return seed.Delete(ctx, secret)
			},
		},
		"NotFound": {
			reason: "whatever the server says", missing: gone,
			change: func(ctx context.Context, seed client.Client, secret *corev1.Secret) error {
				return seed.Delete(ctx, secret)
			},
		},
		"Replaced": {
			reason: "another Secret of that name is not overwritten", want: "another",
			change: func(ctx context.Context, seed client.Client, secret *corev1.Secret) error {
				other := secret.DeepCopy()
				other.UID, other.ResourceVersion, other.Annotations[identity] = "other", "", "another"
				return errors.Join(seed.Delete(ctx, secret), seed.Create(ctx, other))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := tokenSecret(t, "2026-03-01T12:00:00Z")
			secret.UID = "this"
			r, seed := newReconciler(t, secret, 6*time.Hour, nil)
			r.GardenClient = meanwhile(t, r.GardenClient, func(ctx context.Context) error {
				live := &corev1.Secret{}
				return errors.Join(seed.Get(ctx, key().NamespacedName, live), tc.change(ctx, seed, live))
			})
			r.SeedClient = strict(t, seed, tc.missing)
			if result, err := r.Reconcile(t.Context(), key()); err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Second {
				t.Errorf("%s\nReconcile(...) = %v, %v, want another pass soon", tc.reason, result, err)
			}
			left := &corev1.Secret{}
			if err := seed.Get(t.Context(), key().NamespacedName, left); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, left.Annotations[identity]); diff != "" || string(left.Data["token"]) == "new" {
				t.Errorf("%s\nidentity of the Secret (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// meanwhile is a garden during whose answer something happens.
func meanwhile(t *testing.T, garden client.Client, happens func(ctx context.Context) error) client.Client {
	t.Helper()
	return interceptor.NewClient(watching(t, garden), interceptor.Funcs{
		SubResourceCreate: func(ctx context.Context, c client.Client, name string, obj, body client.Object, options ...client.SubResourceCreateOption) error {
			return errors.Join(happens(ctx), c.SubResource(name).Create(ctx, obj, body, options...))
		},
	})
}

// strict is a seed that, as an API server and unlike the fake client, makes no object out of the description of one with a UID.
func strict(t *testing.T, seed client.Client, missing error) client.Client {
	t.Helper()
	return interceptor.NewClient(watching(t, seed), interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			data, err := json.Marshal(obj)
			if err != nil {
				return err
			}
			sent := &corev1.Secret{}
			if err := json.Unmarshal(data, sent); err != nil {
				return err
			}
			if err := c.Get(ctx, client.ObjectKeyFromObject(sent), &corev1.Secret{}); apierrors.IsNotFound(err) && sent.UID != "" {
				return missing
			}
			return c.Apply(ctx, obj, options...)
		},
	})
}

func watching(t *testing.T, c client.Client) client.WithWatch {
	t.Helper()
	w, ok := c.(client.WithWatch)
	if !ok {
		t.Fatalf("%T cannot be intercepted", c)
	}
	return w
}

func key() reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shoot--dev--a", Name: "cloudprovider"}}
}

func newReconciler(t *testing.T, secret *corev1.Secret, valid time.Duration, refusal error) (*workloadidentity.Reconciler, client.Client) {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakeClock(start())
	garden := fake.NewClientBuilder().WithScheme(types).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceCreate: func(_ context.Context, _ client.Client, name string, obj, body client.Object, _ ...client.SubResourceCreateOption) error {
			if refusal != nil {
				return refusal
			}
			request, ok := body.(*gardensecurityv1alpha1.TokenRequest)
			if !ok || name != "token" || obj.GetNamespace()+"/"+obj.GetName() != "garden-dev/account" {
				return fmt.Errorf("unexpected request %s of %T", name, body)
			}
			request.Status.Token = "new"
			request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(valid))
			return nil
		},
	}).Build()
	seed := fake.NewClientBuilder().WithScheme(types).WithObjects(secret).Build()
	return &workloadidentity.Reconciler{
		SeedBase: kit.SeedBase{GardenClient: garden, SeedClient: seed, Clock: clock},
		Config:   &gardenconfigv1alpha1.TokenRequestorWorkloadIdentityControllerConfiguration{TokenExpirationDuration: &metav1.Duration{Duration: 6 * time.Hour}},
	}, seed
}
