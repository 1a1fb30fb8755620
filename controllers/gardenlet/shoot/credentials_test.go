// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func bySecretBinding(s *gardencorev1beta1.Shoot)      { s.Spec.SecretBindingName = new("b") }
func byCredentialsBinding(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName = new("b") }

func credentialsBinding(kind string) client.Object {
	return &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "garden-dev", Name: "b"},
		CredentialsRef: corev1.ObjectReference{Kind: kind, Namespace: "garden-dev", Name: "account"},
	}
}

func secretBinding() client.Object {
	return &gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "b"},
		SecretRef:  corev1.SecretReference{Namespace: "garden-dev", Name: "account"},
	}
}

func account() client.Object {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "account"}, Data: map[string][]byte{"user": []byte("me")}}
}

func identityAccount() client.Object {
	return &gardensecurityv1alpha1.WorkloadIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "account"},
		Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{TargetSystem: gardensecurityv1alpha1.TargetSystem{
			Type: "local", ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"role":"x"}`)},
		}},
	}
}

// mint lets the garden issue numbered tokens that are valid for as long as is asked, and returns who asked for what.
func (l *landscape) mint() *[]string {
	var asked []string
	garden, ok := l.GardenClient.(client.WithWatch)
	if !ok {
		panic("no client with watch")
	}
	l.GardenClient = interceptor.NewClient(garden, interceptor.Funcs{
		SubResourceCreate: func(_ context.Context, _ client.Client, name string, obj, body client.Object, _ ...client.SubResourceCreateOption) error {
			request, ok := body.(*gardensecurityv1alpha1.TokenRequest)
			if !ok || name != "token" {
				return fmt.Errorf("unexpected subresource %s with %T", name, body)
			}
			c := request.Spec.ContextObject
			asked = append(asked, fmt.Sprintf("%s/%s for %s %s/%s %s", obj.GetNamespace(), obj.GetName(), c.Kind, *c.Namespace, c.Name, c.UID))
			request.Status.Token = fmt.Sprintf("token-%d", len(asked))
			request.Status.ExpirationTimestamp = metav1.NewTime(l.Clock.Now().Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second))
			return nil
		},
	})
	return &asked
}

func (l *landscape) give(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *landscape) cloudProvider(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "cloudprovider"}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	internal := &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "account"}, Data: map[string][]byte{"user": []byte("hidden")}}
	cases := map[string]struct {
		reason  string
		binding func(*gardencorev1beta1.Shoot)
		objects []client.Object
		want    map[string][]byte
		err     string
	}{
		"SecretBinding":  {reason: "a Secret behind a SecretBinding", binding: bySecretBinding, objects: []client.Object{secretBinding(), account()}, want: map[string][]byte{"user": []byte("me")}},
		"Secret":         {reason: "a Secret behind a CredentialsBinding", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("Secret"), account()}, want: map[string][]byte{"user": []byte("me")}},
		"InternalSecret": {reason: "what users cannot read", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("InternalSecret"), internal}, want: map[string][]byte{"user": []byte("hidden")}},
		"Identity": {
			reason: "an identity gives its configuration and a token", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("WorkloadIdentity"), identityAccount()},
			want: map[string][]byte{"config": []byte(`{"role":"x"}`), "token": []byte("token-1")},
		},
		"NoSecretBinding": {reason: "it may be made later", binding: bySecretBinding, err: `get secret binding "garden-dev/b"`},
		"NoBinding":       {reason: "it may be made later", binding: byCredentialsBinding, err: `get credentials binding "garden-dev/b"`},
		"NoSecret":        {reason: "it may be made later", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("Secret")}, err: `Secret "garden-dev/account"`},
		"NoIdentity":      {reason: "it may be made later", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("WorkloadIdentity")}, err: `WorkloadIdentity "garden-dev/account"`},
		"OtherKind":       {reason: "other kinds are not credentials", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("ConfigMap")}, err: `of kind "ConfigMap"`},
		"None":            {reason: "a shoot with machines needs some", binding: func(*gardencorev1beta1.Shoot) {}, err: "set spec.credentialsBindingName"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fresh(withWorkers, tc.binding)
			l := newLandscape(t, s)
			l.mint()
			l.give(t, l.GardenClient, copies(tc.objects)...)
			err := shoot.RunTasks(t.Context(), l.Reconciler, s, "shoot--dev--a", "cloudprovider-secret")
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nerror %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, l.cloudProvider(t).Data); diff != "" {
				t.Errorf("%s\nSecret cloudprovider (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func copies(objects []client.Object) []client.Object {
	all := make([]client.Object, 0, len(objects))
	for _, object := range objects {
		if c, ok := object.DeepCopyObject().(client.Object); ok {
			all = append(all, c)
		}
	}
	return all
}

func TestTokenOfAnIdentityIsKept_GLET_TOK_2(t *testing.T) {
	t.Parallel()
	s := fresh(withWorkers, byCredentialsBinding)
	l := newLandscape(t, s)
	clock := testingclock.NewFakeClock(now())
	l.Clock = clock
	asked := l.mint()
	l.give(t, l.GardenClient, credentialsBinding("WorkloadIdentity"), identityAccount())
	deploy := func() *corev1.Secret {
		t.Helper()
		if err := shoot.RunTasks(t.Context(), l.Reconciler, s, "shoot--dev--a", "cloudprovider-secret"); err != nil {
			t.Fatal(err)
		}
		return l.cloudProvider(t)
	}
	first := deploy()
	want := map[string]string{
		"workloadidentity.security.gardener.cloud/namespace":      "garden-dev",
		"workloadidentity.security.gardener.cloud/name":           "account",
		"workloadidentity.security.gardener.cloud/context-object": `{"kind":"Shoot","apiVersion":"core.gardener.cloud/v1beta1","name":"a","namespace":"garden-dev","uid":"uid-1"}`,
	}
	for key, value := range want {
		if first.Annotations[key] != value {
			t.Errorf("annotation %s = %q, want %q", key, first.Annotations[key], value)
		}
	}
	labels := map[string]string{
		"gardener.cloud/purpose":                            "cloudprovider",
		"security.gardener.cloud/purpose":                   "workload-identity-token-requestor",
		"workloadidentity.security.gardener.cloud/provider": "local",
	}
	if diff := cmp.Diff(labels, first.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	clock.Step(2 * time.Hour)
	if got := string(deploy().Data["token"]); got != "token-1" {
		t.Errorf("In the first half of its life a token is kept, got %q", got)
	}
	clock.Step(90 * time.Minute)
	if got := string(deploy().Data["token"]); got != "token-2" {
		t.Errorf("After half of its life there is a new one, got %q", got)
	}
	if diff := cmp.Diff([]string{"garden-dev/account for Shoot garden-dev/a uid-1", "garden-dev/account for Shoot garden-dev/a uid-1"}, *asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestDeletionWithoutCredentials(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		binding func(*gardencorev1beta1.Shoot)
		objects []client.Object
	}{
		"NoSecretBinding": {reason: "the binding does not exist", binding: bySecretBinding},
		"NoBinding":       {reason: "the binding does not exist", binding: byCredentialsBinding},
		"NoSecret":        {reason: "the Secret does not exist", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("Secret")}},
		"NoIdentity":      {reason: "the identity does not exist", binding: byCredentialsBinding, objects: []client.Object{credentialsBinding("WorkloadIdentity")}},
		"None":            {reason: "it never named any", binding: func(*gardencorev1beta1.Shoot) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh(withWorkers, tc.binding, func(s *gardencorev1beta1.Shoot) {
				s.Finalizers = []string{"gardener"}
				s.Status.UID, s.Status.TechnicalID, s.Status.SeedName = "uid-1", "shoot--dev--a", new("eu-1")
			}))
			l.give(t, l.GardenClient, copies(tc.objects)...)
			l.give(t, l.SeedClient, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}},
				&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "cloudprovider"}, Data: map[string][]byte{"user": []byte("last")}})
			if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
				t.Fatal(err)
			}
			if _, err := l.pass(t.Context()); err != nil {
				t.Fatalf("%s\nReconcile(...) = %v, want the deletion to go on with the last known credentials", tc.reason, err)
			}
			if got := string(l.cloudProvider(t).Data["user"]); got != "last" {
				t.Errorf("%s\nThe last known credentials were replaced: %q", tc.reason, got)
			}
			err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, &gardencorev1beta1.Shoot{})
			if !apierrors.IsNotFound(err) {
				t.Errorf("%s\nThe shoot is still there: %v", tc.reason, err)
			}
		})
	}
}

func TestDeletionWaitsForAGardenThatAnswers(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(withWorkers, bySecretBinding, func(s *gardencorev1beta1.Shoot) {
		s.Finalizers = []string{"gardener"}
		s.Status.UID, s.Status.TechnicalID, s.Status.SeedName = "uid-1", "shoot--dev--a", new("eu-1")
	}))
	l.give(t, l.SeedClient, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}})
	down := apierrors.NewServiceUnavailable("the garden starts")
	garden, ok := l.GardenClient.(client.WithWatch)
	if !ok {
		t.Fatal("no client with watch")
	}
	l.GardenReader = interceptor.NewClient(garden, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, binding := obj.(*gardencorev1beta1.SecretBinding); binding {
				return down
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.pass(t.Context()); !errors.Is(err, down) {
		t.Errorf("Reconcile(...) = %v, want the error that passes: the credentials may have changed", err)
	}
}

func TestProfileOfTheProject(t *testing.T) {
	t.Parallel()
	own := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "own"}}
	own.Status.ObservedGeneration = 1
	own.Status.CloudProfileSpec.Type = "of the project"
	ofProject := func(s *gardencorev1beta1.Shoot) {
		s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
	}
	l := newLandscape(t, fresh(ofProject, annotated("shoot.gardener.cloud/ignore", "true"), func(s *gardencorev1beta1.Shoot) {
		s.Status.TechnicalID = "shoot--dev--a"
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}
	}))
	l.Config.RespectSyncPeriodOverwrite = new(true)
	l.give(t, l.GardenClient, own)
	if _, err := l.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := l.toldProfile(t); got.Kind != "CloudProfile" || got.Name != "own" || got.Spec.Type != "of the project" {
		t.Errorf("Extensions get the profile of the project as a cloud profile: %+v", got)
	}
}

func TestDeletionWithoutProfile(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) {
		s.Finalizers = []string{"gardener"}
		s.Status.UID, s.Status.TechnicalID, s.Status.SeedName = "uid-1", "shoot--dev--a", new("eu-1")
	}), "local")
	if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.pass(t.Context()); err != nil {
		t.Errorf("What is there can be removed without a profile.\nReconcile(...) = %v", err)
	}
	err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, &gardencorev1beta1.Shoot{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the shoot is still there: %v", err)
	}
}

func TestForbiddenIsMissing(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(withWorkers, bySecretBinding, func(s *gardencorev1beta1.Shoot) {
		s.Finalizers = []string{"gardener"}
		s.Status.UID, s.Status.TechnicalID, s.Status.SeedName = "uid-1", "shoot--dev--a", new("eu-1")
	}))
	l.give(t, l.SeedClient, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}})
	garden, ok := l.GardenClient.(client.WithWatch)
	if !ok {
		t.Fatal("no client with watch")
	}
	l.GardenReader = interceptor.NewClient(garden, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, binding := obj.(*gardencorev1beta1.SecretBinding); binding {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secretbindings"}, key.Name, errors.New("no relationship"))
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.pass(t.Context()); err != nil {
		t.Errorf("A seed may not ask for what nothing refers to any more.\nReconcile(...) = %v", err)
	}
}
