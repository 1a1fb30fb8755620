// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// NamedFile is a file that a configuration names.
type NamedFile struct {
	// Path is that of the field.
	Path string
	// Name is the path of the file.
	Name string
}

// ErrRelative is the error for a file whose path does not begin with a slash.
var ErrRelative = errors.New("is relative to the directory in which the server is started, so it is not checked")

// Check returns an error if the file is not there, or is none. What a user may not read can still be read by the server: the error is then
// fs.ErrPermission. A relative path is not looked at: the error is ErrRelative.
func (f NamedFile) Check() error {
	if !filepath.IsAbs(f.Name) {
		return fmt.Errorf("%s: %q %w", f.Path, f.Name, ErrRelative)
	}
	about, err := os.Stat(f.Name)
	switch {
	case err != nil:
	case about.IsDir():
		err = fmt.Errorf("%q is a directory", f.Name)
	case about.Mode().IsRegular(): // Others may wait for a writer.
		err = readable(f.Name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}

	return nil
}

func readable(name string) error {
	file, err := os.Open(name) //nolint:gosec // It is the file that the configuration names.
	if err != nil {
		return err //nolint:wrapcheck // It names the file.
	}

	return file.Close() //nolint:wrapcheck // It names the file.
}

// AuditPolicy returns the file with the policy of the audit log, if the configuration names one that is used.
func AuditPolicy(c *gardenconfigv1alpha1.ServerConfiguration) (NamedFile, bool) {
	return NamedFile{Path: "audit.policyFile", Name: c.Audit.PolicyFile}, c.Audit.PolicyFile != "" && !c.Audit.Disabled
}

// NamedFiles returns the files that a server reads because its configuration names them.
func NamedFiles(c *gardenconfigv1alpha1.ServerConfiguration) []NamedFile {
	all := []NamedFile{
		{"datastore.caFile", c.Datastore.CAFile},
		{"datastore.certFile", c.Datastore.CertFile},
		{"datastore.keyFile", c.Datastore.KeyFile},
	}
	if policy, used := AuditPolicy(c); used {
		all = append(all, policy)
	}
	if s3 := c.Snapshots.S3; s3 != nil {
		all = append(all, NamedFile{"snapshots.s3.credentialsFile", s3.CredentialsFile}, NamedFile{"snapshots.s3.caFile", s3.CAFile})
	}
	if oidc := c.OIDC; oidc != nil {
		all = append(all, NamedFile{"oidc.clientSecretFile", oidc.ClientSecretFile}, NamedFile{"oidc.caFile", oidc.CAFile})
	}
	named := all[:0]
	for _, f := range all {
		if f.Name != "" {
			named = append(named, f)
		}
	}

	return named
}

// CheckFiles checks all files that a configuration names. It returns separately what cannot be checked here.
func CheckFiles(c *gardenconfigv1alpha1.ServerConfiguration) (wrong, unchecked []error) {
	for _, f := range NamedFiles(c) {
		switch err := f.Check(); {
		case errors.Is(err, fs.ErrPermission), errors.Is(err, ErrRelative):
			unchecked = append(unchecked, err)
		case err != nil:
			wrong = append(wrong, err)
		}
	}

	return wrong, unchecked
}
