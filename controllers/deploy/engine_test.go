// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// cluster is an engine on a client that records every write.
type cluster struct {
	deploy.Engine

	writes []string
	// refuse answers a write of that line with an error.
	refuse string
}

func newCluster(t *testing.T, objs ...client.Object) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	record := func(verb, kind, name string) error {
		line := fmt.Sprintf("%s %s %s", verb, kind, name)
		c.writes = append(c.writes, line)
		if line == c.refuse {
			return apierrors.NewInternalError(fmt.Errorf("no space left on device"))
		}
		return nil
	}
	c.Engine = deploy.Engine{
		Owner: "test",
		Clock: clock.RealClock{},
		Client: fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(objs...).WithInterceptorFuncs(interceptor.Funcs{
			Apply: func(ctx context.Context, w client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				u := obj.(interface {
					GetKind() string
					GetName() string
				})
				if err := record("apply", u.GetKind(), u.GetName()); err != nil {
					return err
				}
				return w.Apply(ctx, obj, opts...)
			},
			Delete: func(ctx context.Context, w client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
				if err := record("delete", obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName()); err != nil {
					return err
				}
				return w.Delete(ctx, obj, opts...)
			},
		}).Build(),
	}
	return c
}

func inNamespace(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name}
}

func TestApplyPutsEachObjectAfterWhatItNeeds(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	custom := &unstructured.Unstructured{}
	custom.SetAPIVersion("v1")
	custom.SetKind("Endpoints") // stands for a kind that no rule names
	custom.SetNamespace("shoot--dev--a")
	custom.SetName("x")
	err := c.Apply(t.Context(),
		&appsv1.Deployment{ObjectMeta: inNamespace("kube-apiserver"), Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{}}},
		custom,
		&rbacv1.RoleBinding{ObjectMeta: inNamespace("reader")},
		&corev1.Service{ObjectMeta: inNamespace("kube-apiserver")},
		&rbacv1.Role{ObjectMeta: inNamespace("reader")},
		&corev1.ConfigMap{ObjectMeta: inNamespace("b")},
		&corev1.Secret{ObjectMeta: inNamespace("a")},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}},
	)
	if err != nil {
		t.Fatalf("Apply(...) returned %v", err)
	}
	want := []string{
		"apply Namespace shoot--dev--a", "apply ConfigMap b", "apply Secret a", "apply Role reader", "apply RoleBinding reader",
		"apply Service kube-apiserver", "apply Endpoints x", "apply Deployment kube-apiserver",
	}
	if diff := cmp.Diff(want, c.writes); diff != "" {
		t.Errorf("order of writes (-want +got):\n%s", diff)
	}
}

func TestApplyTakesFieldsOverAndLeavesForeignOnesAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, &corev1.ConfigMap{ObjectMeta: inNamespace("settings"), Data: map[string]string{"ours": "old", "theirs": "kept"}})
	if err := c.Apply(t.Context(), &corev1.ConfigMap{ObjectMeta: inNamespace("settings"), Data: map[string]string{"ours": "new"}}); err != nil {
		t.Fatalf("Apply(...) returned %v", err)
	}
	got := &corev1.ConfigMap{}
	if err := c.Client.Get(t.Context(), types.NamespacedName{Namespace: "shoot--dev--a", Name: "settings"}, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"ours": "new", "theirs": "kept"}, got.Data); diff != "" {
		t.Errorf("data after Apply (-want +got):\n%s", diff)
	}
}

func TestApplyNamesTheObjectThatFailed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.refuse = "apply ConfigMap settings"
	err := c.Apply(t.Context(), &corev1.ConfigMap{ObjectMeta: inNamespace("settings")})
	if want := `apply ConfigMap "shoot--dev--a/settings": `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Apply(...) = %v, want an error that starts with %s", err, want)
	}
	if !apierrors.IsInternalError(err) {
		t.Errorf("the server's answer is lost: %v", err)
	}
}

func TestApplyTellsOfFieldsThatNeverChange(t *testing.T) {
	t.Parallel()
	spec := field.NewPath("spec")
	cases := map[string]struct {
		reason string
		answer *field.Error
		want   bool
	}{
		"StatefulSet": {
			reason: "a server lists what may change and forbids the rest", want: true,
			answer: field.Forbidden(spec, "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy' are forbidden"),
		},
		"Selector":  {reason: "a field that is named", answer: field.Invalid(spec.Child("selector"), "x", "field is immutable"), want: true},
		"Secret":    {reason: "an object that was declared immutable", answer: field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set"), want: true},
		"Pod":       {reason: "pods say it in their own way", answer: field.Forbidden(spec, "pod updates may not change fields other than `spec.containers[*].image`"), want: true},
		"Wrong":     {reason: "a value that is wrong by itself can be mended", answer: field.Invalid(spec.Child("replicas"), -1, "must be greater than or equal to 0")},
		"Forbidden": {reason: "so can a field that must not be set", answer: field.Forbidden(spec.Child("hostUsers"), "may not be set together with hostNetwork")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			refusal := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "etcd-main", field.ErrorList{tc.answer})
			c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
				Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
					return refusal
				},
			})
			err := c.Apply(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
			if errors.Is(err, deploy.ErrImmutable) != tc.want || !errors.Is(err, refusal) {
				t.Errorf("%s\nApply(...) = %v, want ErrImmutable: %t", tc.reason, err, tc.want)
			}
		})
	}
}

