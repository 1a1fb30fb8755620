// SPDX-License-Identifier: Apache-2.0

package projectmutator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectmutator"
)

type (
	project = gardencorev1beta1.Project
	member  = gardencorev1beta1.ProjectMember
)

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: name}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	admin := func(s rbacv1.Subject) member { return member{Subject: s, Role: "admin", Roles: []string{"owner"}} }
	owner := func(name string) func(*project) {
		return func(p *project) { p.Spec.Owner = new(user(name)) }
	}
	members := func(all ...member) func(*project) { return func(p *project) { p.Spec.Members = all } }
	for name, tc := range map[string]struct {
		reason      string
		object, old *project
		user        string
		wantCreator *rbacv1.Subject
		wantOwner   *rbacv1.Subject
		wantMembers []member
	}{
		"API-RRM-7 creator": {
			reason: "who creates a project owns it", object: admissiontest.Project(), user: "rose",
			wantCreator: new(user("rose")), wantOwner: new(user("rose")), wantMembers: []member{admin(user("rose"))},
		},
		"API-RRM-7 forged": {
			reason: "nobody creates for others", object: admissiontest.Project(func(p *project) { p.Spec.CreatedBy = new(user("bob")) }), user: "rose",
			wantCreator: new(user("rose")), wantOwner: new(user("rose")), wantMembers: []member{admin(user("rose"))},
		},
		"API-RRM-7 account": {
			reason: "a service account is one", object: admissiontest.Project(), user: "system:serviceaccount:ci:robot",
			wantCreator: &rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "robot"}, wantOwner: &rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "robot"},
			wantMembers: []member{admin(rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "robot"})},
		},
		"API-RRM-7 given": {
			reason: "another may own it", object: admissiontest.Project(owner("bob")), user: "rose",
			wantCreator: new(user("rose")), wantOwner: new(user("bob")), wantMembers: []member{admin(user("bob"))},
		},
		"API-RRM-7 by role": {
			reason: "the member with the role is the owner", user: "rose",
			object:      admissiontest.Project(members(member{Subject: user("ann"), Role: "viewer"}, member{Subject: user("bob"), Role: "admin", Roles: []string{"owner"}})),
			wantCreator: new(user("rose")), wantOwner: new(user("bob")),
			wantMembers: []member{{Subject: user("ann"), Role: "viewer"}, {Subject: user("bob"), Role: "admin", Roles: []string{"owner"}}},
		},
		"API-RRM-7 former role": {
			reason: "also in its former form", user: "rose", object: admissiontest.Project(members(member{Subject: user("bob"), Role: "owner"})),
			wantCreator: new(user("rose")), wantOwner: new(user("bob")), wantMembers: []member{{Subject: user("bob"), Role: "owner"}},
		},
		"API-RRM-7 ownerless": {reason: "a change of one without an owner makes none", object: admissiontest.Project(), old: admissiontest.Project(), user: "rose"},
		"API-ADM-6 going": {
			reason: "one in deletion is left as it is", user: "rose", wantOwner: new(user("bob")),
			object: admissiontest.Project(owner("bob"), func(p *project) { p.DeletionTimestamp = new(metav1.Now()) }), old: admissiontest.Project(),
		},
		"API-RRM-7 beside": {
			reason: "a new owner stands beside other members", object: admissiontest.Project(owner("bob"), members(member{Subject: user("ann"), Role: "viewer"})),
			old: admissiontest.Project(), user: "rose", wantOwner: new(user("bob")), wantMembers: []member{{Subject: user("ann"), Role: "viewer"}, admin(user("bob"))},
		},
		"API-RRM-7 update": {
			reason: "a new owner becomes a member", object: admissiontest.Project(owner("bob")), old: admissiontest.Project(owner("rose")), user: "rose",
			wantOwner: new(user("bob")), wantMembers: []member{admin(user("bob"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil)
			r := admissiontest.Request{Object: tc.object, User: tc.user}
			if tc.old != nil {
				r.Old = tc.old
			}
			if err := g.Ask(projectmutator.New(g.World), r); err != nil {
				t.Fatal(err)
			}
			got := tc.object.Spec
			if diff := cmp.Diff([]any{tc.wantCreator, tc.wantOwner, tc.wantMembers}, []any{got.CreatedBy, got.Owner, got.Members}); diff != "" {
				t.Errorf("%s\ncreator, owner, members (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
