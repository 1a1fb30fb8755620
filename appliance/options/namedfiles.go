// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// NamedFile is a file that a configuration names.
type NamedFile struct {
	// Path is that of the field.
	Path string
	// Name is the path of the file.
	Name string
}

// Check returns an error if the file is not there, or is none. What a user may not read can still be read by the server: the error is then
// fs.ErrPermission.
func (f NamedFile) Check() error {
	file, err := os.Open(f.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	defer file.Close() //nolint:errcheck // Nothing is written.
	about, err := file.Stat()
	if err == nil && about.IsDir() {
		err = fmt.Errorf("%q is a directory", f.Name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}

	return nil
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

// CheckFiles checks all files that a configuration names. It returns separately what only other users can read.
func CheckFiles(c *gardenconfigv1alpha1.ServerConfiguration) (wrong, unreadable []error) {
	for _, f := range NamedFiles(c) {
		switch err := f.Check(); {
		case errors.Is(err, fs.ErrPermission):
			unreadable = append(unreadable, err)
		case err != nil:
			wrong = append(wrong, err)
		}
	}

	return wrong, unreadable
}
