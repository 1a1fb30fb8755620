// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// DefaultDataDir is the default data directory of the server.
const DefaultDataDir = "/var/lib/terrarium"

// ErrNoGarden says that no kubeconfig is specified, and that the data directory has none.
var ErrNoGarden = errors.New("no kubeconfig of a garden")

// Connection is the connection of a command to a garden, with the permissions of an administrator.
type Connection struct {
	// Kubeconfig is the path of a kubeconfig; if empty, the kubeconfig is in the data directory or in $KUBECONFIG.
	Kubeconfig string
	// Context is a context of the kubeconfig; if empty, it is the current one.
	Context string
	// DataDir is the server's data directory. Its kubeconfig is used if no other is specified.
	DataDir string
}

// AddFlags adds the flags of the connection.
func (c *Connection) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Kubeconfig, "kubeconfig", "",
		"kubeconfig of the garden (default: $KUBECONFIG, else the kubeconfig in the server's data directory)")
	fs.StringVar(&c.Context, "context", "", "context of the kubeconfig (default: its current context)")
	fs.StringVar(&c.DataDir, "data-dir", "", "data directory of the server on this machine; takes precedence over $KUBECONFIG (default "+DefaultDataDir+")")
}

// RESTConfig reads the kubeconfig from the flags or the environment.
func (c Connection) RESTConfig(getenv func(string) string) (*rest.Config, error) {
	rules, err := c.rules(getenv)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig: %w", err)
	}
	return config, nil
}

func (c Connection) rules(getenv func(string) string) (*clientcmd.ClientConfigLoadingRules, error) {
	environment := getenv(clientcmd.RecommendedConfigPathEnvVar)
	switch {
	case c.Kubeconfig != "":
		return &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig}, nil
	case c.DataDir == "" && environment != "":
		return &clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(environment)}, nil
	}
	dir := c.DataDir
	if dir == "" {
		dir = DefaultDataDir
	}
	path := identity.AdminKubeconfigPath(dir)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: file %q does not exist", ErrNoGarden, path)
	} else if err != nil {
		return nil, fmt.Errorf("look for kubeconfig: %w", err)
	}
	return &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, nil
}
