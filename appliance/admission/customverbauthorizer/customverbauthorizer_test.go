// SPDX-License-Identifier: Apache-2.0

package customverbauthorizer_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/customverbauthorizer"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
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
		r := admissiontest.Request{Object: object, User: user, Groups: groups}
		if old != nil {
			r.Old = old
		}
		return r
	}
	approving := func(tier string) *project {
		p := owned(bob)
		p.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{
			{Resource: "shoots", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}}},
		}
		return p
	}
	described := owned(bob, member(ann, "viewer"))
	described.Spec.Description = new("about flowers")
	admissiontest.Run(t, customverbauthorizer.New(nil), map[string]admissiontest.Case{
		"API-CVA-1 changed":   {Reason: "the whitelist is the operator's", Request: ask(tolerating("a"), tolerating("b"), "rose"), Refused: []string{"spec.tolerations.whitelist", "modify-spec-tolerations-whitelist"}},
		"API-CVA-1 allowed":   {Reason: "or of who has the right", Rights: modify, Request: ask(tolerating("a"), tolerating("b"), "rose")},
		"API-CVA-1 created":   {Reason: "from the beginning", Request: admissiontest.Request{Object: tolerating("a")}, Refused: []string{"spec.tolerations.whitelist"}},
		"API-CVA-1 unchanged": {Reason: "what stays is not asked about", Request: ask(tolerating("a"), tolerating("a"), "rose")},
		"API-CVA-2 unchanged": {Reason: "other fields need no further right", Request: ask(described, owned(bob, member(ann, "viewer")), "rose")},
		"API-CVA-2 added":     {Reason: "members are the owner's business", Request: ask(owned(bob, member(ann, "viewer")), owned(bob), "rose"), Refused: []string{"human members", `"manage-members"`, `"rose" does not have`}},
		"API-CVA-2 removed":   {Reason: "also to remove", Request: ask(owned(bob), owned(bob, member(ann, "viewer")), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 role":      {Reason: "and to give roles", Request: ask(owned(bob, member(ann, "viewer", "admin")), owned(bob, member(ann, "viewer")), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 order":     {Reason: "the order of roles is none", Request: ask(owned(bob, member(ann, "admin", "viewer")), owned(bob, member(ann, "viewer", "admin")), "rose")},
		"API-CVA-2 allowed":   {Reason: "or of who has the right", Rights: manage, Request: ask(owned(bob, member(ann, "viewer")), owned(bob), "rose")},
		"API-CVA-2 owner":     {Reason: "the owner decides", Request: ask(owned(bob, member(ann, "viewer")), owned(bob), "bob")},
		"API-CVA-2 group":     {Reason: "a group may be the owner", Request: ask(owned(team, member(ann, "viewer")), owned(team), "rose", "team")},
		"API-CVA-2 account":   {Reason: "so may a service account", Request: ask(owned(robot, member(ann, "viewer")), owned(robot), "system:serviceaccount:ci:robot")},
		"API-CVA-2 account's": {Reason: "then others are not", Request: ask(owned(robot, member(ann, "viewer")), owned(robot), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 group's":   {Reason: "nor is who is in another group", Request: ask(owned(team, member(ann, "viewer")), owned(team), "rose", "crew"), Refused: []string{"manage-members"}},
		"API-CVA-2 disguised": {
			Reason:  "a group is no service account, whatever it is called",
			Request: ask(owned(bob, member(rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccount:ci:robot"}, "admin")), owned(bob), "rose"),
			Refused: []string{"manage-members"},
		},
		"API-CVA-2 for another": {Reason: "a project without members is made for anybody", Request: admissiontest.Request{Object: owned(bob)}},
		"API-ADM-4 status": {
			Reason:  "reports name no members",
			Request: admissiontest.Request{Object: owned(bob, member(ann, "viewer")), Old: owned(bob), Subresource: "status"},
		},
		"API-CVA-2 nobody's": {Reason: "without an owner everybody is", Request: ask(owned(bob, member(ann, "viewer")), admissiontest.Project(), "rose")},
		"API-CVA-2 robots":   {Reason: "service accounts are no humans, however they are spelt", Request: ask(owned(bob, member(robot, "admin"), member(spelt, "viewer")), owned(bob), "rose")},
		"API-CVA-2 robot to uam": {
			Reason: "a service account that manages members is managed as they are", Request: ask(owned(bob, member(robot, "admin", "uam")), owned(bob, member(robot, "admin")), "rose"),
			Refused: []string{"manage-members"},
		},
		"API-CVA-2 robot to uam, spelt":    {Reason: "however it is spelt", Request: ask(owned(bob, member(spelt, "uam")), owned(bob), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 robot to owner":         {Reason: "an owner even more", Request: ask(owned(bob, member(robot, "owner")), owned(bob), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 robot to token maker":   {Reason: "so is one that gets at the tokens of all others", Request: ask(owned(bob, member(robot, "serviceaccountmanager")), owned(bob), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 robot to uam, allowed":  {Reason: "who manages members may", Rights: manage, Request: ask(owned(bob, member(robot, "uam")), owned(bob), "rose")},
		"API-CVA-2 robot to uam, by owner": {Reason: "so may the owner", Request: ask(owned(bob, member(robot, "uam")), owned(bob), "bob")},
		"API-CVA-2 robot stays uam":        {Reason: "other changes need no further right", Request: ask(owned(bob, member(robot, "uam", "viewer")), owned(bob, member(spelt, "uam")), "rose")},
		"API-CVA-2 robot less":             {Reason: "taking such a role away neither", Request: ask(owned(bob, member(robot, "admin")), owned(bob, member(robot, "uam")), "rose")},
		"API-CVA-2 robot from the start":   {Reason: "nor is one made with another owner's project", Request: admissiontest.Request{Object: owned(bob, member(robot, "uam"))}, Refused: []string{"manage-members"}},
		"API-DELCONF-3 rule removed":       {Reason: "one person does not undo the rule of two", Request: ask(owned(bob), approving("gold"), "rose"), Refused: []string{"spec.dualApprovalForDeletion", "manage-members"}},
		"API-DELCONF-3 rule changed":       {Reason: "nor change it", Request: ask(approving("silver"), approving("gold"), "rose"), Refused: []string{"spec.dualApprovalForDeletion"}},
		"API-DELCONF-3 rule, allowed":      {Reason: "who manages members may", Rights: manage, Request: ask(owned(bob), approving("gold"), "rose")},
		"API-DELCONF-3 rule, by owner":     {Reason: "so may the owner", Request: ask(owned(bob), approving("gold"), "bob")},
		"API-DELCONF-3 rule kept":          {Reason: "what stays is not asked about", Request: ask(approving("gold"), approving("gold"), "rose")},
		"API-RES-12 gardenlet": {
			Reason: "a gardenlet has a name, but makes no projects", Request: ask(admissiontest.Project(), nil, "gardener.cloud:system:seed:a", "gardener.cloud:system:seeds"),
			Refused: []string{"cannot create projects"},
		},
		"API-RES-12 account of a seed": {
			Reason: "nor any account in the namespace of a seed", Request: ask(admissiontest.Project(), nil, "system:serviceaccount:seed-a:robot", "system:serviceaccounts:seed-a"),
			Refused: []string{"cannot create projects"},
		},
		"API-RES-12 later": {Reason: "what it may change it changes", Request: ask(admissiontest.Project(), admissiontest.Project(), "gardener.cloud:system:seed:a", "gardener.cloud:system:seeds")},
		"API-RES-12 other": {
			Reason:  "the rule is about projects",
			Request: admissiontest.Request{Object: admissiontest.Shoot(), User: "gardener.cloud:system:seed:a", Groups: []string{"gardener.cloud:system:seeds"}},
		},
		"API-RES-12 token": {
			Reason: "nor does who holds a join token", Request: ask(admissiontest.Project(), nil, "system:bootstrap:abcdef", "system:bootstrappers"),
			Refused: []string{"cannot create projects"},
		},
		"API-CVA-2 owner's entry": {Reason: "the owner may always be a member", Request: ask(owned(bob, member(bob, "admin", "owner")), owned(bob), "rose")},
		"API-CVA-2 new owner":     {Reason: "who owns is the owner's business", Request: ask(owned(ann), owned(bob), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 usurper":       {Reason: "nobody makes himself the owner", Request: ask(owned(user("rose")), owned(bob), "rose"), Refused: []string{"manage-members"}},
		"API-CVA-2 handed over":   {Reason: "the owner can hand over", Request: ask(owned(ann), owned(bob), "bob")},
		"API-CVA-2 created":       {Reason: "who creates for another needs the right to name members", Request: admissiontest.Request{Object: owned(bob, member(ann, "viewer"))}, Refused: []string{"manage-members"}},
		"API-CVA-2 own project":   {Reason: "for oneself not", Request: admissiontest.Request{Object: owned(user("rose"), member(ann, "viewer"))}},
	})
}

// TestQuotaLabels tries to choose a quota.
func TestQuotaLabels(t *testing.T) {
	t.Parallel()
	quotas := []gardenconfigv1alpha1.QuotaConfiguration{
		{ProjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}},
		{ProjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "trial", Operator: "DoesNotExist"}}}},
		{},
	}
	with := func(labels ...string) *project {
		return admissiontest.Project(func(p *project) {
			for i := 0; i < len(labels); i += 2 {
				metav1.SetMetaDataLabel(&p.ObjectMeta, labels[i], labels[i+1])
			}
		})
	}
	rights := []string{"rose modify-quota-labels projects meadow"}
	admissiontest.Run(t, customverbauthorizer.New(quotas), map[string]admissiontest.Case{
		"GCM-PROJECT-6 new":       {Reason: "nobody gives a new project a large quota", Request: admissiontest.Request{Object: with("tier", "gold")}, Refused: []string{"metadata.labels[tier]", "modify-quota-labels"}},
		"GCM-PROJECT-6 later":     {Reason: "nor an old one", Request: admissiontest.Request{Object: with("tier", "gold"), Old: with()}, Refused: []string{"metadata.labels[tier]"}},
		"GCM-PROJECT-6 changed":   {Reason: "nor another", Request: admissiontest.Request{Object: with("tier", "gold"), Old: with("tier", "tin")}, Refused: []string{"metadata.labels[tier]"}},
		"GCM-PROJECT-6 removed":   {Reason: "nor the next one, without a label", Request: admissiontest.Request{Object: with(), Old: with("trial", "yes")}, Refused: []string{"metadata.labels[trial]"}},
		"GCM-PROJECT-6 empty":     {Reason: "an empty value is one", Request: admissiontest.Request{Object: with("trial", ""), Old: with()}, Refused: []string{"metadata.labels[trial]"}},
		"GCM-PROJECT-6 allowed":   {Reason: "who has the right may", Rights: rights, Request: admissiontest.Request{Object: with("tier", "gold"), Old: with()}},
		"GCM-PROJECT-6 unchanged": {Reason: "what stays is not asked about", Request: admissiontest.Request{Object: with("tier", "gold", "colour", "red"), Old: with("tier", "gold")}},
		"GCM-PROJECT-6 others":    {Reason: "other labels are free", Request: admissiontest.Request{Object: with("colour", "red")}},
	})
}

func TestLabels(t *testing.T) {
	t.Parallel()
	tier := func(value string) *gardencorev1beta1.Shoot {
		return admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"tier": value} })
	}
	bob := user("bob")
	dual := []kind.Object{admissiontest.Project(func(p *project) {
		p.Spec.Owner = &bob
		p.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{
			{Resource: "shoots", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}},
		}
	})}
	admissiontest.Run(t, customverbauthorizer.New(nil), map[string]admissiontest.Case{
		"API-DELCONF-3 escape": {
			Reason: "a label is no way around the rule of two", Objects: dual, Request: admissiontest.Request{Object: tier("lead"), Old: tier("gold")},
			Refused: []string{"metadata.labels", "manage-members"},
		},
		"API-DELCONF-3 escape, allowed": {
			Reason: "who may change the rule may change what it is about", Objects: dual, Rights: []string{"rose manage-members projects meadow"},
			Request: admissiontest.Request{Object: tier("lead"), Old: tier("gold")},
		},
		"API-DELCONF-3 escape, owner": {Reason: "so may the owner", Objects: dual, Request: admissiontest.Request{Object: tier("lead"), Old: tier("gold"), User: "bob"}},
		"API-DELCONF-3 other labels":  {Reason: "other labels are free", Objects: dual, Request: admissiontest.Request{Object: tier("tin"), Old: tier("lead")}},
		"API-DELCONF-3 joins":         {Reason: "everybody may ask for more care", Objects: dual, Request: admissiontest.Request{Object: tier("gold"), Old: tier("lead")}},
		"API-DELCONF-3 still": {Reason: "so are they beside the one that counts", Objects: dual, Request: admissiontest.Request{
			Object: admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"tier": "gold", "colour": "red"} }), Old: tier("gold"),
		}},
		"API-DELCONF-3 nobody's": {Reason: "a shoot without a project has no rule", Request: admissiontest.Request{Object: tier("lead"), Old: tier("gold")}},
		"API-DELCONF-3 no rule":  {Reason: "projects without the rule do not care", Objects: []kind.Object{admissiontest.Project()}, Request: admissiontest.Request{Object: tier("lead"), Old: tier("gold")}},
	})
}

func TestOwnProfilesAndShoots(t *testing.T) {
	t.Parallel()
	type (
		profile = gardencorev1beta1.NamespacedCloudProfile
		shoot   = gardencorev1beta1.Shoot
	)
	all := func(p *profile) {
		p.Spec.Kubernetes = &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.3"}}}
		p.Spec.MachineImages = []gardencorev1beta1.MachineImage{{Name: "x"}}
		p.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte("{}")}
	}
	rights := []string{
		"rose modify-spec-kubernetes namespacedcloudprofiles garden-meadow/own", "rose modify-spec-machineimages namespacedcloudprofiles garden-meadow/own",
		"rose modify-spec-providerconfig namespacedcloudprofiles garden-meadow/own",
	}
	ask := admissiontest.Request{Object: admissiontest.NamespacedProfile(all), Old: admissiontest.NamespacedProfile()}
	upTo := func(nodes int32) *profile {
		return admissiontest.NamespacedProfile(func(p *profile) { p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: &nodes} })
	}
	parent := func(nodes int32) []kind.Object {
		return []kind.Object{admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) {
			p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: &nodes}
		})}
	}
	hosted := func(s *shoot) { s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{} }
	admissiontest.Run(t, customverbauthorizer.New(nil), map[string]admissiontest.Case{
		"API-CVA-3 plain":       {Reason: "a profile that adds machine types needs no right", Request: admissiontest.Request{Object: admissiontest.NamespacedProfile()}},
		"API-CVA-3 kubernetes":  {Reason: "versions do", Request: ask, Refused: []string{"spec.kubernetes of a namespacedcloudprofile", "modify-spec-kubernetes"}},
		"API-CVA-3 images":      {Reason: "so do images", Rights: rights[:1], Request: ask, Refused: []string{"spec.machineImages", "modify-spec-machineimages"}},
		"API-CVA-3 config":      {Reason: "and what only the provider understands", Rights: rights[:2], Request: ask, Refused: []string{"spec.providerConfig", "modify-spec-providerconfig"}},
		"API-CVA-3 allowed":     {Reason: "who has them all may", Rights: rights, Request: ask},
		"API-CVA-3 unchanged":   {Reason: "what stays is not asked about", Request: admissiontest.Request{Object: admissiontest.NamespacedProfile(all), Old: admissiontest.NamespacedProfile(all)}},
		"API-CVA-3 limit":       {Reason: "a limit of the parent is not raised", Objects: parent(5), Request: admissiontest.Request{Object: upTo(6)}, Refused: []string{"spec.limits.maxNodesTotal", "raise-spec-limits"}},
		"API-CVA-3 limit later": {Reason: "nor later", Objects: parent(5), Request: admissiontest.Request{Object: upTo(6), Old: upTo(5)}, Refused: []string{"raise-spec-limits"}},
		"API-CVA-3 raised":      {Reason: "except by those who may", Rights: []string{"rose raise-spec-limits namespacedcloudprofiles garden-meadow/own"}, Objects: parent(5), Request: admissiontest.Request{Object: upTo(6)}},
		"API-CVA-3 lowered":     {Reason: "everybody lowers it", Objects: parent(5), Request: admissiontest.Request{Object: upTo(5)}},
		"API-CVA-3 old limit":   {Reason: "what was raised stays", Objects: parent(5), Request: admissiontest.Request{Object: upTo(6), Old: upTo(6)}},
		"API-CVA-3 no limit":    {Reason: "a parent without a limit has none", Objects: []kind.Object{admissiontest.Profile()}, Request: admissiontest.Request{Object: upTo(6)}},
		"API-CVA-3 orphan":      {Reason: "another rule refuses a profile without a parent", Request: admissiontest.Request{Object: upTo(6)}},
		"API-CVA-3 given back":  {Reason: "without an own limit, that of the parent applies", Objects: parent(5), Request: admissiontest.Request{Object: admissiontest.NamespacedProfile(), Old: upTo(6)}},
		"API-CVA-3 self-hosted later": {
			Reason: "nor from some day on", Request: admissiontest.Request{Object: admissiontest.Shoot(hosted), Old: admissiontest.Shoot()}, Refused: []string{"mark-self-hosted"},
		},
		"API-CVA-3 self-hosted": {Reason: "not everybody hosts an own control plane", Request: admissiontest.Request{Object: admissiontest.Shoot(hosted)}, Refused: []string{"mark-self-hosted"}},
		"API-CVA-3 may host":    {Reason: "some do", Rights: []string{"rose mark-self-hosted shoots garden-meadow/sprout"}, Request: admissiontest.Request{Object: admissiontest.Shoot(hosted)}},
		"API-CVA-3 hosts":       {Reason: "and go on", Request: admissiontest.Request{Object: admissiontest.Shoot(hosted), Old: admissiontest.Shoot(hosted)}},
	})
}
