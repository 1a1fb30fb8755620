// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// The flags of the server that set a field of its configuration.
const (
	flagDataDir         = "data-dir"
	flagListen          = "listen"
	flagExternalAddress = "external-address"
	flagLogLevel        = "log-level"
	flagLogFormat       = "log-format"
)

// The names of the configuration files in ConfigDir.
const (
	ServerFile    = "server.yaml"
	GardenletFile = "gardenlet.yaml"
)

// pathOfFlag returns the path of the field that a flag sets.
func pathOfFlag(flag string) string {
	return map[string]string{
		flagDataDir: "dataDir", flagListen: "listen", flagExternalAddress: "externalAddresses",
		flagDatastoreEndpoint: "datastore.endpoint", flagDatastoreCAFile: "datastore.caFile", flagDatastoreCertFile: "datastore.certFile",
		flagDatastoreKeyFile: "datastore.keyFile", flagLogLevel: "logLevel", flagLogFormat: "logFormat",
	}[flag]
}

// Server are the flags of the server.
type Server struct {
	// ConfigFile is the path of a configuration file; it may be empty.
	ConfigFile string
	// DefaultFile is the path of the configuration file that is used, if it exists, when ConfigFile is empty.
	DefaultFile string

	flags   *pflag.FlagSet
	given   gardenconfigv1alpha1.ServerConfiguration
	logging telemetry.Options
}

// AddFlags adds the flags. It is called once.
func (s *Server) AddFlags(fs *pflag.FlagSet) {
	s.flags = fs
	var defaults gardenconfigv1alpha1.ServerConfiguration
	defaults.SetDefaults()
	fs.StringVar(&s.ConfigFile, "config", "", "path of the configuration file, or - for the standard input; drop-ins FILE.d/*.yaml take precedence over it, and flags over both (default "+
		filepath.Join(ConfigDir, ServerFile)+", if it exists)")
	fs.StringVar(&s.given.DataDir, flagDataDir, defaults.DataDir, "data directory of the server")
	fs.StringVar(&s.given.Listen, flagListen, defaults.Listen, "address and port of the API")
	fs.StringSliceVar(&s.given.ExternalAddresses, flagExternalAddress, nil,
		"host name or IP address of the server for clients and gardenlets; can be repeated, the first one is used in join commands (default: detected)")
	AddDatastoreFlags(&s.given.Datastore, fs)
	s.logging = telemetry.Options{Level: telemetry.Level(defaults.LogLevel), Format: telemetry.Format(defaults.LogFormat)}
	AddLoggingFlags(&s.logging, fs)
}

// CompletedServer is a complete configuration. Only Server.Complete returns one.
type CompletedServer struct{ *completedServer }

type completedServer struct {
	config *gardenconfigv1alpha1.ServerConfiguration
	layers *Layers
	isFlag map[string]bool
}

// Complete reads the configuration file and its drop-ins, if there are any. Flags take precedence over them.
func (s *Server) Complete(files Files) (CompletedServer, error) {
	c := &completedServer{config: &gardenconfigv1alpha1.ServerConfiguration{}, isFlag: map[string]bool{}}
	c.config.SetDefaults()
	if err := s.readFiles(c, files); err != nil {
		return CompletedServer{}, err
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

func (s *Server) readFiles(c *completedServer, files Files) error {
	source := Source{Path: s.ConfigFile, Check: checkServerDocument}
	if source.Path == "" {
		source.Path, source.Optional = s.DefaultFile, true
	}
	if source.Path == "" {
		return nil
	}
	var err error
	if c.layers, err = ReadLayers(files, source); err != nil {
		if s.ConfigFile != "" && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("--config: %w", err)
		}
		return err
	}
	if c.layers.Empty() {
		return nil
	}
	document, err := c.layers.Document()
	if err != nil {
		return err
	}
	c.config, err = gardenconfigv1alpha1.DecodeServerConfiguration(document)
	return err
}

func checkServerDocument(data []byte) error {
	_, err := gardenconfigv1alpha1.DecodeServerConfiguration(data)
	return err
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
	case flagLogLevel:
		into.LogLevel = string(s.logging.Level)
	case flagLogFormat:
		into.LogFormat = string(s.logging.Format)
	default:
		overlayDatastore(flag, &s.given.Datastore, &into.Datastore)
	}
}

// Configuration returns the defaults, overridden by the file and then by the flags.
func (c CompletedServer) Configuration() *gardenconfigv1alpha1.ServerConfiguration {
	return c.config.DeepCopy()
}

// Files returns the paths of the configuration files in the order in which they were merged.
func (c CompletedServer) Files() []string {
	if c.layers.Empty() {
		return nil
	}
	return c.layers.Names
}

// Origin returns the flag or the file that has set the value at a path; empty if it is the default.
func (c CompletedServer) Origin(path string) string {
	for flag := range c.isFlag {
		if set := pathOfFlag(flag); set != "" && (path == set || strings.HasPrefix(path, set+"[")) {
			return "--" + flag
		}
	}
	return c.layers.Origin(path)
}
