// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/provider/local"
)

func newProviderLocalCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "provider-local",
		Short: "Run the extension for shoots on a seedling, without a cloud",
		Long: `The extension provider-local reconciles the extension objects of type "local" in a seed: worker machines are privileged pods,
and DNS records are lines of a hosts file. It is for evaluation and tests. To install it in the seeds of a garden, apply the
output of "terrarium provider-local manifest".`,
	}
	cmd.AddCommand(
		newProviderLocalManifestCommand(env), newProviderLocalRunCommand(env), newProviderLocalCloudControllerCommand(env),
		newProviderLocalAutoscalerCommand(env), newProviderLocalBastionCommand(env),
	)
	return cmd
}

// addImageFlags adds the flags for the images that the extension deploys.
func addImageFlags(fs *pflag.FlagSet, images *local.Images) {
	fs.StringVar(&images.Terrarium, "image", "", "container image with the terrarium binary")
	fs.StringVar(&images.Machine, "machine-image", "", "container image of worker machines whose cloud profile has none")
	fs.StringVar(&images.NetworkAgent, "network-agent-image", "terrarium.garden/seedling:"+build.KubernetesVersion(), "container image with the network agent")
	fs.StringVar(&images.Pause, "pause-image", "terrarium.garden/pause:v1", "container image of pod sandboxes on worker machines")
	fs.StringVar(&images.Archives, "image-archives", "/var/lib/seedling/images", "directory on the nodes of the seed with image archives that worker machines import; empty for none")
}

func validateImages(images local.Images) error {
	var errs []error
	for _, needed := range []struct{ flag, image string }{
		{"--image", images.Terrarium}, {"--machine-image", images.Machine}, {"--network-agent-image", images.NetworkAgent},
	} {
		if needed.image == "" {
			errs = append(errs, fmt.Errorf("%s: required", needed.flag))
		}
	}
	return errors.Join(errs...)
}

// processLog creates the log of a process in a cluster, and sets it as the global logger of libraries.
func processLog(env Environment, o telemetry.Options) (logr.Logger, error) {
	log := telemetry.NewLogger(env.Err, o)
	if err := telemetry.Redirect(log, o.Level); err != nil {
		return logr.Logger{}, fmt.Errorf("redirect logs: %w", err)
	}
	return log, nil
}

// clusterConfig reads a kubeconfig or, if there is none, uses the service account of the pod.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, withHint(fmt.Errorf("connect to the seed: %w", err), "outside of a pod, specify a kubeconfig of the seed")
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %q: %w", kubeconfig, err)
	}
	return config, nil
}
