// SPDX-License-Identifier: Apache-2.0

package extensionrole_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/extensionrole"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
)

// forApp is a role for the accounts of an app.
func forApp(name, selector string, change ...func(*rbacv1.ClusterRole)) *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: "1", Labels: map[string]string{"authorization.gardener.cloud/custom-extensions-permissions": "true"},
		Annotations: map[string]string{"authorization.gardener.cloud/extensions-serviceaccount-selector": selector},
	}}
	for _, c := range change {
		c(role)
	}
	return role
}

// TestAccounts_GCM_CREXT_3 sees accounts come, with one worker: roles are looked at in the order of the events.
func TestAccounts_GCM_CREXT_3(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	looked := make(chan string, 100)
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(
		forApp("dns", `{"matchLabels":{"app":"dns"}}`), forApp("backup", `{"matchLabels":{"app":"backup"}}`), forApp("broken", "app=dns"),
		forApp("plain", `{"matchLabels":{"app":"dns"}}`, func(r *rbacv1.ClusterRole) { r.Labels = nil }),
	).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if _, is := o.(*rbacv1.ClusterRole); is {
				looked <- key.Name
			}
			return c.Get(ctx, key, o, options...)
		},
	}).Build()
	cluster := kittest.NewCluster(t, kinds)
	r := &extensionrole.Reconciler{Base: kit.Base{Client: c, Queue: kit.Queue{Concurrency: 1}}}
	if err := r.AddToManager(kit.Clusters{Garden: cluster.Manager}); err != nil {
		t.Fatal(err)
	}
	cluster.Start(t)
	next := func() string {
		select {
		case name := <-looked:
			return name
		case <-time.After(30 * time.Second):
			return "none"
		}
	}
	account := func(namespace, name, app string) *metav1.PartialObjectMetadata {
		a := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}}}
		a.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
		return a
	}
	accounts := cluster.Of(&metav1.PartialObjectMetadata{})
	// An account of a project, and one that no role is for, come before one that a role is for.
	accounts.Add(account("garden-dev", "extension-backup", "backup"))
	accounts.Add(account("seed-eu", "extension-other", "other"))
	accounts.Add(account("seed-eu", "extension-dns", "dns"))
	if diff := cmp.Diff("dns", next()); diff != "" {
		t.Errorf("an account concerns the roles whose selector matches it, if they are for extensions (-want +got):\n%s", diff)
	}
	accounts.Modify(account("seed-eu", "extension-dns", "other"))
	if diff := cmp.Diff("dns", next()); diff != "" {
		t.Errorf("also when it matches no more (-want +got):\n%s", diff)
	}
	accounts.Add(account("seed-eu", "extension-backup", "backup"))
	if diff := cmp.Diff("backup", next()); diff != "" {
		t.Errorf("each for itself (-want +got):\n%s", diff)
	}
}

// TestBinding_GCM_CREXT_2 makes passes for a role, with what is there and what fails.
func TestBinding_GCM_CREXT_2(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	errBoom := errors.New("boom")
	const selector = `{"matchLabels":{"app":"dns"}}`
	for name, tc := range map[string]struct {
		reason, fails string
		role          *rbacv1.ClusterRole
		bound, wrong  bool
	}{
		"bound":         {reason: "the account of the extension gets the role", role: forApp("dns", selector), bound: true},
		"ending":        {reason: "a role that goes takes its binding with it", role: forApp("dns", selector, func(r *rbacv1.ClusterRole) { r.DeletionTimestamp = new(metav1.Now()) })},
		"unreadable":    {reason: "a selector that means nothing selects nobody", role: forApp("dns", "app=dns"), wrong: true},
		"accounts":      {reason: "who gets it is not known", role: forApp("dns", selector), fails: "list *v1.PartialObjectMetadataList"},
		"installations": {reason: "nor where it is installed", role: forApp("dns", selector), fails: "list *v1beta1.ControllerInstallationList"},
		"binding":       {reason: "nobody gets it", role: forApp("dns", selector), fails: "create *v1.ClusterRoleBinding"},
		"withdrawal":    {reason: "somebody may have it still", role: forApp("dns", selector, func(r *rbacv1.ClusterRole) { r.Labels = nil }), fails: "get *v1.ClusterRoleBinding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := func(verb string, object any) error {
				if fmt.Sprintf("%s %T", verb, object) == tc.fails {
					return errBoom
				}
				return nil
			}
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(
				&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-eu", Name: "extension-dns-1", Labels: map[string]string{"app": "dns"}}},
				&gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "dns-1"}, Spec: gardencorev1beta1.ControllerInstallationSpec{SeedRef: &corev1.ObjectReference{Name: "eu"}}},
			).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if err := broken("get", o); err != nil {
						return err
					}
					return c.Get(ctx, key, o, options...)
				},
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if err := broken("list", list); err != nil {
						return err
					}
					return c.List(ctx, list, options...)
				},
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
					if err := broken("create", o); err != nil {
						return err
					}
					return c.Create(ctx, o, options...)
				},
			}).Build()
			_, err := (&extensionrole.Reconciler{Base: kit.Base{Client: c}}).Reconcile(t.Context(), tc.role)
			if (tc.fails != "") != errors.Is(err, errBoom) || tc.fails == "" && tc.wrong != (err != nil) {
				t.Errorf("%s\nReconcile(...) = %v", tc.reason, err)
			}
			bindings := &rbacv1.ClusterRoleBindingList{}
			if err := c.List(t.Context(), bindings); err != nil {
				t.Fatal(err)
			}
			var got []rbacv1.Subject
			for _, b := range bindings.Items {
				got = append(got, b.Subjects...)
			}
			var want []rbacv1.Subject
			if tc.bound {
				want = []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "seed-eu", Name: "extension-dns-1"}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nwho has the role (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
