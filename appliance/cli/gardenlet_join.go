// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
)

type gardenletJoinOptions struct {
	env  Environment
	join join.Options
	log  telemetry.Options

	tokenFile, configFile, imageVectorFile, gardenCAFile string

	mode        string
	writeConfig string
	dryRun      bool
	output      outputFlag
}

func newGardenletJoinCommand(env Environment) *cobra.Command {
	o := &gardenletJoinOptions{env: env}
	cmd := &cobra.Command{
		Use:   "join SERVER_URL",
		Short: "Make a cluster a seed of the garden at SERVER_URL",
		Long: `Makes a Kubernetes cluster a seed: it deploys a gardenlet there, which requests a certificate from the garden with the
token, and follows it until the seed is ready. "terrarium token create", run in the garden, prints the command to paste.

A garden that was not set up by this product publishes no CA that a token could be compared with. It is joined with a bootstrap
token made there and the CA of its API server in a file.

Everything that can be wrong is found out before the cluster is touched. When the seed cannot be registered, what was made in
the cluster is removed again. Networks, region and zones are taken from the cluster if it tells them.`,
		Example: `  terrarium gardenlet join https://garden.example.org:6443 --token T10… --name eu-1 --provider local --region local
  terrarium gardenlet join https://garden.example.org:6443 --token-file token --config gardenlet.yaml
  terrarium gardenlet join https://garden.example.org:6443 --token-file - --config gardenlet.yaml --dry-run -o yaml <token
  terrarium gardenlet join https://garden.example.org --token ID.SECRET --garden-ca-file ca.crt --config gardenlet.yaml`,
		Args: exactly("SERVER_URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.join.Server = args[0]
			if err := o.complete(); err != nil {
				return err
			}
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func (o *gardenletJoinOptions) addFlags(fs *pflag.FlagSet) {
	j := &o.join
	fs.StringVar(&j.Token, "token", "", `join token, as "terrarium token create" prints it; others on this machine can see it while the command runs`)
	fs.StringVar(&o.tokenFile, "token-file", "", "file with the join token; - is the standard input")
	fs.StringVar(&o.gardenCAFile, "garden-ca-file", "", "file with the CA of the garden in PEM, for a token without its hash")
	fs.BoolVar(&j.InsecureSkipCAVerification, "insecure-skip-ca-verification", false,
		"unsafe: accept a token without the hash of a CA, and with it whoever answers at SERVER_URL")
	addSeedFlags(fs, &j.SeedKubeconfig, &j.SeedContext)
	fs.StringVar(&j.Name, "name", "", "name of the seed")
	fs.StringVar(&j.Provider, "provider", "", "type of the infrastructure of the cluster")
	fs.StringVar(&j.Region, "region", "", "region of the cluster")
	fs.StringSliceVar(&j.Zones, "zone", nil, "zone of the cluster; may be given several times")
	fs.StringVar(&j.Pods, "pods", "", "network of the pods in CIDR notation")
	fs.StringVar(&j.Services, "services", "", "network of the services in CIDR notation")
	fs.StringVar(&j.Nodes, "nodes", "", "network of the nodes in CIDR notation")
	fs.StringVar(&j.InternalDomain, "internal-domain", "", "domain below which the API servers of shoots get internal names")
	fs.StringVar(&j.InternalDomainProvider, "internal-domain-provider", "", "type of its DNS provider (default: the provider of the seed)")
	fs.StringVar(&j.InternalDomainSecret, "internal-domain-secret", "", "Secret of the garden with its credentials, as NAMESPACE/NAME (default garden/internal-domain)")
	fs.StringVar(&o.configFile, "config", "", "GardenletConfiguration that these flags are laid over")
	fs.StringVar(&j.Image, "image", "", "image of the gardenlet (default terrarium.garden/terrarium:"+options.Version+")")
	fs.StringVar(&o.imageVectorFile, "image-vector", "", "file that replaces images of the image vector")
	fs.StringVar(&o.mode, "mode", string(join.ModeDeployment), "how the gardenlet runs: deployment, in the cluster, or process, in this command")
	fs.StringVar(&o.writeConfig, "write-config", "", "where mode process leaves the configuration (default gardenlet-NAME.yaml)")
	fs.DurationVar(&j.Timeout, "timeout", join.DefaultTimeout, "how long it may take until the seed is ready")
	fs.BoolVar(&o.dryRun, "dry-run", false, "check everything and print what would be made in the cluster; it holds the token")
	options.AddLoggingFlags(&o.log, fs)
	o.output.addTo(fs, formatYAML)
}

// addSeedFlags lets flags say how the cluster of a seed is reached.
func addSeedFlags(fs *pflag.FlagSet, kubeconfig, context *string) {
	fs.StringVar(kubeconfig, "seed-kubeconfig", "", "kubeconfig of an administrator of the cluster (default: $KUBECONFIG, else ~/.kube/config)")
	fs.StringVar(context, "seed-context", "", "context of that kubeconfig (default: its current one)")
}

// complete reads the files that flags name.
func (o *gardenletJoinOptions) complete() error {
	o.join.Mode = join.Mode(o.mode)
	if o.join.Image == "" {
		o.join.Image = "terrarium.garden/terrarium:" + options.Version
	}
	if o.tokenFile != "" && o.join.Token == "" {
		data, err := readInput(o.env, o.tokenFile)
		if err != nil {
			return fmt.Errorf("read token: %w", err)
		}
		o.join.Token = strings.TrimSpace(string(data))
		if o.join.Token == "" {
			return fmt.Errorf("read token: file %q is empty", o.tokenFile)
		}
	}
	if o.configFile != "" {
		data, err := readInput(o.env, o.configFile)
		if err != nil {
			return fmt.Errorf("read configuration: %w", err)
		}
		o.join.Config = data
	}
	if o.gardenCAFile != "" {
		data, err := os.ReadFile(o.gardenCAFile)
		if err != nil {
			return fmt.Errorf("read CA of the garden: %w", err)
		}
		if len(data) == 0 {
			return fmt.Errorf("read CA of the garden: file %q is empty", o.gardenCAFile)
		}
		o.join.GardenCA = data
	}
	if o.imageVectorFile != "" {
		data, err := os.ReadFile(o.imageVectorFile)
		if err != nil {
			return fmt.Errorf("read image vector: %w", err)
		}
		o.join.ImageVector = string(data)
	}
	return nil
}

func (o *gardenletJoinOptions) validate() []error {
	errs := append(o.join.Validate(), o.log.Validate()...)
	if err := o.output.validate(); err != nil {
		errs = append(errs, err)
	}
	if o.tokenFile != "" && o.tokenFile == o.configFile {
		errs = append(errs, errors.New("--token-file and --config cannot be the same"))
	}
	return errs
}

func (o *gardenletJoinOptions) run(ctx context.Context) error {
	surroundings := join.Surroundings{
		Tell:         func(line string) { o.env.tell("%s\n", line) },
		Clock:        o.env.Clock,
		UserAgent:    "terrarium/" + options.Version,
		RunGardenlet: o.runHere,
	}
	if o.join.InsecureSkipCAVerification {
		o.env.tell("Warning: the garden is not verified: whoever answers at %s gets the token, and with it a gardenlet that obeys\n", o.join.Server)
	}
	if o.dryRun {
		manifests, err := join.Manifests(ctx, o.join, surroundings)
		if err != nil {
			return err
		}
		_, err = o.env.Out.Write(manifests)
		return err
	}
	kubeconfig, err := o.seedKubeconfigPath()
	if err != nil {
		return err
	}
	o.env.tell("Joining %s\n", o.join.Server)
	return join.Run(ctx, o.join, surroundings, kubeconfig)
}

// seedKubeconfigPath is where a gardenlet of this machine finds the kubeconfig that this command uses.
func (o *gardenletJoinOptions) seedKubeconfigPath() (string, error) {
	path := o.join.SeedKubeconfig
	if path == "" && o.join.Mode == join.ModeProcess {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		if len(rules.Precedence) != 1 {
			return "", errors.New("--seed-kubeconfig: a process needs a single kubeconfig, but $KUBECONFIG lists several")
		}
		path = rules.Precedence[0]
	}
	if path == "" {
		return "", nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("--seed-kubeconfig: %w", err)
	}
	return absolute, nil
}

// runHere leaves the configuration in a file, for the next start, and runs the gardenlet.
func (o *gardenletJoinOptions) runHere(ctx context.Context, config []byte) error {
	decoded, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(config)
	if err != nil {
		return err
	}
	path := o.writeConfig
	if path == "" {
		path = "gardenlet-" + decoded.SeedConfig.Name + ".yaml"
	}
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	variables := ""
	if o.imageVectorFile != "" {
		variables = images.OverwriteVariable + "=" + o.imageVectorFile + " "
	}
	o.env.tell("  ✓ Configuration written; from now on this starts the gardenlet: %sterrarium gardenlet --config %s\n", variables, path)
	run := gardenletRun{config: config, log: o.log, imageVector: o.imageVectorFile}
	if run.imageVector == "" {
		run.imageVector = o.env.Getenv(images.OverwriteVariable)
	}
	return runGardenlet(ctx, o.env, run)
}