func TestDeleteGoesBackwardsAndForgivesWhatIsGone(t *testing.T) {
	t.Parallel()
	secret := &corev1.Secret{ObjectMeta: inNamespace("a")}
	service := &corev1.Service{ObjectMeta: inNamespace("kube-apiserver")}
	c := newCluster(t, secret.DeepCopy(), service.DeepCopy())
	missing := &corev1.ConfigMap{ObjectMeta: inNamespace("missing")}
	if err := c.Delete(t.Context(), secret, missing, service); err != nil {
		t.Fatalf("Delete(...) returned %v", err)
	}
	want := []string{"delete Service kube-apiserver", "delete ConfigMap missing", "delete Secret a"}
	if diff := cmp.Diff(want, c.writes); diff != "" {
		t.Errorf("order of writes (-want +got):\n%s", diff)
	}
	if err := c.WaitGone(t.Context(), secret, missing, service); err != nil {
		t.Errorf("WaitGone(...) = %v after everything was deleted", err)
	}
}

func TestApplySetPrunesWhatLeftIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	set := deploy.Set{Namespace: "garden", Name: "provider-local"}
	a := &corev1.ConfigMap{ObjectMeta: inNamespace("a")}
	b := &corev1.ConfigMap{ObjectMeta: inNamespace("b")}
	foreign := &corev1.ConfigMap{ObjectMeta: inNamespace("foreign")}
	if err := c.Apply(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		reason string
		objs   []client.Object
		writes []string
	}{
		{"the inventory comes first, so that nothing is forgotten", []client.Object{a, b}, []string{"apply ConfigMap inventory-provider-local", "apply ConfigMap a", "apply ConfigMap b"}},
		{"nothing left, so the inventory stays as it is", []client.Object{b, a}, []string{"apply ConfigMap b", "apply ConfigMap a"}},
		{"b left: it is deleted, then forgotten", []client.Object{a}, []string{"apply ConfigMap a", "delete ConfigMap b", "apply ConfigMap inventory-provider-local"}},
	}
	for _, step := range steps {
		c.writes = nil
		if err := c.ApplySet(t.Context(), set, step.objs...); err != nil {
			t.Fatalf("%s\nApplySet(...) returned %v", step.reason, err)
		}
		if diff := cmp.Diff(step.writes, c.writes); diff != "" {
			t.Errorf("%s\nwrites (-want +got):\n%s", step.reason, diff)
		}
	}
	if err := c.WaitReady(t.Context(), a, foreign); err != nil {
		t.Errorf("pruning took too much: %v", err)
	}
}

func TestHandOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	set := deploy.Set{Namespace: "garden", Name: "provider-local"}
	a := &corev1.ConfigMap{ObjectMeta: inNamespace("a"), Data: map[string]string{"colour": "green"}}
	b := &corev1.ConfigMap{ObjectMeta: inNamespace("b")}
	if err := c.ApplySet(t.Context(), set, a, b); err != nil {
		t.Fatal(err)
	}
	other := c.Engine
	other.Owner = "somebody else"
	if err := other.Apply(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{{"delete ConfigMap b", "apply ConfigMap a", "delete ConfigMap inventory-provider-local"}, nil} {
		c.writes = nil
		if err := c.HandOver(t.Context(), set, a); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.writes); diff != "" {
			t.Errorf("what was left is deleted, and a second time there is nothing to do (-want +got):\n%s", diff)
		}
	}
	live := &corev1.ConfigMap{}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(a), live); err != nil || live.Data["colour"] != "green" {
		t.Errorf("what was handed over has changed: %v, error %v", live.Data, err)
	}
	// The new owner can take fields away, because nobody else owns them.
	bare := &corev1.ConfigMap{ObjectMeta: inNamespace("a")}
	if err := other.Apply(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(a), live); err != nil || len(live.Data) > 0 {
		t.Errorf("the former owner still keeps %v, error %v", live.Data, err)
	}
}

func TestApplySetForgetsNothingWhenInterrupted(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	set := deploy.Set{Namespace: "garden", Name: "provider-local"}
	a := &corev1.ConfigMap{ObjectMeta: inNamespace("a")}
	b := &corev1.ConfigMap{ObjectMeta: inNamespace("b")}
	c.refuse = "apply ConfigMap b"
	if err := c.ApplySet(t.Context(), set, a, b); err == nil {
		t.Fatal("ApplySet(...) returned no error although b was refused")
	}
	done, err := c.DeleteSet(t.Context(), set)
	if err != nil || !done {
		t.Fatalf("DeleteSet(...) = %v, %v, want true, nil", done, err)
	}
	if err := c.WaitGone(t.Context(), a); err != nil {
		t.Errorf("a, applied before the interruption, survived the deletion of its set: %v", err)
	}
}

func TestDeleteSetIsDoneWhenEverythingIsGone(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	set := deploy.Set{Namespace: "garden", Name: "provider-local"}
	held := &corev1.ConfigMap{ObjectMeta: inNamespace("held")}
	held.Finalizers = []string{"example.com/hold"}
	if err := c.ApplySet(t.Context(), set, held); err != nil {
		t.Fatal(err)
	}
	if done, err := c.DeleteSet(t.Context(), set); err != nil || done {
		t.Fatalf("a finalizer holds a member: DeleteSet(...) = %v, %v, want false, nil", done, err)
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if err := c.Client.Patch(t.Context(), held, client.RawPatch(types.MergePatchType, release)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second call finds nothing to do
		if done, err := c.DeleteSet(t.Context(), set); err != nil || !done {
			t.Fatalf("the member is gone: DeleteSet(...) = %v, %v, want true, nil", done, err)
		}
	}
	inventory := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "inventory-provider-local"}}
	if err := c.WaitGone(t.Context(), inventory); err != nil {
		t.Errorf("the inventory outlived its set: %v", err)
	}
}
