// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/core/project"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

type (
	object = gardencorev1beta1.Project
	member = gardencorev1beta1.ProjectMember
)

func store(t *testing.T) kindtest.Resource[*object] {
	t.Helper()
	all, err := project.Storage(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	return kindtest.Of[*object](t, all, "projects")
}

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: name}
}

func as(name, role string, more ...string) member {
	return member{Subject: user(name), Role: role, Roles: more}
}

func meadow(owner *rbacv1.Subject, members ...member) *object {
	return &object{ObjectMeta: metav1.ObjectMeta{Name: "meadow"}, Spec: gardencorev1beta1.ProjectSpec{Owner: owner, Members: members}}
}

func TestOwnerRole(t *testing.T) {
	t.Parallel()
	rose := user("rose")
	for name, tc := range map[string]struct {
		reason string
		given  *object
		want   []member
	}{
		"API-STRAT-11 given": {
			"the owner gets the role, all others lose it",
			meadow(&rose, as("rose", "admin"), as("bob", "owner", "viewer")),
			[]member{as("rose", "admin", "owner"), as("bob", "viewer")},
		},
		"API-STRAT-11 kept":    {"who has it keeps it", meadow(&rose, as("rose", "owner", "uam")), []member{as("rose", "owner", "uam")}},
		"API-STRAT-11 further": {"it may be among the further roles", meadow(&rose, as("bob", "admin", "owner", "uam")), []member{as("bob", "admin", "uam")}},
		"API-STRAT-11 last":    {"who had nothing else becomes a viewer", meadow(&rose, as("bob", "owner")), []member{as("bob", "viewer")}},
		"API-STRAT-11 nobody":  {"without an owner nobody has it", meadow(nil, as("bob", "owner")), []member{as("bob", "viewer")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, "", "rose")
			got := store(t).MustCreate(ctx, tc.given)
			equal := cmp.Transformer("empty", func(roles []string) []string {
				if len(roles) == 0 {
					return nil
				}
				return roles
			})
			if diff := cmp.Diff(tc.want, got.Spec.Members, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Roles" }, equal)); diff != "" {
				t.Errorf("%s\nmembers (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOwnerChanges(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	projects := store(t)
	p := projects.MustCreate(ctx, meadow(new(user("rose")), as("rose", "admin"), as("bob", "admin")))
	p.Spec.Owner = new(user("bob"))
	p = projects.MustUpdate(ctx, p)
	if diff := cmp.Diff([]member{as("rose", "admin"), as("bob", "admin", "owner")}, p.Spec.Members, cmp.Comparer(func(a, b []string) bool {
		return len(a) == len(b) && (len(a) == 0 || a[0] == b[0])
	})); diff != "" {
		t.Errorf("API-STRAT-11: the role moves with the owner (-want +got):\n%s", diff)
	}
	if p.Generation != 2 {
		t.Errorf("API-STRAT-2: another owner is a new generation, got %d", p.Generation)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	projects := store(t)
	want := map[string]string{"Namespace": "<unknown>", "Status": "<unknown>", "Owner": "<unknown>", "Creator": "<unknown>"}
	if diff := cmp.Diff(want, projects.Row(t.Context(), meadow(nil))); diff != "" {
		t.Errorf("API-RES-11: a new project (-want +got):\n%s", diff)
	}
	p := meadow(new(user("rose")))
	p.Spec.CreatedBy, p.Spec.Namespace, p.Status.Phase = new(user("bob")), new("garden-meadow"), "Ready"
	want = map[string]string{"Namespace": "garden-meadow", "Status": "Ready", "Owner": "rose", "Creator": "bob"}
	if diff := cmp.Diff(want, projects.Row(t.Context(), p)); diff != "" {
		t.Errorf("API-RES-11: a project that is ready (-want +got):\n%s", diff)
	}
}
