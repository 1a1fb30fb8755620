// SPDX-License-Identifier: Apache-2.0

package gardenresource_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/gardenresource"
)

func TestNamespace_OPER_WH_19(t *testing.T) {
	t.Parallel()
	namespace := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	itself := []string{"the Secrets of the garden itself"}
	admissiontest.Run(t, gardenresource.NewNamespace, map[string]admissiontest.Case{
		"Garden":  {Reason: "the namespace garden stays", Request: admissiontest.Request{Old: namespace("garden")}, Refused: itself},
		"Server":  {Reason: "whoever deletes it", Request: admissiontest.Request{Old: namespace("garden"), User: user.APIServerUser}, Refused: itself},
		"Change":  {Reason: "it may change", Request: admissiontest.Request{Object: namespace("garden"), Old: namespace("garden")}},
		"Others":  {Reason: "other namespaces may go", Request: admissiontest.Request{Old: namespace("garden-meadow")}},
		"Project": {Reason: "and what has its name", Request: admissiontest.Request{Old: admissiontest.Project(func(p *gardencorev1beta1.Project) { p.Name = "garden" })}},
		"Part":    {Reason: "and its parts", Request: admissiontest.Request{Old: namespace("garden"), Subresource: "part"}},
	})
}

// TestOtherKinds leaves alone what is no Garden.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	admissiontest.Run(t, gardenresource.New(gardenresource.Server{}), map[string]admissiontest.Case{
		"Create": {Reason: "other objects are made by others", Request: admissiontest.Request{Object: admissiontest.Seed("garden")}},
		"Update": {Reason: "and changed", Request: admissiontest.Request{Object: admissiontest.Seed("garden"), Old: admissiontest.Seed("garden")}},
		"Delete": {Reason: "and deleted", Request: admissiontest.Request{Old: admissiontest.Seed("garden")}},
	})
}
