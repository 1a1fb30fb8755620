// SPDX-License-Identifier: Apache-2.0

package extensionobjects_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

var errWritten = errors.New("it was written")

// extensionOf is the account of an extension with rights to ManagedResources and Secrets in all namespaces, and further verbs for the former.
func extensionOf(t *testing.T, garden *harness.Garden, name string, verbs ...string) client.Client {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"resources.gardener.cloud"}, Resources: []string{"managedresources"}, Verbs: append(verbs, "get", "create", "update", "patch", "delete")},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "create", "update", "patch", "delete"}},
	}}
	user := "system:serviceaccount:" + name + ":controller"
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, object := range []client.Object{role, binding, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}} {
		if err := garden.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	return garden.As(t, user, "system:serviceaccounts", "system:authenticated")
}

func managed(namespace, name, class string) *gardenresourcesv1alpha1.ManagedResource {
	mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	mr.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "manifests"}}
	if class != "" {
		mr.Spec.Class = &class
	}
	return mr
}

// TestManagedResourcesOfTheSeed: what an extension writes for the resource manager to apply goes into shoots, unless somebody has given it
// the seed by a verb of its own.
func TestManagedResourcesOfTheSeed(t *testing.T) {
	t.Parallel()
	garden := startSeed(t)
	plain, trusted := extensionOf(t, garden, "extension-plain"), extensionOf(t, garden, "extension-trusted", "escalate")
	chart, shoot := managed("garden", "chart", "seed"), managed(namespace, "charts-of-a-shoot", "")
	manifests := func(of, name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: of, Name: name}}
	}
	for _, object := range []client.Object{chart, manifests("garden", "managedresource-chart")} {
		if err := garden.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string, write func(ctx context.Context) error) {
		t.Helper()
		harness.Eventually(t, what+" is refused", func(ctx context.Context) error {
			err := write(ctx)
			if apierrors.IsForbidden(err) && strings.Contains(err.Error(), `needs the verb "escalate"`) {
				return nil
			}
			return errors.Join(errWritten, err)
		})
	}
	dry := client.DryRunAll
	// Each is tried until the policy acts, and changes nothing before.
	refused("one in the namespace of a shoot", func(ctx context.Context) error { return plain.Create(ctx, managed(namespace, "new", "seed"), dry) })
	refused("one in the own namespace", func(ctx context.Context) error {
		return plain.Create(ctx, managed("extension-plain", "new", "seed"), dry)
	})
	refused("a change of another's", func(ctx context.Context) error {
		return plain.Patch(ctx, managed("garden", "chart", ""), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"class":"other"}}`)), dry)
	})
	refused("the deletion of another's", func(ctx context.Context) error { return plain.Delete(ctx, managed("garden", "chart", ""), dry) })
	refused("a change of manifests", func(ctx context.Context) error {
		return plain.Patch(ctx, manifests("garden", "managedresource-chart"), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":"eA=="}}`)), dry)
	})
	refused("the deletion of manifests", func(ctx context.Context) error {
		return plain.Delete(ctx, manifests("garden", "managedresource-chart"), dry)
	})
	if err := plain.Create(t.Context(), shoot); err != nil {
		t.Errorf("a ManagedResource for a shoot is the business of extensions: %v", err)
	}
	refused("to make one for a shoot one for the seed", func(ctx context.Context) error {
		return plain.Patch(ctx, managed(namespace, shoot.Name, ""), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"class":"seed"}}`)), dry)
	})
	for what, err := range map[string]error{
		"manifests for a shoot":                plain.Create(t.Context(), manifests(namespace, "managedresource-mine")),
		"a Secret for the seed":                plain.Create(t.Context(), manifests("garden", "bucket")),
		"the deletion of one for a shoot":      plain.Delete(t.Context(), shoot),
		"one by an extension that may":         trusted.Create(t.Context(), managed(namespace, "given", "seed")),
		"one by the gardenlet":                 garden.Client.Create(t.Context(), managed("garden", "other", "seed")),
		"a change by a user who is no account": garden.Client.Delete(t.Context(), chart),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
