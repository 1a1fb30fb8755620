// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateProjectRules(t *testing.T) {
	t.Parallel()
	user := func(name string) rbacv1.Subject {
		return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Project)
		want   []string
	}{
		"API-VALPROJ-1 robots": {
			reason: "a service account is one person, however it is written",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: rbacv1.Subject{Kind: "ServiceAccount", Namespace: "a", Name: "b"}, Role: "viewer"},
					{Subject: user("system:serviceaccount:a:b"), Role: "viewer"},
				}
			},
			want: []string{"spec.members[1]: FieldValueDuplicate"},
		},
		"API-VALPROJ-1 form": {
			reason: "each kind of subject has its form",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: rbacv1.Subject{Kind: "ServiceAccount", Name: "b", APIGroup: "g"}, Role: "viewer"},
					{Subject: rbacv1.Subject{Kind: "Group", Name: "b", Namespace: "n"}, Role: "viewer"},
				}
			},
			want: []string{
				"spec.members[0].apiGroup: FieldValueNotSupported", "spec.members[0].namespace: FieldValueRequired",
				"spec.members[1].apiGroup: FieldValueNotSupported", "spec.members[1].namespace: FieldValueForbidden",
			},
		},
		"API-VALPROJ-1 account names": {
			reason: "a user that is a service account has its whole name; a group may be called as it likes",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: user("system:serviceaccount:a"), Role: "viewer"},
					{Subject: rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccount:a"}, Role: "viewer"},
					{Subject: user("system:anonymous"), Role: "viewer"},
				}
			},
			want: []string{"spec.members[0].name: FieldValueInvalid"},
		},
		"API-VALPROJ-1 accounts": {
			reason: "a service account has the name of one",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: rbacv1.Subject{Kind: "ServiceAccount", Namespace: "a", Name: "b c"}, Role: "viewer"},
					{Subject: rbacv1.Subject{Kind: "ServiceAccount", Namespace: "a"}, Role: "viewer"},
				}
			},
			want: []string{"spec.members[0].name: FieldValueInvalid", "spec.members[1].name: FieldValueRequired"},
		},
		"API-VALPROJ-1 people": {
			reason: "the owner and the creator are subjects as well",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Owner, p.Spec.CreatedBy = &rbacv1.Subject{Kind: "Robot", Name: "a"}, &rbacv1.Subject{Kind: "Robot", Name: "a"}
			},
			want: []string{"spec.createdBy.kind: FieldValueNotSupported", "spec.owner.kind: FieldValueNotSupported"},
		},
		"API-VALPROJ-2 long name": {
			reason: "the names of known roles may be longer than those of extensions",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{{Subject: user("a"), Role: "serviceaccountmanager"}}
			},
		},
		"API-VALPROJ-2 owner": {
			reason: "it need not be the first member that owns",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{{Subject: user("a"), Role: "viewer"}, {Subject: user("b"), Role: "owner"}}
			},
		},
		"API-NAME-8 garden": {reason: "the namespace of operators can be that of a project", change: func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("garden") }},
		"API-NAME-8 other": {
			reason: "others are seen to belong to projects", change: func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("kube-system") },
			want: []string{"spec.namespace: FieldValueInvalid"},
		},
		"API-NAME-8 issuer": {
			reason: "those of the garden are taken", change: func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("gardener-system-shoot-issuer") },
			want: []string{"spec.namespace: FieldValueInvalid"},
		},
		"API-NAME-8 leases": {
			reason: "all of them", change: func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("gardener-system-seed-lease") },
			want: []string{"spec.namespace: FieldValueInvalid"},
		},
		"API-VALPROJ-2 owners": {
			reason: "one member owns, roles stand once",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: user("a"), Role: "owner"}, {Subject: user("b"), Role: "uam", Roles: []string{"owner", "uam"}},
				}
			},
			want: []string{"spec.members[1].roles[0]: FieldValueForbidden", "spec.members[1].roles[1]: FieldValueDuplicate"},
		},
		"API-VALPROJ-3 texts": {
			reason: "texts say something",
			change: func(p *gardencorev1beta1.Project) { p.Spec.Description, p.Spec.Purpose = new(""), new("") },
			want:   []string{"spec.description: FieldValueRequired", "spec.purpose: FieldValueRequired"},
		},
		"API-VALPROJ-4 covered": {
			reason: "a key without value covers all values",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{
					Defaults:  []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}},
					Whitelist: []gardencorev1beta1.Toleration{{Key: "a"}},
				}
			},
		},
		"API-VALPROJ-4 value": {
			reason: "a value covers itself",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{
					Defaults:  []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}},
					Whitelist: []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}},
				}
			},
		},
		"API-VALPROJ-4 others": {
			reason: "neither another value, nor another key",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{
					Defaults:  []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}, {Key: "c"}},
					Whitelist: []gardencorev1beta1.Toleration{{Key: "a", Value: new("d")}, {Key: "e"}},
				}
			},
			want: []string{"spec.tolerations.defaults[0]: FieldValueForbidden", "spec.tolerations.defaults[1]: FieldValueForbidden"},
		},
		"API-VALPROJ-6": {
			reason: "two people agree on shoots",
			change: func(p *gardencorev1beta1.Project) {
				broken := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Of"}}}
				p.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{
					{Resource: "shoots"}, {Resource: "shoots", Selector: broken}, {Resource: "seeds"},
				}
			},
			want: []string{
				"spec.dualApprovalForDeletion[1].resource: FieldValueDuplicate",
				"spec.dualApprovalForDeletion[1].selector.matchExpressions[0].operator: FieldValueInvalid",
				"spec.dualApprovalForDeletion[2].resource: FieldValueNotSupported",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateProject(project(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateProject(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	ready := project(func(p *gardencorev1beta1.Project) { p.Status.Phase = "Ready" })
	for reason, was := range map[string]*gardencorev1beta1.Project{"changes": ready, "begins": project()} {
		pending := project(func(p *gardencorev1beta1.Project) { p.Status.Phase = "Pending" })
		if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateProjectStatusUpdate(pending, was))); diff != "" {
			t.Errorf("API-VALPROJ-5: a phase %s\nValidateProjectStatusUpdate(...) (-want +got):\n%s", reason, diff)
		}
	}
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateProjectStatusUpdate(project(), project()))); diff != "" {
		t.Errorf("API-VALPROJ-5: a new project has no phase yet\nValidateProjectStatusUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"status.phase: FieldValueInvalid"}, checktest.Complaints(validation.ValidateProjectStatusUpdate(project(), ready))); diff != "" {
		t.Errorf("API-VALPROJ-5: a phase does not become empty again\nValidateProjectStatusUpdate(...) (-want +got):\n%s", diff)
	}
}

// TestValidateProjectBounds_API_VALPROJ_1 has as many members as a garden can carry, and one more.
func TestValidateProjectBounds_API_VALPROJ_1(t *testing.T) {
	t.Parallel()
	people := func(n int) func(*gardencorev1beta1.Project) {
		return func(p *gardencorev1beta1.Project) {
			for i := range n {
				who := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: fmt.Sprint(i)}
				p.Spec.Members = append(p.Spec.Members, gardencorev1beta1.ProjectMember{Subject: who, Role: "viewer"})
			}
		}
	}
	for name, tc := range map[string]struct {
		reason   string
		now, old func(*gardencorev1beta1.Project)
		want     []string
	}{
		"members":  {reason: "a thousand people are many", now: people(1000)},
		"too many": {reason: "more are a group", now: people(1001), want: []string{"spec.members: FieldValueTooMany"}},
		"added":    {reason: "also when they come one by one", now: people(1001), old: people(1000), want: []string{"spec.members: FieldValueTooMany"}},
		"stored":   {reason: "those of before may leave", now: people(1001), old: people(1002)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := project(tc.now, func(p *gardencorev1beta1.Project) { p.Spec.Description = new("new") })
			got := validation.ValidateProject(is)
			if tc.old != nil {
				got = validation.ValidateProjectUpdate(is, project(tc.old))
			}
			if diff := cmp.Diff(tc.want, checktest.Complaints(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
