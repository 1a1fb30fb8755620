// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// The flags of an external datastore.
const (
	flagDatastoreEndpoint = "datastore-endpoint"
	flagDatastoreCAFile   = "datastore-cafile"
	flagDatastoreCertFile = "datastore-certfile"
	flagDatastoreKeyFile  = "datastore-keyfile"
)

// AddDatastoreFlags adds the flags of an external datastore.
func AddDatastoreFlags(into *gardenconfigv1alpha1.DatastoreConfiguration, fs *pflag.FlagSet) {
	fs.StringVar(&into.Endpoint, flagDatastoreEndpoint, "",
		"URL of PostgreSQL, MySQL or etcd; one with a password belongs into the configuration file (default: SQLite in the data directory)")
	fs.StringVar(&into.CAFile, flagDatastoreCAFile, "", "CA certificates that verify the datastore")
	fs.StringVar(&into.CertFile, flagDatastoreCertFile, "", "client certificate for the datastore")
	fs.StringVar(&into.KeyFile, flagDatastoreKeyFile, "", "key of the client certificate for the datastore")
}

// overlayDatastore copies the value of a flag, and reports whether it is one of these.
func overlayDatastore(flag string, given, into *gardenconfigv1alpha1.DatastoreConfiguration) {
	switch flag {
	case flagDatastoreEndpoint:
		into.Endpoint = given.Endpoint
	case flagDatastoreCAFile:
		into.CAFile = given.CAFile
	case flagDatastoreCertFile:
		into.CertFile = given.CertFile
	case flagDatastoreKeyFile:
		into.KeyFile = given.KeyFile
	}
}

var errPasswordInFlag = errors.New("contains a password, which every user of this machine can read in the list of processes; " +
	"set datastore.endpoint in the configuration file, or in a drop-in, instead")

// checkDatastore checks the settings of an external datastore. Its errors do not repeat the URL, because it may contain a password.
func checkDatastore(c *gardenconfigv1alpha1.DatastoreConfiguration, check func(flag, path string, err error)) {
	check(flagDatastoreEndpoint, "datastore.endpoint", ValidateEndpoint(c.Endpoint))
	for _, file := range []struct{ flag, path, name string }{
		{flagDatastoreCAFile, "datastore.caFile", c.CAFile},
		{flagDatastoreCertFile, "datastore.certFile", c.CertFile},
		{flagDatastoreKeyFile, "datastore.keyFile", c.KeyFile},
	} {
		if file.name != "" && c.Endpoint == "" {
			check(file.flag, file.path, errors.New("there is no datastore.endpoint to use it for"))
		}
	}
	if a := c.AdvertiseAddress; a != "" {
		host := a
		if h, _, err := net.SplitHostPort(a); err == nil {
			host = h
		}
		check("", "datastore.advertiseAddress", validateAddress(host))
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		check("", "datastore", errors.New("certFile and keyFile are needed together"))
	}
}

// ValidateEndpoint returns an error for a URL that is not that of a datastore. The error does not repeat the URL.
func ValidateEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	if err := kine.Refused(endpoint); err != nil {
		return err
	}
	known := []string{"postgres", "postgresql", "mysql", "http", "https"}
	scheme, rest, found := strings.Cut(endpoint, "://")
	if !found || rest == "" || !slices.Contains(known, scheme) {
		return fmt.Errorf("must be a URL with one of the schemes %s", strings.Join(known, ", "))
	}
	if strings.HasPrefix(scheme, "http") && strings.Contains(endpoint, "@") {
		return errors.New("an etcd knows its clients by their certificates: set datastore.certFile and keyFile in place of a user name")
	}
	return nil
}
