// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/appliance/admission/controllerregistrationresources"
	"github.com/terrarium-garden/terrarium/appliance/admission/customverbauthorizer"
	"github.com/terrarium-garden/terrarium/appliance/admission/deletionconfirmation"
	"github.com/terrarium-garden/terrarium/appliance/admission/extensionvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/finalizerremoval"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/shoottolerationrestriction"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// Rule is one rule about requests.
type Rule struct {
	// Name is shown in errors and metrics.
	Name string
	// New makes the rule on a view of the garden.
	New func(w *world.World) admission.Interface
}

// Rules are all rules in the order in which they are asked (API-ADM-1). Those that change objects are asked first, by
// the API server, in the same order.
func Rules() []Rule {
	return []Rule{
		{Name: "ResourceReferenceManager", New: resourcereference.New},
		{Name: "ExtensionValidator", New: extensionvalidator.New},
		{Name: "ShootTolerationRestriction", New: shoottolerationrestriction.New},
		{Name: "ShootValidator", New: shootvalidator.New},
		{Name: "SeedValidator", New: seedvalidator.New},
		{Name: "ControllerRegistrationResources", New: controllerregistrationresources.New},
		{Name: "ProjectValidator", New: projectvalidator.New},
		{Name: "DeletionConfirmation", New: deletionconfirmation.New},
		{Name: "FinalizerRemoval", New: finalizerremoval.New},
		{Name: "CustomVerbAuthorizer", New: customverbauthorizer.New},
	}
}
