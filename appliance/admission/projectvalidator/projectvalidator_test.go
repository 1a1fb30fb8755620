// SPDX-License-Identifier: Apache-2.0

package projectvalidator_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectvalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type project = gardencorev1beta1.Project

func TestValidate(t *testing.T) {
	t.Parallel()
	other := func(p *project) { p.Name = "other" }
	nowhere := func(p *project) { p.Spec.Namespace = nil }
	of := func(namespace string) *project {
		return admissiontest.Project(func(p *project) { p.Spec.Namespace = &namespace })
	}
	by := func(p, old *project) admissiontest.Request {
		r := admissiontest.Request{Object: p, User: "robin"}
		if old != nil {
			r.Old = old
		}
		return r
	}
	there := []kind.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-old"}}}
	taken := []kind.Object{admissiontest.Project()}
	admissiontest.Run(t, projectvalidator.New, map[string]admissiontest.Case{
		"API-RRM-8 taken":     {Reason: "a namespace has one project", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other)}, Refused: []string{`namespace "garden-meadow" belongs to project "meadow"`}},
		"API-RRM-8 update":    {Reason: "also later", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other), Old: admissiontest.Project(other, nowhere)}, Refused: []string{"garden-meadow"}},
		"API-RRM-8 own":       {Reason: "its own", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(), Old: admissiontest.Project(nowhere)}},
		"API-RRM-8 unchanged": {Reason: "what stays is not looked at", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other), Old: admissiontest.Project(other)}},
		"API-RRM-8 garden":    {Reason: "the namespace of the garden is for those who may change it", Request: by(of("garden"), nil), Refused: []string{`spec.namespace: namespace "garden" exists already`}},
		"API-RRM-8 garden's":  {Reason: "who may make its project", Rights: []string{"robin update namespaces garden/garden"}, Request: by(of("garden"), nil)},
		"API-RRM-8 exists":    {Reason: "so is every namespace that exists", Objects: there, Request: by(of("garden-old"), nil), Refused: []string{`namespace "garden-old" exists already`}},
		"API-RRM-8 later":     {Reason: "also later", Objects: there, Request: by(of("garden-old"), admissiontest.Project(nowhere)), Refused: []string{`namespace "garden-old" exists already`}},
		"API-RRM-8 adopted":   {Reason: "an operator adopts it", Rights: []string{"robin update namespaces garden-old/garden-old"}, Objects: there, Request: by(of("garden-old"), nil)},
		"API-RRM-8 new":       {Reason: "a new one is for everybody", Objects: there, Request: by(of("garden-new"), nil)},
		"API-RRM-8 part":      {Reason: "reports are not looked at", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other), Old: admissiontest.Project(other, nowhere), Subresource: "status"}},
		"API-ADM-4 others":    {Reason: "nor are other kinds", Request: admissiontest.Request{Object: admissiontest.Seed("a")}},
		"API-RRM-8 moved":     {Reason: "another namespace is", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other), Old: of("garden-old")}, Refused: []string{`belongs to project "meadow"`}},
		"API-RRM-8 unknown":   {Reason: "there may be another project", Failing: "projects", Request: by(of("garden-new"), nil)},
		"API-RRM-8 unseen":    {Reason: "the namespace may exist", Failing: "namespaces", Request: by(of("garden-new"), nil)},
		"API-RRM-8 none":      {Reason: "without a namespace there is no quarrel", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other, nowhere)}},
	})
}
