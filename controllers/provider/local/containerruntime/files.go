// SPDX-License-Identifier: Apache-2.0

package containerruntime

import (
	"path"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// program is a runtime that containerd starts in the place of runc.
const program = `#!/bin/sh
# The container runtime "local": the runc of this machine under a name of its own.
exec runc "$@"
`

// Files are what the machines of a pool need: the program, if the pool asks for the runtime.
func Files(shoot *gardencorev1beta1.Shoot, pool string) []gardenextensionsv1alpha1.File {
	asked := slices.ContainsFunc(shoot.Spec.Provider.Workers, func(w gardencorev1beta1.Worker) bool {
		return w.Name == pool && w.CRI != nil &&
			slices.ContainsFunc(w.CRI.ContainerRuntimes, func(r gardencorev1beta1.ContainerRuntime) bool { return r.Type == engine.Type })
	})
	if !asked {
		return nil
	}
	return []gardenextensionsv1alpha1.File{{
		Path: path.Join(machine.RuntimesDir, machine.Runtime), Permissions: new(uint32(0o755)),
		Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: program}},
	}}
}
