// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	sysctlFile = "/etc/sysctl.d/99-k8s-general.conf"
	sysctlUnit = "systemd-sysctl.service"
)

// ErrSettings is the error about settings of a pool that only the owner of the shoot can correct. The API refuses them; objects from
// before it did may still have them.
var ErrSettings = errors.New("the settings of the machines cannot be used")

// sysctlFiles are the kernel settings of the owner.
func sysctlFiles(v Values) ([]gardenextensionsv1alpha1.File, error) {
	all := v.Pool.Sysctls
	if len(all) == 0 {
		return nil, nil
	}
	if err := validation.Sysctls(all, field.NewPath("sysctls")).ToAggregate(); err != nil {
		return nil, fmt.Errorf("%w: pool %q: %w", ErrSettings, v.Pool.Name, err)
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s = %s\n", key, all[key])
	}
	return []gardenextensionsv1alpha1.File{inline(sysctlFile, text.String(), 0o644)}, nil
}

// sysctlUnits apply the kernel settings before the kubelet starts, which compares some of them with its own.
func sysctlUnits(v Values) []gardenextensionsv1alpha1.Unit {
	if len(v.Pool.Sysctls) == 0 {
		return nil
	}
	return []gardenextensionsv1alpha1.Unit{{
		Name: sysctlUnit, Command: new(gardenextensionsv1alpha1.UnitCommandRestart), Enable: new(true), FilePaths: []string{sysctlFile},
	}}
}
