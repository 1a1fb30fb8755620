// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

const (
	defaultMode    = 0o644
	executableMode = 0o755
	systemdDir     = "/etc/systemd/system"
	oneshotDir     = "/etc/machine/oneshot"
	base64Width    = 120
)

// header defines write, which puts its standard input in place atomically: units never see half a file, and other users never see a secret.
const header = `#!/bin/sh
# User data of a machine: writes the files and units of its operating system configuration. Run at every start.
set -eu

write() {
  mkdir -p "${1%/*}"
  (umask 077 && cat >"$1.new")
  chmod "$2" "$1.new"
  mv "$1.new" "$1"
}
`

// applySysctls stands for the unit of systemd that applies the kernel settings of a machine.
//
//go:embed sysctl.sh
var applySysctls string

// SecretContent looks up the content that a file takes from a Secret.
type SecretContent func(ref gardenextensionsv1alpha1.FileContentSecretRef) ([]byte, error)

// Render returns the user data for the spec. Equal specs give equal user data.
func Render(spec *gardenextensionsv1alpha1.OperatingSystemConfigSpec, secretContent SecretContent) (string, error) {
	var script strings.Builder
	script.WriteString(header)
	for _, file := range spec.Files {
		if file.Content.ImageRef != nil {
			continue
		}
		if err := renderFile(&script, file, secretContent); err != nil {
			return "", err
		}
	}
	if err := renderImageFiles(&script, spec.Files); err != nil {
		return "", err
	}
	for _, unit := range spec.Units {
		if err := renderUnit(&script, unit); err != nil {
			return "", err
		}
	}
	return script.String(), nil
}

func renderFile(script *strings.Builder, file gardenextensionsv1alpha1.File, secretContent SecretContent) error {
	if !path.IsAbs(file.Path) {
		return fmt.Errorf("file %q: %w", file.Path, errRelative)
	}
	content, err := fileContent(file.Content, secretContent)
	if err != nil {
		return fmt.Errorf("file %q: %w", file.Path, err)
	}
	defer onlyOn(script, file.HostName)()
	plain := file.Content.TransmitUnencoded != nil && *file.Content.TransmitUnencoded
	writeFile(script, file.Path, modeOf(file), content, plain)
	return nil
}

func modeOf(file gardenextensionsv1alpha1.File) uint32 {
	if file.Permissions == nil {
		return defaultMode
	}
	return *file.Permissions & uint32(fs.ModePerm) // as the agent of the node, which compares
}

// onlyOn begins what is for one host, and returns what ends it.
func onlyOn(script *strings.Builder, host *string) func() {
	if host == nil {
		return func() {}
	}
	fmt.Fprintf(script, "\nif [ \"$MACHINE_NAME\" = %s ]; then", quote(*host))
	return func() { script.WriteString("fi\n") }
}

func fileContent(content gardenextensionsv1alpha1.FileContent, secretContent SecretContent) ([]byte, error) {
	switch {
	case content.SecretRef != nil:
		return secretContent(*content.SecretRef)
	case content.Inline == nil:
		return nil, errors.New("it has no content")
	}
	inline := content.Inline
	switch gardenextensionsv1alpha1.FileCodecID(inline.Encoding) {
	case gardenextensionsv1alpha1.FileCodecIDPlain:
		return []byte(inline.Data), nil
	case gardenextensionsv1alpha1.FileCodecIDBase64:
		data, err := base64.StdEncoding.DecodeString(inline.Data)
		if err != nil {
			return nil, fmt.Errorf("decode content: %w", err)
		}
		return data, nil
	default:
		return nil, fmt.Errorf("the encoding %q is not known", inline.Encoding)
	}
}

// UnitFile is a file that a unit consists of on a machine.
type UnitFile struct {
	// Path is absolute.
	Path string
	// Mode has the permissions.
	Mode uint32
	// Content of the file.
	Content []byte
}

// OnceFile is the script of a unit that runs once.
func OnceFile(unit string) string { return path.Join(oneshotDir, unit+".sh") }

// RunFile is the script of a unit that keeps running.
func RunFile(unit string) string { return path.Join(machine.UnitsDir, unit+".sh") }

// ProcessName is how a machine names the process of a unit.
func ProcessName(unit string) string {
	if unit == containerdUnit {
		return "containerd"
	}
	return unit
}

// UnitFiles returns what a unit consists of. The last one is its script, unless the machine does not run it.
func UnitFiles(unit gardenextensionsv1alpha1.Unit) ([]UnitFile, error) {
	if unit.Name == "" || strings.Contains(unit.Name, "/") {
		return nil, fmt.Errorf("unit %q: this is not the name of a unit", unit.Name)
	}
	if unit.Name == containerdUnit {
		return nil, nil
	}
	if unit.Name == sysctlUnit && unit.Content == nil {
		return []UnitFile{{OnceFile(unit.Name), executableMode, []byte(applySysctls)}}, nil
	}
	var files []UnitFile
	if unit.Content != nil {
		files = append(files, UnitFile{path.Join(systemdDir, unit.Name), defaultMode, []byte(*unit.Content)})
	}
	for _, dropIn := range unit.DropIns {
		files = append(files, UnitFile{path.Join(systemdDir, unit.Name+".d", path.Base(dropIn.Name)), defaultMode, []byte(dropIn.Content)})
	}
	if !runs(unit) {
		return files, nil
	}
	parsed, err := parseService(unit)
	if err != nil {
		return nil, err
	}
	script := RunFile(unit.Name)
	if parsed.oneshot {
		script = OnceFile(unit.Name)
	}
	return append(files, UnitFile{script, executableMode, []byte(parsed.script(unit.Name))}), nil
}

// renderUnit writes the files of a unit. One that runs once is run when they are written.
func renderUnit(script *strings.Builder, unit gardenextensionsv1alpha1.Unit) error {
	files, err := UnitFiles(unit)
	if err != nil {
		return err
	}
	for _, file := range files {
		writeFile(script, file.Path, file.Mode, file.Content, false)
		if file.Path == OnceFile(unit.Name) {
			script.WriteString(quote(file.Path) + "\n")
		}
	}
	return nil
}

// writeFile adds the command that writes a file. Plain content is quoted, not encoded, so that placeholders in the script can be replaced
// for each machine.
func writeFile(script *strings.Builder, name string, mode uint32, content []byte, plain bool) {
	if plain {
		fmt.Fprintf(script, "\nprintf %%s %s |\n  write %s %04o\n", quote(string(content)), quote(name), mode)
		return
	}
	fmt.Fprintf(script, "\nbase64 -d <<'END' | write %s %04o\n", quote(name), mode)
	encoded := base64.StdEncoding.EncodeToString(content)
	for len(encoded) > base64Width {
		script.WriteString(encoded[:base64Width] + "\n")
		encoded = encoded[base64Width:]
	}
	script.WriteString(encoded + "\nEND\n")
}

func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
