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
	"github.com/terrarium-garden/terrarium/appliance/build"
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

	mode   string
	dryRun bool
	output outputFlag
	// saved is where the configuration of a gardenlet in this process is written.
	saved savedConfig
}

func newGardenletJoinCommand(env Environment) *cobra.Command {
	o := &gardenletJoinOptions{env: env}
	cmd := &cobra.Command{
		Use:   "join SERVER_URL",
		Short: "Register a cluster as a seed of the garden at SERVER_URL",
		Long: `Registers a Kubernetes cluster as a seed: deploys a gardenlet, which uses the token to request a certificate from the
garden, and waits until the seed is ready. "terrarium token create" prints the command.

A garden that was not set up by Terrarium does not publish its CA. To join it, use one of its bootstrap tokens, and the CA of
its API server in a file.

All checks run before the cluster is changed. If the seed cannot be registered, the objects that were created in the cluster
are removed. Networks, region and zones are detected in the cluster if possible.`,
		Example: `  terrarium gardenlet join https://garden.example.org:6443 --token T10… --name eu-1 --provider local --region local
  terrarium gardenlet join https://garden.example.org:6443 --token-file token --config gardenlet.yaml
  terrarium gardenlet join https://garden.example.org:6443 --token-file - --config gardenlet.yaml --dry-run -o yaml <token
  terrarium gardenlet join https://garden.example.org --token ID.SECRET --garden-ca-file ca.crt --config gardenlet.yaml`,
		Args: exactly("SERVER_URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.join.Server = args[0]
			// A file is only read for flags that are possible together.
			if err := usage(cmd, o.combined(cmd.Flags())...); err != nil {
				return err
			}
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
	fs.StringVar(&j.Token, "token", "", `join token, as printed by "terrarium token create"; visible in the process list while the command runs`)
	fs.StringVar(&o.tokenFile, "token-file", "", "file with the join token, or - for the standard input")
	fs.StringVar(&o.gardenCAFile, "garden-ca-file", "", "file with the CA of the garden in PEM, required for a token without its hash")
	fs.BoolVar(&j.InsecureSkipCAVerification, "insecure-skip-ca-verification", false,
		"accept a token without the hash of a CA, and do not verify the server at SERVER_URL (insecure)")
	addSeedFlags(fs, &j.SeedKubeconfig, &j.SeedContext)
	fs.StringVar(&j.Name, "name", "", "name of the seed")
	fs.StringVar(&j.Provider, "provider", "", "infrastructure provider of the cluster")
	fs.StringVar(&j.Region, "region", "", "region of the cluster")
	fs.StringSliceVar(&j.Zones, "zone", nil, "zone of the cluster; can be repeated")
	fs.StringVar(&j.Pods, "pods", "", "network of the pods in CIDR notation")
	fs.StringVar(&j.Services, "services", "", "network of the services in CIDR notation")
	fs.StringVar(&j.Nodes, "nodes", "", "network of the nodes in CIDR notation")
	fs.StringVar(&j.InternalDomain, "internal-domain", "", "domain for the internal DNS names of the API servers of shoots")
	fs.StringVar(&j.InternalDomainProvider, "internal-domain-provider", "", "type of the DNS provider of the internal domain (default: the provider of the seed)")
	fs.StringVar(&j.InternalDomainSecret, "internal-domain-secret", "", "Secret in the garden with the credentials of the internal domain, as NAMESPACE/NAME (default garden/internal-domain)")
	fs.StringVar(&o.configFile, "config", "", "path of a GardenletConfiguration file, which the other flags override")
	fs.StringVar(&j.Image, "image", "", "container image of the gardenlet (default "+defaultImage()+")")
	fs.StringVar(&o.imageVectorFile, "image-vector", "", "file that overrides images of the image vector")
	fs.StringVar(&o.mode, "mode", string(join.ModeDeployment), "how to run the gardenlet: deployment (in the cluster) or process (in this command)")
	fs.StringVar(&o.saved.path, "write-config", "", "file for the configuration of the gardenlet with --mode process (default gardenlet-NAME.yaml)")
	fs.BoolVar(&o.saved.force, "force", false, "with --mode process, overwrite a file with another configuration")
	fs.DurationVar(&j.Timeout, "timeout", join.DefaultTimeout, "how long to wait until the seed is ready")
	fs.BoolVar(&o.dryRun, "dry-run", false, "run all checks and print the objects that would be created, which include the token")
	options.AddLoggingFlags(&o.log, fs)
	o.output.addTo(fs, formatYAML)
}

// addSeedFlags adds the flags for the connection to a seed.
func addSeedFlags(fs *pflag.FlagSet, kubeconfig, context *string) {
	fs.StringVar(kubeconfig, "seed-kubeconfig", "", "kubeconfig of an administrator of the cluster (default: $KUBECONFIG, else ~/.kube/config)")
	fs.StringVar(context, "seed-context", "", "context of the seed kubeconfig (default: its current context)")
}

// complete reads the files in flags.
func (o *gardenletJoinOptions) complete() error {
	o.join.Mode = join.Mode(o.mode)
	if o.join.Image == "" {
		o.join.Image = defaultImage()
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

// combined returns an error for each flag that would have no effect beside the others.
func (o *gardenletJoinOptions) combined(fs *pflag.FlagSet) []error {
	var errs []error
	refuse := func(because string, flags ...string) {
		for _, flag := range flags {
			if fs.Changed(flag) {
				errs = append(errs, fmt.Errorf("--%s: %s", flag, because))
			}
		}
	}
	if fs.Changed("token") {
		refuse("cannot be used together with --token", "token-file")
	}
	switch join.Mode(o.mode) {
	case join.ModeProcess:
		refuse("cannot be used with --mode process, which runs this program", "image")
	case join.ModeDeployment:
		refuse("requires --mode process", "write-config", "force", "log-level", "log-format")
	}
	if !o.dryRun {
		refuse("requires --dry-run", "output")
	}
	return errs
}

func (o *gardenletJoinOptions) validate() []error {
	errs := append(o.join.Validate(), o.log.Validate()...)
	if err := o.output.validate(); err != nil {
		errs = append(errs, err)
	}
	if o.tokenFile != "" && o.tokenFile == o.configFile {
		errs = append(errs, errors.New("--token-file and --config cannot be the same file"))
	}
	return errs
}

func (o *gardenletJoinOptions) run(ctx context.Context) error {
	surroundings := join.Surroundings{
		Tell:         func(line string) { o.env.tell("%s\n", line) },
		Clock:        o.env.Clock,
		UserAgent:    "terrarium/" + build.Version,
		CheckConfig:  o.saved.check,
		RunGardenlet: o.runHere,
	}
	if o.join.InsecureSkipCAVerification {
		o.env.tell("Warning: the garden is not verified: the server at %s gets the token and can control the gardenlet\n", o.join.Server)
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

// seedKubeconfigPath returns the path of the seed kubeconfig for a gardenlet on this machine.
func (o *gardenletJoinOptions) seedKubeconfigPath() (string, error) {
	path := o.join.SeedKubeconfig
	if path == "" && o.join.Mode == join.ModeProcess {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		if len(rules.Precedence) != 1 {
			return "", errors.New("--seed-kubeconfig: required with --mode process, because $KUBECONFIG lists several files")
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

// runHere writes the configuration to a file, for the next start, and runs the gardenlet.
func (o *gardenletJoinOptions) runHere(ctx context.Context, config []byte) error {
	decoded, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(config)
	if err != nil {
		return err
	}
	path, err := o.saved.write(config)
	if err != nil {
		return err
	}
	variables := ""
	if o.imageVectorFile != "" {
		variables = images.OverwriteVariable + "=" + o.imageVectorFile + " "
	}
	o.env.tell("  ✓ Configuration written; to start the gardenlet again, run: %sterrarium gardenlet --config %s\n", variables, path)
	run := gardenletRun{config: decoded, log: o.log, imageVector: o.imageVectorFile}
	if run.imageVector == "" {
		run.imageVector = o.env.Getenv(images.OverwriteVariable)
	}
	return runGardenlet(ctx, o.env, run)
}
