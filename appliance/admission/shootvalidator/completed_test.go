// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/appliance/admission/shootmutator"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// pair judges what another rule has completed before, as both do in the chain.
type pair struct {
	admission.ValidationInterface

	before admission.MutationInterface
}

func (p pair) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.before.Handles(a.GetOperation()) {
		return nil
	}
	return p.before.Admit(ctx, a, o)
}

// completed makes the rule, with the one before it.
func completed(w *world.World) admission.Interface {
	return pair{
		ValidationInterface: shootvalidator.New(w).(admission.ValidationInterface),
		before:              shootmutator.New(w).(admission.MutationInterface),
	}
}
