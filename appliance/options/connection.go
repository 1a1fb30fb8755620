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

// DefaultDataDir is where the server keeps everything unless it is told otherwise.
const DefaultDataDir = "/var/lib/terrarium"

// ErrNoGarden is in the error when no kubeconfig is named and the data directory has none.
var ErrNoGarden = errors.New("no kubeconfig of a garden")

// Connection says how a command reaches a garden as its administrator.
type Connection struct {
	// Kubeconfig is the path of a kubeconfig; empty means to look in the data directory, or in $KUBECONFIG.
	Kubeconfig string
	// Context is a context of the kubeconfig; empty means its current one.
	Context string
	// DataDir is the server's data directory, whose kubeconfig is used when no other is named.
	DataDir string
}

// AddFlags lets flags set the connection.
func (c *Connection) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Kubeconfig, "kubeconfig", "",
		"kubeconfig of the garden (default: $KUBECONFIG, else the one that the server leaves in its data directory)")
	fs.StringVar(&c.Context, "context", "", "context of the kubeconfig (default: its current one)")
	fs.StringVar(&c.DataDir, "data-dir", "", "data directory of the server on this machine; comes before $KUBECONFIG (default "+DefaultDataDir+")")
}

// RESTConfig reads the kubeconfig that the flags, or else the environment, point to.
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
		return nil, fmt.Errorf("%w: no server has left one at %q", ErrNoGarden, path)
	} else if err != nil {
		return nil, fmt.Errorf("look for kubeconfig: %w", err)
	}
	return &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, nil
}
