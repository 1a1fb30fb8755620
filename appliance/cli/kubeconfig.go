// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

type kubeconfigOptions struct {
	env     Environment
	dataDir string
	server  string
	context string
	output  string
	merge   bool
	force   bool
}

func newKubeconfigCommand(env Environment) *cobra.Command {
	o := &kubeconfigOptions{env: env}
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print or merge a kubeconfig for administrators of the garden",
		Long: `Prints a kubeconfig with full access to the garden. The command reads the data directory of the server, so it must run on
the machine of the server, as a user with read permission.

Without --server, the kubeconfig contains an address of this machine that works only locally. To use it on other machines,
set --server. Merging makes the context the current one, and does not replace an entry of the same name for another garden.`,
		Example: `  terrarium kubeconfig --merge
  terrarium kubeconfig --server https://garden.example.org:6443 --output garden.kubeconfig`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			o.complete()
			return o.run()
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.dataDir, "data-dir", options.DefaultDataDir, "data directory of the server")
	flags.StringVar(&o.server, "server", "", "URL of the garden in the kubeconfig (default: an address for use on this machine)")
	flags.StringVar(&o.context, "context", "terrarium", "name of the context, its cluster and its user")
	flags.StringVarP(&o.output, "output", "o", "", "file to write with mode 0600 (default: the standard output)")
	flags.BoolVar(&o.merge, "merge", false, "merge into the file in --output, else the first file in $KUBECONFIG, else ~/.kube/config")
	flags.BoolVar(&o.force, "force", false, "with --merge, also replace an entry of the same name for another garden")
	return cmd
}

func (o *kubeconfigOptions) validate() []error {
	var errs []error
	if o.output == formatJSON || o.output == formatYAML {
		errs = append(errs, fmt.Errorf("--output: is a file, and not a format; use ./%s for a file of this name", o.output))
	}
	if o.force && !o.merge {
		errs = append(errs, errors.New("--force: requires --merge"))
	}
	if o.dataDir == "" {
		errs = append(errs, errors.New("--data-dir: required"))
	}
	if o.server != "" {
		if err := validateServerURL(o.server); err != nil {
			errs = append(errs, fmt.Errorf("--server: %w", err))
		}
	}
	if o.context == "" {
		errs = append(errs, errors.New("--context: required"))
	}
	return errs
}

// complete chooses the file to merge into, in the same order as kubectl.
func (o *kubeconfigOptions) complete() {
	if !o.merge || o.output != "" {
		return
	}
	for _, path := range filepath.SplitList(o.env.Getenv(clientcmd.RecommendedConfigPathEnvVar)) {
		if path != "" {
			o.output = path
			return
		}
	}
	o.output = filepath.Join(o.env.Getenv("HOME"), clientcmd.RecommendedHomeDir, clientcmd.RecommendedFileName)
}

func (o *kubeconfigOptions) run() error {
	config, err := o.load()
	if err != nil {
		return err
	}
	before := ""
	switch {
	case o.merge:
		before, err = identity.MergeKubeconfig(o.output, config, o.force)
		if errors.Is(err, identity.ErrOtherEntry) {
			return withHint(err, "choose another name with --context NAME, or replace the entry with --force")
		}
		if err != nil {
			return err
		}
	case o.output != "":
		if _, err := os.Lstat(o.output); err == nil {
			return withHint(fmt.Errorf("--output: %q exists already", o.output), "add --merge to keep its content, or remove the file")
		}
		if err := identity.WriteKubeconfig(o.output, config); err != nil {
			return err
		}
	default:
		data, err := clientcmd.Write(*config)
		if err != nil {
			return fmt.Errorf("encode kubeconfig: %w", err)
		}
		_, err = o.env.Out.Write(data)
		return err
	}
	o.env.tell("Context %q written to %s.\n", o.context, o.output)
	if before != "" && before != o.context {
		o.env.tell("It is the current context now. To go back: kubectl config use-context %s\n", before)
	}
	return nil
}

// load reads the server's kubeconfig and sets the names and the address from the flags.
func (o *kubeconfigOptions) load() (*clientcmdapi.Config, error) {
	path := identity.AdminKubeconfigPath(o.dataDir)
	config, err := clientcmd.LoadFromFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, withHint(fmt.Errorf("%w: file %q does not exist", options.ErrNoGarden, path),
			`run the command on the machine of the server, with --data-dir if its data is elsewhere; start a garden with "terrarium server"`)
	}
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig of the server: %w", err)
	}
	context := config.Contexts[config.CurrentContext]
	if context == nil || config.Clusters[context.Cluster] == nil || config.AuthInfos[context.AuthInfo] == nil {
		return nil, withHint(fmt.Errorf("kubeconfig %q is incomplete", path), "restart the server: it writes the file at each start")
	}
	cluster, user := config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo]
	access := identity.Access{
		Name: o.context, Server: cluster.Server, CABundle: cluster.CertificateAuthorityData,
		CertPEM: user.ClientCertificateData, KeyPEM: user.ClientKeyData,
	}
	if o.server != "" {
		access.Server = strings.TrimSuffix(o.server, "/")
	}
	return access.Kubeconfig(), nil
}
