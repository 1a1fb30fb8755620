// SPDX-License-Identifier: Apache-2.0

package shoottolerationrestriction_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shoottolerationrestriction"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot      = gardencorev1beta1.Shoot
	toleration = gardencorev1beta1.Toleration
)

func project(defaults, whitelist []toleration) kind.Object {
	return admissiontest.Project(func(p *gardencorev1beta1.Project) {
		p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{Defaults: defaults, Whitelist: whitelist}
	})
}

func tolerating(all ...toleration) *shoot {
	return admissiontest.Shoot(func(s *shoot) { s.Spec.Tolerations = all })
}

func TestValidate(t *testing.T) {
	t.Parallel()
	plain, valued, other := toleration{Key: "k"}, toleration{Key: "k", Value: new("v")}, toleration{Key: "k", Value: new("w")}
	every, one := []kind.Object{project(nil, []toleration{plain})}, []kind.Object{project(nil, []toleration{valued})}
	deleting := tolerating(other)
	deleting.DeletionTimestamp = deleting.CreationTimestamp.DeepCopy()
	admissiontest.Run(t, shoottolerationrestriction.New(nil), map[string]admissiontest.Case{
		"API-TOL-2 none":      {Reason: "nothing asked, nothing refused", Objects: []kind.Object{admissiontest.Project()}, Request: admissiontest.Request{Object: tolerating()}},
		"API-TOL-2 unlisted":  {Reason: "what is not listed is refused", Objects: []kind.Object{admissiontest.Project()}, Request: admissiontest.Request{Object: tolerating(plain)}, Refused: []string{"spec.tolerations[0]", `toleration "k"`}},
		"API-TOL-2 any value": {Reason: "an entry without value covers all values", Objects: every, Request: admissiontest.Request{Object: tolerating(plain, valued, other)}},
		"API-TOL-2 value":     {Reason: "one with a value covers that", Objects: one, Request: admissiontest.Request{Object: tolerating(valued)}},
		"API-TOL-2 others":    {Reason: "and nothing else", Objects: one, Request: admissiontest.Request{Object: tolerating(valued, other, plain)}, Refused: []string{"spec.tolerations[1]", `"k" with value "w"`, "spec.tolerations[2]"}},
		"API-TOL-2 update":    {Reason: "what was there stays", Objects: one, Request: admissiontest.Request{Object: tolerating(other), Old: tolerating(other)}},
		"API-TOL-2 added":     {Reason: "what comes is looked at", Objects: one, Request: admissiontest.Request{Object: tolerating(other, plain), Old: tolerating(other)}, Refused: []string{"spec.tolerations[1]"}},
		"API-TOL-2 binding":   {Reason: "by whichever way", Objects: one, Request: admissiontest.Request{Object: tolerating(other), Old: tolerating(), Subresource: "binding"}, Refused: []string{"spec.tolerations[0]"}},
		"API-SVAL-2":          {Reason: "without a project there are no shoots", Request: admissiontest.Request{Object: tolerating()}, Refused: []string{`namespace "garden-meadow" does not belong to a project`}},
	})
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	mine, theirs := toleration{Key: "k", Value: new("mine")}, toleration{Key: "k", Value: new("theirs")}
	more := toleration{Key: "more"}
	g := admissiontest.New(t, nil, project([]toleration{theirs, more}, []toleration{{Key: "k"}, {Key: "more"}}))
	rule := shoottolerationrestriction.New(nil)(g.World)
	s := tolerating(mine)
	if err := g.Ask(rule, admissiontest.Request{Object: s}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]toleration{mine, more}, s.Spec.Tolerations); diff != "" {
		t.Errorf("API-TOL-1: the project adds what the shoot says nothing about (-want +got):\n%s", diff)
	}
	s = tolerating()
	if err := g.Ask(rule, admissiontest.Request{Object: s, Old: tolerating()}); err != nil {
		t.Fatal(err)
	}
	if len(s.Spec.Tolerations) != 0 {
		t.Errorf("API-TOL-1: only a new shoot gets them, got %v", s.Spec.Tolerations)
	}
}

func TestConfigured(t *testing.T) {
	t.Parallel()
	plain, other := toleration{Key: "k"}, toleration{Key: "other", Value: new("v")}
	rule := shoottolerationrestriction.New(&gardenconfigv1alpha1.ShootTolerationConfiguration{
		Defaults: []toleration{plain}, Whitelist: []toleration{{Key: "k"}, other},
	})
	none := []kind.Object{admissiontest.Project()}
	admissiontest.Run(t, rule, map[string]admissiontest.Case{
		"API-TOL-2 garden":       {Reason: "what the garden lists is allowed", Objects: none, Request: admissiontest.Request{Object: tolerating(other)}},
		"API-TOL-2 garden value": {Reason: "and nothing else", Objects: none, Request: admissiontest.Request{Object: tolerating(toleration{Key: "other"})}, Refused: []string{"spec.tolerations[0]"}},
	})
	g := admissiontest.New(t, nil, project([]toleration{{Key: "more"}}, []toleration{{Key: "more"}}))
	s := tolerating()
	if err := g.Ask(rule(g.World), admissiontest.Request{Object: s}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]toleration{plain, {Key: "more"}}, s.Spec.Tolerations); diff != "" {
		t.Errorf("API-TOL-1: garden and project both add theirs (-want +got):\n%s", diff)
	}
}
