// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestBecomesReady_GCM_PROJECT_1_9(t *testing.T) {
	t.Parallel()
	p := withMembers(member(user("ann"), "owner", "extension:dns", "extension:ghost"), member(user("vic"), "viewer"), member(user("sam"), "serviceaccountmanager"))
	p.Labels, p.Spec.Namespace, p.Generation = map[string]string{"tier": "gold"}, nil, 3
	foreign := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:extension:project:prod:dns", Labels: map[string]string{
		"gardener.cloud/role": "extension-project-role", "project.gardener.cloud/name": "prod",
	}}}
	g := newGarden(t, p, part("dns"), foreign)
	if _, err := g.pass(t); err != nil {
		t.Fatal(err)
	}
	if first := g.dev(t); first.Status.Phase != "Pending" || first.Status.ObservedGeneration != 3 || first.Spec.Namespace != nil || len(first.Finalizers) != 1 {
		t.Errorf("GCM-PROJECT-1: before anything is created the project is Pending and has a finalizer, got %+v", first)
	}
	g.settle(t)
	name := *g.dev(t).Spec.Namespace
	if got := g.dev(t); got.Status.Phase != "Ready" || got.Status.ObservedGeneration != 3 {
		t.Errorf("GCM-PROJECT-9: status %+v, want a project that is ready", got.Status)
	}
	if diff := cmp.Diff([]string{"Normal NamespaceReconcileSuccessful"}, g.told()); diff != "" {
		t.Errorf("GCM-PROJECT-9: events of a project that gets ready (-want +got):\n%s", diff)
	}
	home, quota := &corev1.Namespace{}, &corev1.ResourceQuota{}
	for key, object := range map[client.ObjectKey]client.Object{{Name: name}: home, {Namespace: name, Name: "gardener"}: quota} {
		if err := g.Get(t.Context(), key, object); err != nil {
			t.Fatal(err)
		}
		if !metav1.IsControlledBy(object, g.dev(t)) {
			t.Errorf("GCM-PROJECT-2, GCM-PROJECT-6: the project does not own %T %s", object, key)
		}
	}
	roles, clusterBindings, bindings := g.rights(t)
	wantRoles := []string{"part-dns", "s:project-member:dev", "s:project-uam:dev", "s:project-viewer:dev", "s:project:dev", "x:project:dev:dns", "x:project:prod:dns"}
	wantBound := []string{"s:project-member:dev ann", "s:project-uam:dev", "s:project-viewer:dev vic", "s:project:dev ann"}
	wantHere := []string{
		name + "/x:project:dev:dns ann", name + "/s:project-member ann", name + "/s:project-serviceaccountmanager sam", name + "/s:project-viewer vic",
	}
	for what, diff := range map[string]string{
		"roles": cmp.Diff(wantRoles, roles), "bindings of the garden": cmp.Diff(wantBound, clusterBindings), "bindings of the namespace": cmp.Diff(wantHere, bindings),
	} {
		if diff != "" {
			t.Errorf("GCM-PROJECT-7, GCM-PROJECT-8: %s (-want +got):\n%s", what, diff)
		}
	}

	for name, want := range map[string]int{"gardener.cloud:system:project:dev": 2, "gardener.cloud:extension:project:dev:dns": 1} {
		role := &rbacv1.ClusterRole{}
		if err := g.Get(t.Context(), client.ObjectKey{Name: name}, role); err != nil {
			t.Fatal(err)
		}
		if role.AggregationRule != nil {
			// The API server adds up the rules of such a role.
			role.Rules = []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/dns"}}}
			if err := g.Update(t.Context(), role); err != nil {
				t.Fatal(err)
			}
			g.settle(t)
			if err := g.Get(t.Context(), client.ObjectKey{Name: name}, role); err != nil {
				t.Fatal(err)
			}
		}
		if len(role.Rules) != want {
			t.Errorf("GCM-PROJECT-7, GCM-PROJECT-8: role %q has %d rules, want %d", name, len(role.Rules), want)
		}
	}

	changed := g.dev(t)
	changed.Spec.Members[0].Roles = nil
	if err := g.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	g.settle(t)
	roles, _, bindings = g.rights(t)
	if diff := cmp.Diff(append(append([]string{}, wantRoles[:5]...), wantRoles[6]), roles); diff != "" {
		t.Errorf("GCM-PROJECT-8: a role that no member holds any more goes, that of another project stays (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantHere[1:], bindings); diff != "" {
		t.Errorf("GCM-PROJECT-8: so does its binding (-want +got):\n%s", diff)
	}
	if got := g.told(); got != nil {
		t.Errorf("GCM-PROJECT-9: a project that stays ready tells nothing, got %q", got)
	}
}

