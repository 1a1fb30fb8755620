// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestFails_GCM_PROJECT_3_9 has something that keeps a project from being ready.
func TestFails_GCM_PROJECT_3_9(t *testing.T) {
	t.Parallel()
	leaving := namespace(ours(), nil)
	leaving.DeletionTimestamp, leaving.Finalizers = new(metav1.Now()), []string{"kubernetes"}
	unused := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:extension:project:dev:old", Labels: map[string]string{
		"gardener.cloud/role": "extension-project-role", "project.gardener.cloud/name": "dev",
	}}}
	owner := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:project:dev", OwnerReferences: owned(namespace(nil, nil), true).OwnerReferences}}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: unused.Name, Labels: unused.Labels}}
	wrong := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:project:dev"}, RoleRef: rbacv1.RoleRef{Name: "cluster-admin"}}
	for name, tc := range map[string]struct {
		reason string
		fails  string
		there  client.Object
	}{
		"Foreign":     {reason: "the namespace of others is not taken", there: namespace(map[string]string{"team": "a"}, nil)},
		"HalfOurs":    {reason: "one of two labels is not enough", there: namespace(map[string]string{"project.gardener.cloud/name": "dev"}, nil)},
		"Taken":       {reason: "nor that of another project", there: namespace(ours(), map[string]string{"namespace.gardener.cloud/project": "other"})},
		"Owned":       {reason: "nor one that another one owns", there: owned(namespace(ours(), nil), true)},
		"Leaving":     {reason: "nothing can be created in a namespace that goes", there: leaving},
		"Unread":      {reason: "a namespace that cannot be read may be there", fails: "get *v1.Namespace"},
		"Uncreated":   {reason: "it is needed", fails: "create *v1.Namespace"},
		"Unadopted":   {reason: "it has to be marked", fails: "patch *v1.Namespace", there: namespace(ours(), nil)},
		"Quota":       {reason: "the project would not be limited", fails: "create *v1.ResourceQuota"},
		"Role":        {reason: "members would have no rights", fails: "create *v1.ClusterRole"},
		"Binding":     {reason: "nor would they here", fails: "create *v1.ClusterRoleBinding"},
		"Here":        {reason: "nor in the namespace", fails: "create *v1.RoleBinding"},
		"Exchange":    {reason: "a binding of another role gives others rights", fails: "delete *v1.ClusterRoleBinding", there: wrong},
		"Parts":       {reason: "which roles are defined is not known", fails: "list *v1.ClusterRoleList"},
		"OldBindings": {reason: "members might keep rights", fails: "list *v1.RoleBindingList"},
		"OldBinding":  {reason: "and do", fails: "delete *v1.RoleBinding", there: binding},
		"OldRole":     {reason: "a role is left", fails: "delete *v1.ClusterRole", there: unused},
		"OwnedRole":   {reason: "a role that another one owns is not taken", there: owner},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{ready()}
			if tc.there != nil {
				objects = append(objects, tc.there)
			}
			g := newGarden(t, objects...)
			g.fails = tc.fails
			_, err := g.pass(t)
			if err == nil || tc.fails != "" && !errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v, want an error", tc.reason, err)
			}
			g.fails = ""
			if got := g.dev(t).Status.Phase; got != "Failed" {
				t.Errorf("%s\nphase %q, want Failed", tc.reason, got)
			}
			if diff := cmp.Diff([]string{"Warning NamespaceReconcileFailed"}, g.told()); diff != "" {
				t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnds_GCM_PROJECT_10_11_12 deletes projects.
func TestEnds_GCM_PROJECT_10_11_12(t *testing.T) {
	t.Parallel()
	ends := func(p *gardencorev1beta1.Project) { p.DeletionTimestamp = new(metav1.Now()) }
	homeless := func(p *gardencorev1beta1.Project) { p.Spec.Namespace = nil }
	released := func(p *gardencorev1beta1.Project) { p.Finalizers = []string{"test/held"} }
	made := func() *corev1.Namespace {
		return owned(namespace(ours(), map[string]string{
			"namespace.gardener.cloud/project": string(dev().UID), "namespace.gardener.cloud/created-by-project-controller": "true",
		}), false)
	}
	leaving := made()
	leaving.DeletionTimestamp, leaving.Finalizers = new(metav1.Now()), []string{"kubernetes"}
	shoot := func(namespace string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}
	}
	type end struct {
		Phase string
		Again time.Duration
		Fails bool
		Made  []string
		Told  []string
	}
	const drop, remove = "patch *v1beta1.Project", "delete *v1.Namespace"
	failed := end{Phase: "Terminating", Fails: true, Told: []string{"Warning NamespaceDeletionFailed"}}
	for name, tc := range map[string]struct {
		reason string
		change []func(*gardencorev1beta1.Project)
		there  []client.Object
		fails  string
		want   end
	}{
		"GCM-PROJECT-10 shoots":    {reason: "it waits for its shoots, without a timer", there: []client.Object{made(), shoot("garden-dev")}, want: end{Phase: "Terminating", Told: []string{"Warning NamespaceNotEmpty"}}},
		"GCM-PROJECT-10 elsewhere": {reason: "others are none of its business", there: []client.Object{made(), shoot("garden-prod")}, want: end{Phase: "Terminating", Again: time.Minute, Made: []string{remove}, Told: []string{"Normal NamespaceMarkedForDeletion"}}},
		"GCM-PROJECT-10 unknown":   {reason: "there may be shoots", there: []client.Object{made()}, fails: "list *v1beta1.ShootList", want: failed},
		"GCM-PROJECT-11 made":      {reason: "its namespace goes, and it waits for that", there: []client.Object{made()}, want: end{Phase: "Terminating", Again: time.Minute, Made: []string{remove}, Told: []string{"Normal NamespaceMarkedForDeletion"}}},
		"GCM-PROJECT-11 going":     {reason: "which is said once", there: []client.Object{leaving}, want: end{Phase: "Terminating", Again: time.Minute}},
		"GCM-PROJECT-11 unread":    {reason: "a namespace that cannot be read may be there", there: []client.Object{made()}, fails: "get *v1.Namespace", want: failed},
		"GCM-PROJECT-11 held": {
			reason: "what cannot be deleted is tried again", there: []client.Object{made()}, fails: "delete *v1.Namespace",
			want: end{Phase: "Terminating", Fails: true, Made: []string{remove}, Told: failed.Told},
		},
		"GCM-PROJECT-12 gone":     {reason: "nothing is left", want: end{Phase: "gone", Made: []string{drop}}},
		"GCM-PROJECT-12 none":     {reason: "one without a namespace has nothing to give back", change: []func(*gardencorev1beta1.Project){homeless}, there: []client.Object{shoot("")}, want: end{Phase: "gone", Made: []string{drop}}},
		"GCM-PROJECT-12 released": {reason: "what was released is left alone, whoever still holds it", change: []func(*gardencorev1beta1.Project){released}, there: []client.Object{made()}, want: end{Phase: "Ready"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, append(tc.there, ready(append(tc.change, ends)...))...)
			g.fails = tc.fails
			result, err := g.pass(t)
			got := end{Phase: "gone", Again: result.RequeueAfter, Fails: err != nil, Made: g.made, Told: g.told()}
			g.fails = ""
			p := &gardencorev1beta1.Project{}
			if err := g.Get(t.Context(), client.ObjectKey{Name: "dev"}, p); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			} else if err == nil {
				got.Phase = string(p.Status.Phase)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\na pass (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
