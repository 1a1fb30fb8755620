// SPDX-License-Identifier: Apache-2.0

package deletionconfirmation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/deletionconfirmation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

const (
	confirmation = "confirmation.gardener.cloud/deletion"
	confirmedBy  = "deletion.gardener.cloud/confirmed-by"
)

type (
	shoot   = gardencorev1beta1.Shoot
	project = gardencorev1beta1.Project
)

func annotated(pairs ...string) func(*shoot) {
	return func(s *shoot) {
		for i := 0; i < len(pairs); i += 2 {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, pairs[i], pairs[i+1])
		}
	}
}

func dual(d gardencorev1beta1.DualApprovalForDeletion) []kind.Object {
	return []kind.Object{admissiontest.Project(func(p *project) { p.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{d} })}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	mine := admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "rose"))
	robots := admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "system:serviceaccount:ci:robot"))
	labelled := gardencorev1beta1.DualApprovalForDeletion{Resource: "shoots", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}}
	all := gardencorev1beta1.DualApprovalForDeletion{Resource: "shoots"}
	people := gardencorev1beta1.DualApprovalForDeletion{Resource: "shoots", IncludeServiceAccounts: new(false)}
	admissiontest.Run(t, deletionconfirmation.New, map[string]admissiontest.Case{
		"API-DELCONF-1 shoot": {
			Reason: "the message says how to confirm", Request: admissiontest.Request{Old: admissiontest.Shoot()},
			Refused: []string{`Shoot "sprout" is not confirmed`, "kubectl annotate -n garden-meadow shoots sprout confirmation.gardener.cloud/deletion=true"},
		},
		"API-DELCONF-1 project": {
			Reason: "projects likewise", Request: admissiontest.Request{Old: admissiontest.Project()},
			Refused: []string{`Project "meadow" is not confirmed`, "kubectl annotate projects meadow "},
		},
		"API-DELCONF-1 false":      {Reason: "only what is true confirms", Request: admissiontest.Request{Old: admissiontest.Shoot(annotated(confirmation, "no"))}, Refused: []string{"not confirmed"}},
		"API-DELCONF-1 confirmed":  {Reason: "true is true in every spelling", Request: admissiontest.Request{Old: admissiontest.Shoot(annotated(confirmation, "1"))}},
		"API-DELCONF-1 other":      {Reason: "other kinds need no confirmation", Request: admissiontest.Request{Old: admissiontest.Seed("a")}},
		"API-DELCONF-3 same":       {Reason: "one person is not two", Objects: dual(all), Request: admissiontest.Request{Old: mine}, Refused: []string{"confirmed by one user and requested by another", `"rose" has confirmed`}},
		"API-DELCONF-3 second":     {Reason: "two are", Objects: dual(all), Request: admissiontest.Request{Old: mine, User: "bob"}},
		"API-DELCONF-3 collector":  {Reason: "the garbage collector is none, which deletes for any user who sets an owner reference", Objects: dual(all), Request: admissiontest.Request{Old: mine, User: "system:apiserver"}, Refused: []string{"garbage collector"}},
		"API-DELCONF-3 controller": {Reason: "a controller deletes where nobody asks for two", Objects: []kind.Object{admissiontest.Project()}, Request: admissiontest.Request{Old: mine, User: "system:apiserver"}},
		"API-DELCONF-3 unasked":    {Reason: "one is enough where nobody asks for two", Objects: []kind.Object{admissiontest.Project()}, Request: admissiontest.Request{Old: mine}},
		"API-DELCONF-3 unmatched":  {Reason: "the selector decides", Objects: dual(labelled), Request: admissiontest.Request{Old: mine}},
		"API-DELCONF-3 matched": {
			Reason: "the selector decides", Objects: dual(labelled),
			Request: admissiontest.Request{Old: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "rose"), func(s *shoot) { s.Labels = map[string]string{"tier": "gold"} })},
			Refused: []string{"by another"},
		},
		"API-DELCONF-3 robot": {Reason: "service accounts count as people", Objects: dual(all), Request: admissiontest.Request{Old: robots, User: "system:serviceaccount:ci:robot"}, Refused: []string{"by another"}},
		"API-DELCONF-3 shared account": {
			Reason: "a service account of the project is no second person", Objects: dual(all),
			Request: admissiontest.Request{Old: mine, User: "system:serviceaccount:garden-meadow:robot"}, Refused: []string{"is a service account"},
		},
		"API-DELCONF-3 shared account first": {
			Reason: "nor is it the first", Objects: dual(all),
			Request: admissiontest.Request{Old: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "system:serviceaccount:garden-meadow:robot"))},
			Refused: []string{"is a service account"},
		},
		"API-DELCONF-3 operator's account": {
			Reason: "one of the operators is, as members cannot use it", Objects: dual(all),
			Request: admissiontest.Request{Old: mine, User: "system:serviceaccount:kube-system:cleaner"},
		},
		"API-DELCONF-1 spelling": {Reason: "and in no other", Request: admissiontest.Request{Old: admissiontest.Shoot(annotated(confirmation, "sure"))}, Refused: []string{"not confirmed"}},
		"API-DELCONF-1 neither":  {Reason: "false is none", Request: admissiontest.Request{Old: admissiontest.Shoot(annotated(confirmation, "false"))}, Refused: []string{"not confirmed"}},
		"API-DELCONF-1 part":     {Reason: "the end of a part is not that of the object", Request: admissiontest.Request{Old: admissiontest.Shoot(), Subresource: "part"}},
		"API-DELCONF-3 unknown":  {Reason: "nobody deletes alone while the rules of the project are unknown", Failing: "projects", Request: admissiontest.Request{Old: mine}},
		"API-DELCONF-3 unsure": {
			Reason: "nor does an account of which nobody knows whether it is of a project", Failing: "projects",
			Request: admissiontest.Request{Old: robots, User: "system:serviceaccount:garden-meadow:robot"},
		},
		"API-DELCONF-3 people":   {Reason: "which exempts nobody else", Objects: dual(people), Request: admissiontest.Request{Old: mine}, Refused: []string{"by another"}},
		"API-DELCONF-3 nobody's": {Reason: "a shoot without a project has no rule", Request: admissiontest.Request{Old: mine}},
		"API-DELCONF-3 exempt":   {Reason: "unless the project says otherwise", Objects: dual(people), Request: admissiontest.Request{Old: robots, User: "system:serviceaccount:ci:robot"}},
	})
}

