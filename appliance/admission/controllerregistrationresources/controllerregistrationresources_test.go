// SPDX-License-Identifier: Apache-2.0

package controllerregistrationresources_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/controllerregistrationresources"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type registration = gardencorev1beta1.ControllerRegistration

func worker(name string, primary *bool) *registration {
	return &registration{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gardencorev1beta1.ControllerRegistrationSpec{
		Resources: []gardencorev1beta1.ControllerResource{{Kind: "Network", Type: name}, {Kind: "Worker", Type: "local", Primary: primary}},
	}}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	first, helper := []kind.Object{worker("first", nil)}, []kind.Object{worker("first", new(false))}
	moved := worker("second", nil)
	moved.Finalizers = []string{"x"}
	admissiontest.Run(t, controllerregistrationresources.New, map[string]admissiontest.Case{
		"API-CRRES-1 taken":     {Reason: "one is primary", Objects: first, Request: admissiontest.Request{Object: worker("second", nil)}, Refused: []string{"spec.resources[1]", `Worker/local already has the primary extension "first"`}},
		"API-CRRES-1 helper":    {Reason: "others may help", Objects: first, Request: admissiontest.Request{Object: worker("second", new(false))}},
		"API-CRRES-1 free":      {Reason: "a helper takes nothing", Objects: helper, Request: admissiontest.Request{Object: worker("second", new(true))}},
		"API-CRRES-1 itself":    {Reason: "nobody is in the way of itself", Objects: first, Request: admissiontest.Request{Object: worker("first", nil), Old: worker("first", new(false))}},
		"API-CRRES-1 unchanged": {Reason: "what is not new is not looked at", Objects: first, Request: admissiontest.Request{Object: moved, Old: worker("second", nil)}},
	})
}

// TestMessage shows what the user reads whose extension would be the second primary one in full.
func TestMessage(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, worker("first", nil))
	err := g.Ask(controllerregistrationresources.New(g.World), admissiontest.Request{Object: worker("second", nil)})
	want := `controllerregistrations.core.gardener.cloud "second" is forbidden: spec.resources[1]: Worker/local already has the primary extension "first"; set primary to false`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
