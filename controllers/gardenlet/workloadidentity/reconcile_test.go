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
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/workloadidentity"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// tokenSecret is a Secret whose token has to be renewed at a time; without a time it has no token.
func tokenSecret(t *testing.T, renewal string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "cloudprovider", UID: "mine"}}
	identity := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "account"}}
	identity.Spec.TargetSystem.Type = "local"
	if err := workloadidentity.Describe(secret, identity, gardensecurityv1alpha1.ContextObject{Kind: "Shoot", Namespace: new("garden-dev"), Name: "a", UID: "of-a"}); err != nil {
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
		// atLeast and atMost bound the time to the next renewal, until which it is looked at every ten minutes.
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
			if err != nil || result.RequeueAfter != min(tc.atLeast, 10*time.Minute) {
				t.Errorf("%s\nReconcile(...) = %v, %v, want a pass after %s", tc.reason, result, err, min(tc.atLeast, 10*time.Minute))
			}
			secret := &corev1.Secret{}
			if err := seed.Get(t.Context(), key().NamespacedName, secret); err != nil {
				t.Fatal(err)
			}
			issuer := workloadidentity.Issuer{Clock: r.Clock, Validity: r.Config.TokenExpirationDuration.Duration}
			if left := issuer.Due(secret); tc.atLeast > 0 && (left < tc.atLeast || left > tc.atMost) {
				t.Errorf("%s\nthe token is renewed after %s, want between %s and %s", tc.reason, left, tc.atLeast, tc.atMost)
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

// TestRenewalMeetsOthers has the Secret changed and deleted while the garden issues the token.
func TestRenewalMeetsOthers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		meanwhile func(ctx context.Context, seed client.Client, secret *corev1.Secret) error
		want      []string
	}{
		"Changed": {
			reason: "Another identity was chosen, which is not to be undone.",
			meanwhile: func(ctx context.Context, seed client.Client, secret *corev1.Secret) error {
				secret.Annotations["workloadidentity.security.gardener.cloud/name"], secret.Data["token"] = "other", []byte("others")
				return seed.Update(ctx, secret)
			},
			want: []string{"other others"},
		},
		"Deleted": {
			reason: "A Secret that is not wanted any more does not come back.",
			meanwhile: func(ctx context.Context, seed client.Client, secret *corev1.Secret) error {
				return seed.Delete(ctx, secret)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, seed := newReconciler(t, tokenSecret(t, "2026-03-01T12:00:00Z"), 6*time.Hour, nil)
			garden, _ := r.GardenClient.(client.WithWatch)
			r.GardenClient = interceptor.NewClient(garden, interceptor.Funcs{
				SubResourceCreate: func(ctx context.Context, _ client.Client, name string, obj, body client.Object, o ...client.SubResourceCreateOption) error {
					secret := &corev1.Secret{}
					if err := seed.Get(ctx, key().NamespacedName, secret); err != nil {
						return err
					}
					return errors.Join(tc.meanwhile(ctx, seed, secret), garden.SubResource(name).Create(ctx, obj, body, o...))
				},
			})
			r.SeedClient = likeServer(t, seed)
			result, err := r.Reconcile(t.Context(), key())
			if err != nil || result.RequeueAfter != time.Second {
				t.Errorf("%s\nReconcile(...) = %v, %v, want another pass soon", tc.reason, result, err)
			}
			list := &corev1.SecretList{}
			if err := seed.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, secret := range list.Items {
				got = append(got, secret.Annotations["workloadidentity.security.gardener.cloud/name"]+" "+string(secret.Data["token"]))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nidentities and tokens of Secrets (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// likeServer refuses, as a server does, an object with the UID of one that is gone. The fake client makes it anew.
func likeServer(t *testing.T, seed client.Client) client.Client {
	t.Helper()
	plain, _ := seed.(client.WithWatch)
	return interceptor.NewClient(plain, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, o ...client.ApplyOption) error {
			if err := c.Get(ctx, key().NamespacedName, &corev1.Secret{}); apierrors.IsNotFound(err) {
				sent, _ := json.Marshal(object)
				if strings.Contains(string(sent), `"uid":"mine"`) {
					return apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, key().Name, errors.New("uid mismatch"))
				}
			}
			return c.Apply(ctx, object, o...)
		},
	})
}

func key() reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shoot--dev--a", Name: "cloudprovider"}}
}

// cluster is that of the shoot a.
func cluster() *gardenextensionsv1alpha1.Cluster {
	c := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
	c.Spec.Shoot.Raw = []byte(`{"metadata":{"namespace":"garden-dev","name":"a","uid":"of-a"}}`)
	return c
}

// TestRefused: who may write a Secret somewhere in the seed chooses neither for whom the token is, nor where it goes.
func TestRefused(t *testing.T) {
	t.Parallel()
	type asked = gardensecurityv1alpha1.ContextObject
	for name, tc := range map[string]struct {
		reason, namespace string
		behalf            asked
		want              string
	}{
		"Mine":         {"the shoot of the namespace", "shoot--dev--a", asked{Kind: "Shoot", Namespace: new("garden-dev"), Name: "a", UID: "of-a"}, ""},
		"OtherShoot":   {"the shoot has another name", "shoot--dev--a", asked{Kind: "Shoot", Namespace: new("garden-dev"), Name: "b", UID: "of-a"}, `Shoot "garden-dev/a"`},
		"OtherProject": {"the shoot is in another project", "shoot--dev--a", asked{Kind: "Shoot", Namespace: new("garden-x"), Name: "a", UID: "of-a"}, `Shoot "garden-dev/a"`},
		"NoProject":    {"the shoot is in none", "shoot--dev--a", asked{Kind: "Shoot", Name: "a", UID: "of-a"}, `Shoot "garden-dev/a"`},
		"EarlierShoot": {"the shoot is one of an earlier life", "shoot--dev--a", asked{Kind: "Shoot", Namespace: new("garden-dev"), Name: "a", UID: "before"}, `Shoot "garden-dev/a"`},
		"SeedForShoot": {"the token of a seed is not for a shoot", "shoot--dev--a", asked{Kind: "Seed", Name: "one"}, `Shoot "garden-dev/a"`},
		"Extension":    {"the namespace is that of an extension", "extension-a", asked{Kind: "Shoot", Namespace: new("garden-dev"), Name: "a", UID: "of-a"}, "no shoot"},
		"Seed":         {"the seed itself", "garden", asked{Kind: "Seed", Name: "one"}, ""},
		"OtherSeed":    {"another seed", "garden", asked{Kind: "Seed", Name: "two"}, `Seed "one"`},
		"ShootForSeed": {"the token of a shoot is not for the seed", "garden", asked{Kind: "Shoot", Namespace: new("garden-dev"), Name: "a", UID: "of-a"}, `Seed "one"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := tokenSecret(t, "")
			secret.Namespace = tc.namespace
			behalf, err := json.Marshal(tc.behalf)
			if err != nil {
				t.Fatal(err)
			}
			secret.Annotations["workloadidentity.security.gardener.cloud/context-object"] = string(behalf)
			r, seed := newReconciler(t, secret, time.Hour, nil)
			_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(secret)})
			reason, _ := kit.UserReason(err)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || reason != "InvalidSecret") {
				t.Errorf("%s\nReconcile(...) = %v with reason %q, want an error with %q", tc.reason, err, reason, tc.want)
			}
			if err := seed.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil || (len(secret.Data["token"]) > 0) != (tc.want == "") {
				t.Errorf("%s\nthe Secret has the data %v, %v", tc.reason, secret.Data, err)
			}
		})
	}
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
	seed := fake.NewClientBuilder().WithScheme(types).WithObjects(secret, cluster()).Build()
	return &workloadidentity.Reconciler{
		SeedBase: kit.SeedBase{GardenClient: garden, SeedClient: seed, Clock: clock, SeedName: "one"},
		Config:   &gardenconfigv1alpha1.TokenRequestorWorkloadIdentityControllerConfiguration{TokenExpirationDuration: &metav1.Duration{Duration: 6 * time.Hour}},
	}, seed
}
