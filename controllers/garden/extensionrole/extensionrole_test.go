// SPDX-License-Identifier: Apache-2.0

package extensionrole_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/extensionrole"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func TestSelectorOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		annotation string
		want       bool
		fails      bool
	}{
		"GCM-CREXT-2 matches":  {reason: "a JSON label selector", annotation: `{"matchLabels":{"app":"dns"}}`, want: true},
		"GCM-CREXT-2 other":    {reason: "another label", annotation: `{"matchLabels":{"app":"backup"}}`},
		"GCM-CREXT-2 no JSON":  {reason: "what is no JSON is an error", annotation: "app=dns", fails: true},
		"GCM-CREXT-2 missing":  {reason: "no annotation must not select everybody", fails: true},
		"GCM-CREXT-2 operator": {reason: "a selector that means nothing is an error", annotation: `{"matchExpressions":[{"key":"a","operator":"Nope"}]}`, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"authorization.gardener.cloud/extensions-serviceaccount-selector": tc.annotation}}}
			selector, err := extensionrole.SelectorOf(role)
			if (err != nil) != tc.fails {
				t.Fatalf("%s\nSelectorOf(...) error = %v, want failure %t", tc.reason, err, tc.fails)
			}
			if err == nil && selector.Matches(labels.Set{"app": "dns"}) != tc.want {
				t.Errorf("%s\nSelectorOf(...) = %q, want a match %t", tc.reason, selector, tc.want)
			}
		})
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	account := func(namespace, name string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	installation := func(name, seed string) gardencorev1beta1.ControllerInstallation {
		i := gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if seed != "" {
			i.Spec.SeedRef = &corev1.ObjectReference{Name: seed}
		}
		return i
	}
	got := extensionrole.Subjects([]metav1.PartialObjectMetadata{
		account("seed-b", "extension-dns-2"), account("seed-b", "extension-archive"), account("seed-a", "extension-dns-1"), account("seed-a", "extension-backup"),
		account("seed-a", "extension-dns-2"), account("seed-a", "extension-gone"), account("seed-a", "robot"), account("seed-a", "extension-shoot"),
		account("kube-system", "extension-dns-1"), account("garden-dev", "extension-dns-1"), account("garden", "extension-shoot--b--dns"),
	}, []gardencorev1beta1.ControllerInstallation{installation("dns-1", "a"), installation("dns-2", "b"), installation("backup", "a"), installation("archive", "b"), installation("shoot", "")})
	subject := func(namespace, name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
	}
	want := []rbacv1.Subject{
		subject("seed-a", "extension-backup"), subject("seed-a", "extension-dns-1"), subject("seed-b", "extension-archive"), subject("seed-b", "extension-dns-2"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-CREXT-2: accounts of extensions that are installed on their seed, sorted; a label gives nothing to other accounts (-want +got):\n%s", diff)
	}
}

// TestRoleWithoutTheLabel has roles that were for extensions, and others.
func TestRoleWithoutTheLabel_GCM_CREXT_1(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{
		Name: "dns", UID: "1", Labels: map[string]string{"authorization.gardener.cloud/custom-extensions-permissions": "true"},
		Annotations: map[string]string{"authorization.gardener.cloud/extensions-serviceaccount-selector": `{"matchLabels":{"app":"dns"}}`},
	}}
	plain := role.DeepCopy()
	plain.Labels = nil
	for name, tc := range map[string]struct {
		reason string
		role   *rbacv1.ClusterRole
		owner  types.UID
		stays  bool
	}{
		"labelled": {reason: "the binding of a role for extensions stays", role: role, owner: "1", stays: true},
		"no more":  {reason: "without the label the extensions lose what it allows", role: plain, owner: "1"},
		"foreign":  {reason: "a binding of the same name that somebody else has made stays", role: plain, stays: true},
		"former":   {reason: "so does that of another role of its name, which goes with it", role: plain, owner: "0", stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "dns"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "dns"}}
			if tc.owner != "" {
				binding.OwnerReferences = []metav1.OwnerReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "dns", UID: tc.owner, Controller: new(true)}}
			}
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(tc.role.DeepCopy(), binding).Build()
			if _, err := (&extensionrole.Reconciler{Base: kit.Base{Client: c}}).Reconcile(t.Context(), tc.role.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			err := c.Get(t.Context(), client.ObjectKeyFromObject(binding), binding)
			if client.IgnoreNotFound(err) != nil || (err == nil) != tc.stays {
				t.Errorf("%s: reading the binding: %v", tc.reason, err)
			}
		})
	}
}
