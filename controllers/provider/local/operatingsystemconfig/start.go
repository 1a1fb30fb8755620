// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig

import (
	"encoding/base64"
	"strings"

	"k8s.io/utils/ptr"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// addStart tells the agent of a machine what the user data write. They do not change for a machine that is there: at each start they bring back
// what it had at first, and its agent removes what it is not to have any more.
func addStart(spec *gardenextensionsv1alpha1.OperatingSystemConfigSpec) error {
	var files []string
	for i := range spec.Files {
		if file := &spec.Files[i]; file.HostName == nil && !personal(file) {
			files = append(files, file.Path)
		}
	}
	for i := range spec.Units {
		unit := spec.Units[i]
		own, err := UnitFiles(unit)
		if err != nil {
			return err
		}
		for _, file := range own {
			files = append(files, file.Path)
		}
	}
	start, err := nodeagent.Start(files, nodeagent.MergeUnits(spec.Units))
	if err != nil {
		return err //nolint:wrapcheck // It says what goes wrong.
	}
	spec.Files = append(spec.Files, gardenextensionsv1alpha1.File{
		Path: start.Path, Permissions: new(start.Mode),
		Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{
			Encoding: string(gardenextensionsv1alpha1.FileCodecIDBase64), Data: base64.StdEncoding.EncodeToString(start.Data),
		}},
	})
	return nil
}

// personal reports whether a file has the bootstrap token of its machine. Only new machines have it, so no agent keeps it, and its kubelet
// needs the file to start.
func personal(file *gardenextensionsv1alpha1.File) bool {
	return ptr.Deref(file.Content.TransmitUnencoded, false) && file.Content.Inline != nil &&
		strings.Contains(file.Content.Inline.Data, machine.BootstrapTokenPlaceholder)
}
