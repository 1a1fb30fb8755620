// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// The flags of the server that set a field of its configuration.
const (
	flagDataDir           = "data-dir"
	flagListen            = "listen"
	flagExternalAddress   = "external-address"
	flagDatastoreEndpoint = "datastore-endpoint"
	flagLogLevel          = "log-level"
	flagLogFormat         = "log-format"
)

// Server are the flags of the server.
type Server struct {
	// ConfigFile is the path of a configuration file; it may be empty.
	ConfigFile string

	flags   *pflag.FlagSet
	given   gardenconfigv1alpha1.ServerConfiguration
	logging telemetry.Options
}

// AddFlags adds the flags. It is called once.
func (s *Server) AddFlags(fs *pflag.FlagSet) {
	s.flags = fs
	var defaults gardenconfigv1alpha1.ServerConfiguration
	defaults.SetDefaults()
	fs.StringVar(&s.ConfigFile, "config", "", "path of the configuration file; flags take precedence over its fields")
	fs.StringVar(&s.given.DataDir, flagDataDir, defaults.DataDir, "data directory of the server")
	fs.StringVar(&s.given.Listen, flagListen, defaults.Listen, "address and port of the API")
	fs.StringSliceVar(&s.given.ExternalAddresses, flagExternalAddress, nil,
		"host name or IP address of the server for clients and gardenlets; can be repeated, the first one is used in join commands (default: detected)")
	fs.StringVar(&s.given.Datastore.Endpoint, flagDatastoreEndpoint, "",
		"URL of a database or etcd; set it in the configuration file if it contains a password (default: SQLite in the data directory)")
	s.logging = telemetry.Options{Level: telemetry.Level(defaults.LogLevel), Format: telemetry.Format(defaults.LogFormat)}
	AddLoggingFlags(&s.logging, fs)
}

// CompletedServer is a complete configuration. Only Server.Complete returns one.
type CompletedServer struct{ *completedServer }

type completedServer struct {
	config *gardenconfigv1alpha1.ServerConfiguration
	file   string
	isFlag map[string]bool
}

// Complete reads the configuration file, if there is one. Flags take precedence over it.
func (s *Server) Complete(readFile func(path string) ([]byte, error)) (CompletedServer, error) {
	c := &completedServer{config: &gardenconfigv1alpha1.ServerConfiguration{}, file: s.ConfigFile, isFlag: map[string]bool{}}
	c.config.SetDefaults()
	if s.ConfigFile != "" {
		data, err := readFile(s.ConfigFile)
		if err != nil {
			return CompletedServer{}, fmt.Errorf("--config: %w", err)
		}
		if c.config, err = gardenconfigv1alpha1.DecodeServerConfiguration(data); err != nil {
			return CompletedServer{}, fmt.Errorf("configuration file %q: %w", s.ConfigFile, err)
		}
	}
	s.flags.Visit(func(f *pflag.Flag) {
		c.isFlag[f.Name] = true
		s.overlay(f.Name, c.config)
	})
	dir, err := filepath.Abs(c.config.DataDir)
	if err != nil {
		return CompletedServer{}, fmt.Errorf("--%s: %w", flagDataDir, err)
	}
	if c.config.DataDir != "" {
		c.config.DataDir = dir
	}
	return CompletedServer{c}, nil
}

// overlay copies the value of a flag.
func (s *Server) overlay(flag string, into *gardenconfigv1alpha1.ServerConfiguration) {
	switch flag {
	case flagDataDir:
		into.DataDir = s.given.DataDir
	case flagListen:
		into.Listen = s.given.Listen
	case flagExternalAddress:
		into.ExternalAddresses = s.given.ExternalAddresses
	case flagDatastoreEndpoint:
		into.Datastore.Endpoint = s.given.Datastore.Endpoint
	case flagLogLevel:
		into.LogLevel = string(s.logging.Level)
	case flagLogFormat:
		into.LogFormat = string(s.logging.Format)
	}
}

// Configuration returns the defaults, overridden by the file and then by the flags.
func (c CompletedServer) Configuration() *gardenconfigv1alpha1.ServerConfiguration {
	return c.config.DeepCopy()
}
