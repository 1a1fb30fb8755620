// SPDX-License-Identifier: Apache-2.0

package managedseed

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// template is the Seed that a ManagedSeed describes, in either of its two fields.
type template struct {
	// path is the path of the Seed, for messages.
	path *field.Path
	seed *gardencorev1beta1.SeedTemplate
	// write writes the Seed into the ManagedSeed.
	write func() error
}

// templateOf returns the Seed in the configuration of the gardenlet, or in the older field.
func templateOf(m *managedSeed) (template, error) {
	if m.Spec.Gardenlet == nil {
		return template{path: field.NewPath("spec", "seedTemplate"), seed: m.Spec.SeedTemplate, write: func() error { return nil }}, nil
	}
	return inConfig(&m.Spec.Gardenlet.Config)
}

// inConfig returns the Seed in a configuration. All other fields of the configuration are kept as they are written.
func inConfig(config *runtime.RawExtension) (template, error) {
	t := template{path: field.NewPath("spec", "gardenlet", "config", "seedConfig"), seed: &gardencorev1beta1.SeedTemplate{}}
	content := map[string]json.RawMessage{}
	if len(config.Raw) > 0 {
		if err := json.Unmarshal(config.Raw, &content); err != nil {
			return t, world.Invalid(field.NewPath("spec", "gardenlet", "config"), "", "must be a GardenletConfiguration: "+err.Error())
		}
	}
	if raw, found := content["seedConfig"]; found {
		if err := json.Unmarshal(raw, t.seed); err != nil {
			return t, world.Invalid(t.path, "", "must describe a Seed: "+err.Error())
		}
	}
	before := t.seed.DeepCopy()
	t.write = func() error {
		if equality.Semantic.DeepEqual(before, t.seed) {
			return nil
		}
		raw, err := json.Marshal(t.seed)
		content["seedConfig"] = raw
		whole, errWhole := json.Marshal(content)
		if err := errors.Join(err, errWhole); err != nil {
			return fmt.Errorf("%s: encode: %w", t.path, err)
		}
		config.Raw = whole
		return nil
	}
	return t, nil
}
