// SPDX-License-Identifier: Apache-2.0

package namespacedeletion_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/namespacedeletion"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func project() *gardencorev1beta1.Project {
	return admissiontest.Project(func(p *gardencorev1beta1.Project) { p.Finalizers = []string{"gardener"} })
}

func TestValidate(t *testing.T) {
	t.Parallel()
	request := admissiontest.Request{Old: admissiontest.ProjectNamespace()}
	ending := admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.DeletionTimestamp = new(metav1.Now()) })
	other := admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.Labels = nil })
	admissiontest.Run(t, namespacedeletion.New, map[string]admissiontest.Case{
		"GAC-NS-1 no project":  {Reason: "nobody else deletes it", Request: request},
		"GAC-NS-1 terminating": {Reason: "it is too late", Objects: []kind.Object{project()}, Request: admissiontest.Request{Old: ending}},
		"GAC-NS-1 update":      {Reason: "only deletions matter", Objects: []kind.Object{project()}, Request: admissiontest.Request{Object: admissiontest.ProjectNamespace(), Old: admissiontest.ProjectNamespace()}},
		"GAC-NS-2 project":     {Reason: "the answer names the project", Objects: []kind.Object{project()}, Request: request, Refused: []string{`project "meadow"`, "delete the project instead"}},
		"GAC-REG-2 label":      {Reason: "namespaces of other roles are not asked about", Objects: []kind.Object{project()}, Request: admissiontest.Request{Old: other}},
		"GAC-REG-2 kind":       {Reason: "and other kinds neither", Objects: []kind.Object{project()}, Request: admissiontest.Request{Old: admissiontest.Secret("a")}},
	})
}

func TestEndingProject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		objects []kind.Object
		refused bool
	}{
		"GAC-NS-3 shoots":    {reason: "shoots remain", objects: []kind.Object{admissiontest.Shoot()}, refused: true},
		"GAC-NS-3 no shoots": {reason: "the project takes its namespace along"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, append(tc.objects, project())...)
			g.Delete("projects", "meadow")
			err := g.Ask(namespacedeletion.New(g.World), admissiontest.Request{Old: admissiontest.ProjectNamespace()})
			if apierrors.IsForbidden(err) != tc.refused || !tc.refused && err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
