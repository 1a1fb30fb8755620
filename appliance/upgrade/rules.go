// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// Why a program does not use a data directory or a shared datastore. The errors say what to do.
var (
	// ErrDowngrade says that a newer version has used the directory.
	ErrDowngrade = errors.New("data directory was used by a newer version")
	// ErrNewerDatastore says that a newer version has led the servers that share a datastore.
	ErrNewerDatastore = errors.New("the datastore was used by a newer version")
	// ErrSkipped says that there is a minor version between the one that has used the directory or datastore and this one.
	ErrSkipped = errors.New("a minor version cannot be skipped")
	// ErrIncomplete says that another version has begun to upgrade the directory.
	ErrIncomplete = errors.New("an upgrade of the data directory is not complete")
)

// firstVersion is the version of programs that did not say which one they are.
const firstVersion = "v0.1.0"

// Program is the program that wants to use a data directory.
type Program struct {
	// Version is its version. One that is no semantic version, of somebody's own build, is compared with none.
	Version string
	// Migrations lead from schema to schema, in their order.
	Migrations []Migration
}

// Schema is the one that the program uses.
func (p Program) Schema() int {
	if n := len(p.Migrations); n > 0 {
		return p.Migrations[n-1].To
	}

	return identity.FirstSchema
}

// judge returns whether a directory has to be upgraded, and an error if this program must not use it.
func (p Program) judge(dir string, is identity.Use) (upgrade bool, err error) {
	if is.Schema > p.Schema() {
		return false, fmt.Errorf("%w: %q has schema %d of terrarium %s, and terrarium %s knows up to %d; %s",
			ErrDowngrade, dir, is.Schema, shown(is.Version), p.Version, p.Schema(), back(is))
	}
	from := is.Version
	if from == "" {
		from = firstVersion
	}
	step := compare(from, p.Version)
	if is.Version == "" && step == older {
		step = same
	}
	switch {
	case is.Begun != nil && compare(is.Begun.To, p.Version) == older:
		return false, fmt.Errorf("%w: the one of %q from terrarium %s to %s was interrupted; start %s to complete it, %s",
			ErrIncomplete, dir, shown(is.Begun.From), is.Begun.To, is.Begun.To, restoreOf(is.Begun))
	case step == older:
		return false, fmt.Errorf("%w: %q was last used by terrarium %s, and this is %s; %s", ErrDowngrade, dir, is.Version, p.Version, back(is))
	case step == skipped:
		return false, fmt.Errorf("%w: %q was last used by terrarium %s, and this is %s; start %s first, and this version after it",
			ErrSkipped, dir, shown(is.Version), p.Version, following(from, p.Version))
	}

	return step == newer || is.Begun != nil || is.Schema < p.Schema(), nil
}

// CheckShared returns an error if this program must not lead the servers that share a datastore, of which schema and version are those of
// the program that has last led. It changes nothing, and is only asked once the data directory of the server allows it.
func (p Program) CheckShared(schema int, version string) error {
	if schema > p.Schema() {
		return fmt.Errorf("%w: it has schema %d of terrarium %s, and terrarium %s knows up to %d; upgrade this server",
			ErrNewerDatastore, schema, shown(version), p.Version, p.Schema())
	}
	switch compare(version, p.Version) {
	case older:
		return fmt.Errorf("%w: terrarium %s has last led the servers of this garden, and this is %s; upgrade this server", ErrNewerDatastore, version, p.Version)
	case skipped:
		return fmt.Errorf("%w: terrarium %s has last led the servers of this garden, and this is %s; start a server of %s first, and this one after it",
			ErrSkipped, version, p.Version, following(version, p.Version))
	case same, newer:
	}

	return nil
}

// back says how to go on with a directory of a newer version.
func back(is identity.Use) string {
	text := fmt.Sprintf("run terrarium %s or a later version", shown(is.Version))
	if is.Begun != nil {
		return text + ", " + restoreOf(is.Begun)
	}
	if is.Upgraded != nil {
		return text + ", " + restoreOf(is.Upgraded)
	}

	return text
}

func restoreOf(u *identity.Upgrade) string {
	if u.Snapshot == "" {
		return fmt.Sprintf("or restore a snapshot that terrarium %s has taken", shown(u.From))
	}

	return fmt.Sprintf("or go back to the state before the upgrade: terrarium snapshot restore %s --force --data-dir DIRECTORY", u.Snapshot)
}

func shown(of string) string {
	if of == "" {
		return "of an unknown version"
	}

	return of
}

// step is the way from one version to another.
type step int

const (
	// same is a version of the same minor version, or one that cannot be compared.
	same step = iota
	// newer is the next minor version, or the first one of the next major version.
	newer
	// skipped is a version after that.
	skipped
	// older is an earlier minor version.
	older
)

// compare returns the step between two versions. The patch version and what follows it make no difference.
func compare(from, to string) step {
	a, errA := version.ParseSemantic(from)
	b, errB := version.ParseSemantic(to)
	if errA != nil || errB != nil {
		return same
	}
	switch {
	case b.Major() < a.Major(), b.Major() == a.Major() && b.Minor() < a.Minor():
		return older
	case b.Major() == a.Major() && b.Minor() == a.Minor():
		return same
	case b.Major() == a.Major() && b.Minor() == a.Minor()+1, b.Major() == a.Major()+1 && b.Minor() == 0:
		return newer
	default:
		return skipped
	}
}

// following is the version to start after one, on the way to a later one.
func following(of, to string) string {
	is, err := version.ParseSemantic(of)
	last, errLast := version.ParseSemantic(to)
	if err != nil || errLast != nil {
		return of
	}
	if last.Major() > is.Major() {
		return fmt.Sprintf("v%d.0", is.Major()+1)
	}

	return fmt.Sprintf("v%d.%d", is.Major(), is.Minor()+1)
}
