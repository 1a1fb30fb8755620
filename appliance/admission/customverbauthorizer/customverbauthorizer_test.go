// SPDX-License-Identifier: Apache-2.0

package customverbauthorizer_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/customverbauthorizer"
)

type project = gardencorev1beta1.Project

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
}

func owned(by rbacv1.Subject, members ...gardencorev1beta1.ProjectMember) *project {
	return admissiontest.Project(func(p *project) { p.Spec.Owner, p.Spec.Members = &by, members })
}

func member(s rbacv1.Subject, role string, more ...string) gardencorev1beta1.ProjectMember {
	return gardencorev1beta1.ProjectMember{Subject: s, Role: role, Roles: more}
}

func tolerating(key string) *project {
	return admissiontest.Project(func(p *project) {
		p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{Whitelist: []gardencorev1beta1.Toleration{{Key: key}}}
	})
}

func TestValidate(t *testing.T) {
	t.Parallel()
	bob, ann := user("bob"), user("ann")
	team := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "team"}
	robot := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "ci", Name: "robot"}
	spelt := user("system:serviceaccount:ci:robot")
	manage, modify := []string{"rose manage-members projects meadow"}, []string{"rose modify-spec-tolerations-whitelist projects meadow"}
	ask := func(object, old *project, user string, groups ...string) admissiontest.Request {
		return admissiontest.Request{Object: object, Old: old, User: user, Groups: groups}
	}
	described := owned(bob, member(ann, "viewer"))
	described.Spec.Description = new("about flowers")
	admissiontest.Run(t, customverbauthorizer.New, map[string]admissiontest.Case{
		"API-CVA-1 changed":       {Reason: "the whitelist is the operator's", Request: ask(tolerating("a"), tolerating("b"), "rose"), Refused: []string{"spec.tolerations.whitelist", "modify-spec-tolerations-whitelist"}},
		"API-CVA-1 allowed":       {Reason: "or of who has the right", Rights: modify, Request: ask(tolerating("a"), tolerating("b"), "rose")},
		"API-CVA-1 created":       {Reason: "from the beginning", Request: admissiontest.Request{Object: tolerating("a")}, Refused: []string{"spec.tolerations.whitelist"}},
		"API-CVA-1 unchanged":     {Reason: "what stays is not asked about", Request: ask(tolerating("a"), tolerating("a"), "rose")},
		"API-CVA-2 unchanged":     {Reason: "other fields need no further right", Request: ask(described, owned(bob, member(ann, "viewer")), "rose")},
		"API-CVA-2 added":         {Reason: "members are the owner's business", Request: ask(owned(bob, member(ann, "viewer")), owned(bob), "rose"), Refused: []string{"human members", `"manage-members"`, `"rose" has not`}},
		"API-CVA-2 removed":       {Reason: "also to remove", Request: ask(owned(bob), owned(bob, member(ann, "viewer")), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 role":          {Reason: "and to give roles", Request: ask(owned(bob, member(ann, "viewer", "admin")), owned(bob, member(ann, "viewer")), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 order":         {Reason: "the order of roles is none", Request: ask(owned(bob, member(ann, "admin", "viewer")), owned(bob, member(ann, "viewer", "admin")), "rose")},
		"API-CVA-2 allowed":       {Reason: "or of who has the right", Rights: manage, Request: ask(owned(bob, member(ann, "viewer")), owned(bob), "rose")},
		"API-CVA-2 owner":         {Reason: "the owner decides", Request: ask(owned(bob, member(ann, "viewer")), owned(bob), "bob")},
		"API-CVA-2 group":         {Reason: "a group may be the owner", Request: ask(owned(team, member(ann, "viewer")), owned(team), "rose", "team")},
		"API-CVA-2 account":       {Reason: "so may a service account", Request: ask(owned(robot, member(ann, "viewer")), owned(robot), "system:serviceaccount:ci:robot")},
		"API-CVA-2 nobody's":      {Reason: "without an owner everybody is", Request: ask(owned(bob, member(ann, "viewer")), admissiontest.Project(), "rose")},
		"API-CVA-2 robots":        {Reason: "service accounts are no humans, however they are spelt", Request: ask(owned(bob, member(robot, "admin"), member(spelt, "viewer")), owned(bob), "rose")},
		"API-CVA-2 owner's entry": {Reason: "the owner may always be a member", Request: ask(owned(bob, member(bob, "admin", "owner")), owned(bob), "rose")},
		"API-CVA-2 new owner":     {Reason: "who owns is the owner's business", Request: ask(owned(ann), owned(bob), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 usurper":       {Reason: "nobody makes himself the owner", Request: ask(owned(user("rose")), owned(bob), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 handed over":   {Reason: "the owner can hand over", Request: ask(owned(ann), owned(bob), "bob")},
		"API-CVA-2 created":       {Reason: "who creates for another needs the right to name members", Request: admissiontest.Request{Object: owned(bob, member(ann, "viewer"))}, Refused: []string{"manage-members"}},
		"API-CVA-2 own project":   {Reason: "for oneself not", Request: admissiontest.Request{Object: owned(user("rose"), member(ann, "viewer"))}},
	})
}
