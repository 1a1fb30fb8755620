// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

const (
	trustDir    = nodeagent.AuthoritiesDir + "/"
	trustScript = "/var/lib/ssl/update-local-ca-certificates.sh"
	trustUnit   = "updatecacerts.service"
)

// updateTrust adds the certificates to those of the operating system.
//
//go:embed trust.sh
var updateTrust string

// trustFiles are the certificates that machines trust beside those of the operating system, one in a file, as the tools of some
// distributions want it. They are written anew, so that nothing but certificates gets to a machine.
func trustFiles(v Values) ([]gardenextensionsv1alpha1.File, error) {
	if err := validation.CABundle(v.Pool.CABundle, field.NewPath("caBundle")).ToAggregate(); err != nil {
		return nil, fmt.Errorf("%w: pool %q: %w", ErrSettings, v.Pool.Name, err)
	}
	trusted := trusted(v)
	if len(trusted) == 0 {
		return nil, nil
	}
	files := []gardenextensionsv1alpha1.File{inline(trustScript, updateTrust, 0o755)}
	for _, der := range trusted {
		sum := sha256.Sum256(der)
		text := pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: der})
		files = append(files, inline(trustDir+hex.EncodeToString(sum[:])[:16]+".crt", string(text), 0o644))
	}
	return files, nil
}

const pemCertificate = "CERTIFICATE"

// trusted returns each certificate once. What is no certificate in the bundle of a profile is left out: all shoots of the profile share it,
// and their owners could not correct it.
func trusted(v Values) [][]byte {
	var all [][]byte
	for _, bundle := range []*string{v.ProfileCABundle, v.Pool.CABundle} {
		if bundle != nil {
			all = append(all, certificates([]byte(*bundle))...)
		}
	}
	var once [][]byte
	for _, der := range all {
		if !slices.ContainsFunc(once, func(other []byte) bool { return slices.Equal(der, other) }) {
			once = append(once, der)
		}
	}
	return once
}

func certificates(bundle []byte) [][]byte {
	var all [][]byte
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); block.Type == pemCertificate && err == nil {
			all = append(all, block.Bytes)
		}
	}
	return all
}

// trustUnits come before the container runtime, which may need the certificates to pull images.
func trustUnits(files []gardenextensionsv1alpha1.File) []gardenextensionsv1alpha1.Unit {
	paths := trustPaths(files)
	if len(paths) == 0 {
		return nil
	}
	unit := runOnce(trustUnit, "Trusts the certificates of the shoot", trustScript)
	unit.FilePaths = append(unit.FilePaths, paths...)
	return []gardenextensionsv1alpha1.Unit{unit}
}

// trustPaths are the paths of the certificates among the files.
func trustPaths(files []gardenextensionsv1alpha1.File) []string {
	var paths []string
	for i := range files {
		if strings.HasPrefix(files[i].Path, trustDir) {
			paths = append(paths, files[i].Path)
		}
	}
	return paths
}