// TestReady_GCM_PROJECT_9 has projects whose namespace is there.
func TestReady_GCM_PROJECT_9(t *testing.T) {
	t.Parallel()
	labelled := func() *corev1.Namespace {
		return owned(namespace(ours(), map[string]string{
			"namespace.gardener.cloud/project": string(dev().UID), "namespace.gardener.cloud/created-by-project-controller": "true",
		}), false)
	}
	failed := func(p *gardencorev1beta1.Project) { p.Status.Phase = "Failed" }
	for name, tc := range map[string]struct {
		reason string
		from   client.Object
		home   *corev1.Namespace
		told   []string
		// unlimited says that no quota is made.
		unlimited bool
	}{
		"same":     {reason: "nothing is new", from: ready(), home: labelled()},
		"mended":   {reason: "it works again", from: ready(failed), home: labelled(), told: []string{"Normal NamespaceReconcileSuccessful"}},
		"adopted":  {reason: "the namespace has become its own", from: ready(), home: namespace(ours(), nil), told: []string{"Normal NamespaceReconcileSuccessful"}},
		"no quota": {reason: "the project is not limited", from: ready(func(p *gardencorev1beta1.Project) { p.Labels = nil }), home: labelled(), unlimited: true},
		"gone":     {reason: "the namespace is made again", from: ready(), told: []string{"Normal NamespaceReconcileSuccessful"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, tc.from)
			if tc.home != nil {
				g = newGarden(t, tc.from, tc.home)
			}
			g.settle(t)
			if diff := cmp.Diff(tc.told, g.told()); diff != "" {
				t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
			}
			if got := g.dev(t).Status; got.Phase != "Ready" || got.ObservedGeneration != 3 {
				t.Errorf("%s\nstatus %+v, want Ready", tc.reason, got)
			}
			quotas := &corev1.ResourceQuotaList{}
			if err := g.List(t.Context(), quotas); err != nil || (len(quotas.Items) == 0) != tc.unlimited {
				t.Errorf("%s\n%d quotas, %v", tc.reason, len(quotas.Items), err)
			}
			home := &corev1.Namespace{}
			if err := g.Get(t.Context(), client.ObjectKey{Name: "garden-dev"}, home); err != nil || !metav1.IsControlledBy(home, g.dev(t)) {
				t.Errorf("%s\nnamespace owned by %+v, %v; want the project", tc.reason, home.OwnerReferences, err)
			}
		})
	}
}

// TestBindingOfAnotherRole_GCM_PROJECT_13 has a binding whose role somebody has exchanged. It cannot be changed back.
func TestBindingOfAnotherRole_GCM_PROJECT_13(t *testing.T) {
	t.Parallel()
	wrong := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "gardener.cloud:system:project-member"},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "cluster-admin"},
	}
	g := newGarden(t, ready(), wrong)
	result, err := g.pass(t)
	if err != nil || result.RequeueAfter != time.Second {
		t.Errorf("Reconcile(...) = %v, %v, want another pass in a second", result, err)
	}
	if got := g.dev(t).Status.Phase; got != "Ready" || g.told() != nil {
		t.Errorf("phase %q, want that of before: nothing has failed", got)
	}
	g.settle(t)
	if err := g.Get(t.Context(), client.ObjectKeyFromObject(wrong), wrong); err != nil || wrong.RoleRef.Name != "gardener.cloud:system:project-member" {
		t.Errorf("the binding is of role %q, %v", wrong.RoleRef.Name, err)
	}
}
