// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// minimumValidity is the shortest life of a certificate that can be asked for.
const minimumValidity = 10 * time.Minute

// Validate returns everything that is wrong with the configuration, each with its path.
func (o Options) Validate() error {
	return errors.Join(ValidateConfig(o.Config)...)
}

// ValidateConfig returns everything that is wrong with a configuration that has its defaults, each with its path.
func ValidateConfig(c *gardenconfigv1alpha1.GardenletConfiguration) []error {
	var errs []error
	report := func(path, problem string) { errs = append(errs, fmt.Errorf("%s: %s", path, problem)) }
	if c.SeedConfig == nil {
		report("seedConfig", "required: a gardenlet works for one seed, and this says for which")
		return errs
	}
	for _, problem := range validation.IsDNS1123Label(c.SeedConfig.Name) {
		report("seedConfig.metadata.name", problem)
	}
	garden := c.GardenClientConnection
	if garden.BootstrapKubeconfig != nil && garden.KubeconfigSecret == nil {
		report("gardenClientConnection.kubeconfigSecret", "required together with bootstrapKubeconfig: it is where the obtained credentials are kept")
	}
	if garden.BootstrapKubeconfig == nil && garden.KubeconfigSecret == nil && garden.Kubeconfig == "" {
		report("gardenClientConnection", "nothing says how to get into the garden: set kubeconfig, or bootstrapKubeconfig together with kubeconfigSecret")
	}
	validity := garden.KubeconfigValidity
	if validity.Validity != nil && validity.Validity.Duration < minimumValidity {
		report("gardenClientConnection.kubeconfigValidity.validity", fmt.Sprintf("must be at least %s", minimumValidity))
	}
	if from, until := *validity.AutoRotationJitterPercentageMin, *validity.AutoRotationJitterPercentageMax; from < 1 || until > 100 || from > until {
		report("gardenClientConnection.kubeconfigValidity", fmt.Sprintf("rotation between %d and %d percent of the validity is not possible: take percentages from 1 to 100, the smaller one as minimum", from, until))
	}
	for resource, reserved := range reservedOf(c) {
		if capacity, ok := c.Resources.Capacity[resource]; !ok || capacity.Cmp(reserved) < 0 {
			report(fmt.Sprintf("resources.reserved[%s]", resource), "must not be more than the capacity")
		}
	}
	if *c.Controllers.Seed.LeaseResyncSeconds < 1 || *c.Controllers.Seed.LeaseResyncMissThreshold < 1 {
		report("controllers.seed", "leaseResyncSeconds and leaseResyncMissThreshold must be at least 1")
	}
	return errs
}

// reservedOf is what a configuration keeps free of the capacity.
func reservedOf(c *gardenconfigv1alpha1.GardenletConfiguration) corev1.ResourceList {
	if c.Resources == nil {
		return nil
	}
	return c.Resources.Reserved
}