func TestConfirmedBy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		object, old *shoot
		subresource string
		want        string
	}{
		"API-DELCONF-3 create":    {reason: "who creates it confirmed confirms", object: admissiontest.Shoot(annotated(confirmation, "true")), want: "rose"},
		"API-DELCONF-3 update":    {reason: "who sets it confirms", object: admissiontest.Shoot(annotated(confirmation, "true")), old: admissiontest.Shoot(), want: "rose"},
		"API-DELCONF-3 forged":    {reason: "nobody confirms for others", object: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "bob")), old: admissiontest.Shoot(), want: "rose"},
		"API-DELCONF-3 kept":      {reason: "it stays", object: admissiontest.Shoot(annotated(confirmation, "true")), old: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "bob")), want: "bob"},
		"API-DELCONF-3 changed":   {reason: "and cannot be changed", object: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "rose")), old: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "bob")), want: "bob"},
		"API-DELCONF-3 bound":     {reason: "not even through the binding", object: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "rose")), old: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "bob")), subresource: "binding", want: "bob"},
		"API-DELCONF-3 unnoted":   {reason: "a confirmation of old, which nobody has noted, gets a name as well", object: admissiontest.Shoot(annotated(confirmation, "true")), old: admissiontest.Shoot(annotated(confirmation, "true")), want: "rose"},
		"API-DELCONF-3 left over": {reason: "a name without a confirmation is none", object: admissiontest.Shoot(annotated(confirmation, "true")), old: admissiontest.Shoot(annotated(confirmedBy, "bob")), want: "rose"},
		"API-DELCONF-3 status":    {reason: "reports confirm nothing", object: admissiontest.Shoot(annotated(confirmation, "true")), old: admissiontest.Shoot(), subresource: "status"},
		"API-DELCONF-3 withdrawn": {reason: "it goes with the confirmation", object: admissiontest.Shoot(annotated(confirmedBy, "bob")), old: admissiontest.Shoot(annotated(confirmation, "true", confirmedBy, "bob"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil)
			r := admissiontest.Request{Object: tc.object, Subresource: tc.subresource}
			if tc.old != nil {
				r.Old = tc.old
			}
			if err := g.Ask(deletionconfirmation.New(g.World), r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tc.object.Annotations[confirmedBy]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMany(t *testing.T) {
	t.Parallel()
	state := func(name string, change ...func(*metav1.ObjectMeta)) *gardencorev1beta1.ShootState {
		s := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: name}}
		for _, c := range change {
			c(&s.ObjectMeta)
		}
		return s
	}
	sure := func(m *metav1.ObjectMeta) { metav1.SetMetaDataAnnotation(m, confirmation, "true") }
	named := func(name string) func(*shoot) { return func(s *shoot) { s.Name = name } }
	one := admissiontest.Shoot(annotated(confirmation, "true"))
	admissiontest.Run(t, deletionconfirmation.New, map[string]admissiontest.Case{
		"API-DELCONF-1 state":    {Reason: "the state of a shoot is as dear", Request: admissiontest.Request{Old: state("a")}, Refused: []string{`ShootState "a" is not confirmed`}},
		"API-DELCONF-1 may go":   {Reason: "and goes as well", Request: admissiontest.Request{Old: state("a", sure)}},
		"API-DELCONF-2 all":      {Reason: "of many, each is asked about by itself", Objects: []kind.Object{one, admissiontest.Shoot(named("b"))}, Request: admissiontest.Request{Old: one, Many: true}},
		"API-DELCONF-2 refused":  {Reason: "and refused by itself", Objects: []kind.Object{one}, Request: admissiontest.Request{Old: admissiontest.Shoot(named("b")), Many: true}, Refused: []string{`Shoot "b" is not confirmed`}},
		"API-DELCONF-2 states":   {Reason: "states likewise", Request: admissiontest.Request{Old: state("b"), Many: true}, Refused: []string{`ShootState "b"`}},
		"API-DELCONF-2 projects": {Reason: "and projects", Request: admissiontest.Request{Old: admissiontest.Project(), Many: true}, Refused: []string{`Project "meadow"`}},
	})
}
