// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

func newImages(program Program) *cobra.Command {
	command := &cobra.Command{Use: "images", Short: "Work with container images"}
	command.AddCommand(newImagesBuild(program))
	return command
}

type imagesBuild struct {
	builder images.Builder
	mirror  string
	suite   string
}

func newImagesBuild(program Program) *cobra.Command {
	var options imagesBuild
	command := &cobra.Command{
		Use:   "build",
		Short: "Assemble the images of the playground into docker-archives",
		Long: `Assemble the images of the playground into docker-archives. No registry, builder or daemon is needed.
The system in the machine image comes from the same mirror as the packages of this machine, and is cached.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return options.run(cmd) },
	}
	sources, flags := &options.builder.Sources, command.Flags()
	flags.StringSliceVar(&options.builder.Only, "only", images.Names(), "images to build")
	flags.StringVar(&options.builder.OutDir, "out", beside(program.Binary, "images"), "folder for the archives")
	flags.StringVar(&sources.Terrarium, "terrarium", beside(program.Binary, "bin/terrarium"), "terrarium binary")
	flags.StringVar(&sources.Seedling, "seedling", program.Binary, "seedling binary")
	flags.StringVar(&sources.Pause, "pause", beside(program.Binary, "programs/pause"), "pause program")
	flags.StringVar(&sources.Hello, "hello", beside(program.Binary, "programs/hello"), "hello program")
	flags.StringVar(&sources.VPA, "vpa", beside(program.Binary, "programs/vpa"), "folder of the programs that size pods")
	flags.StringVar(&sources.CNIDir, "cni", beside(program.Binary, "cni"), "folder of network plugins for the machine image")
	flags.StringVar(&sources.Rootfs.CacheDir, "cache", beside(program.Binary, "cache"), "folder that caches the system of the machine image")
	flags.StringSliceVar(&sources.Tools.Programs, "tools", []string{"/usr/sbin/nft"}, "programs of this machine that kube-proxy calls")
	flags.StringVar(&options.mirror, "debian-mirror", "", "mirror for the machine image (default: the mirror of this machine)")
	flags.StringVar(&options.suite, "debian-suite", "", "suite of that mirror")
	flags.StringVar(&options.builder.Versions.Terrarium, "terrarium-version", build.Version, "tag of the terrarium image")
	command.MarkFlagsRequiredTogether("debian-mirror", "debian-suite")
	sources.Links = program.Applets
	sources.Tools.Root = "/"
	return command
}

// machinePackages are the packages of a worker machine in addition to the minimal system.
func machinePackages() []string {
	return []string{"containerd", "runc", "nftables", "iptables", "conntrack", "iproute2", "kmod", "ethtool", "socat", "openssh-server", "sudo"}
}

func (b *imagesBuild) run(cmd *cobra.Command) error {
	builder := b.builder
	builder.Versions.Kubernetes, builder.Versions.Programs = version.Get().GitVersion, cluster.ProgramsTag
	builder.Sources.MachineInit, builder.Sources.MachineInitPath = []byte(machine.Script()), machine.Path
	if slices.Contains(builder.Only, images.Machine) {
		distribution, err := b.distribution()
		if err != nil {
			return err
		}
		builder.Sources.Rootfs.Distribution = distribution
		builder.Sources.Rootfs.Debootstrap = "debootstrap"
		builder.Sources.Rootfs.Packages = machinePackages()
		builder.Sources.Rootfs.Progress = func(message string) { _, _ = fmt.Fprintln(cmd.OutOrStdout(), message) }
	}
	archives, err := builder.Build(cmd.Context())
	if err != nil {
		return err
	}
	for _, archive := range archives {
		info, err := os.Stat(archive)
		if err != nil {
			return fmt.Errorf("check archive: %w", err)
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "  %-60s %7.1f MB\n", archive, float64(info.Size())/1e6); err != nil {
			return err
		}
	}
	return nil
}

func (b *imagesBuild) distribution() (images.Distribution, error) {
	if b.mirror != "" {
		return images.Distribution{Suite: b.suite, Mirror: b.mirror, Components: []string{"main"}}, nil
	}
	distribution, err := images.ReadDistribution(os.DirFS("/"))
	if err != nil {
		return images.Distribution{}, fmt.Errorf("%w; name one with --debian-mirror and --debian-suite", err)
	}
	return distribution, nil
}
