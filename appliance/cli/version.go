// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

type versionOptions struct {
	env        Environment
	connection options.Connection
	server     bool
	output     outputFlag
}

func newVersionCommand(env Environment) *cobra.Command {
	o := &versionOptions{env: env}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary, and optionally of a garden",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate(cmd)...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.server, "server", false, "also print the versions of the garden")
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), formatTable, formatJSON, formatYAML)
	return cmd
}

func (o *versionOptions) validate(cmd *cobra.Command) []error {
	errs := []error{o.output.validate()}
	for _, flag := range []string{"kubeconfig", "context", "data-dir"} {
		if cmd.Flags().Changed(flag) && !o.server {
			errs = append(errs, fmt.Errorf("--%s: requires --server", flag))
		}
	}
	return errs
}

// versions are the versions of this binary and, if requested, of the garden.
type versions struct {
	Terrarium  string          `json:"terrarium"`
	Commit     string          `json:"commit,omitempty"`
	Gardener   string          `json:"gardener"`
	Kubernetes string          `json:"kubernetes"`
	Go         string          `json:"go"`
	Platform   string          `json:"platform"`
	Server     *serverVersions `json:"server,omitempty"`
}

type serverVersions struct {
	Address    string `json:"address"`
	Gardener   string `json:"gardener"`
	Kubernetes string `json:"kubernetes"`
	Platform   string `json:"platform"`
}

func (o *versionOptions) run(ctx context.Context) error {
	v := versions{
		Terrarium: build.Version, Commit: build.Commit(), Gardener: build.GardenerAPILevel, Kubernetes: build.KubernetesVersion(),
		Go: runtime.Version(), Platform: build.Platform(),
	}
	if o.server {
		g, err := connect(o.connection, o.env.Getenv)
		if err != nil {
			return err
		}
		if v.Server, err = g.versions(ctx); err != nil {
			return err
		}
	}
	return o.output.write(o.env.Out, v, func(w io.Writer) error {
		rows := [][]string{
			{"Terrarium:", strings.TrimSpace(v.Terrarium + " " + v.Commit)},
			{"Gardener API:", v.Gardener},
			{"Kubernetes:", v.Kubernetes},
			{"Go:", v.Go + " " + v.Platform},
		}
		if s := v.Server; s != nil {
			rows = append(rows, [][]string{
				{"Server:", s.Address},
				{"  Gardener API:", s.Gardener},
				{"  Kubernetes:", s.Kubernetes + " " + s.Platform},
			}...)
		}
		return writeTable(w, rows)
	})
}

// versions reads the versions of the garden. If the garden does not publish its Gardener API level, it is "unknown".
func (g *garden) versions(ctx context.Context) (*serverVersions, error) {
	data, err := g.get(ctx, "/version")
	if err != nil {
		return nil, err
	}
	var info version.Info
	if err := json.Unmarshal(data, &info); err != nil {
		return nil, fmt.Errorf("read version of the garden: %w", err)
	}
	s := &serverVersions{Address: g.config.Host, Gardener: "unknown", Kubernetes: info.GitVersion, Platform: info.Platform}
	configMap, err := g.client.CoreV1().ConfigMaps(gardencorev1beta1.NamespacePublic).
		Get(ctx, gardencorev1beta1.ConfigMapGardenerInfo, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get the Gardener API level of the garden: %w", err)
	}
	var level struct {
		Version string `json:"version"`
	}
	if err := yaml.Unmarshal([]byte(configMap.Data[gardencorev1beta1.GardenerInfoKeyAPIServer]), &level); err != nil {
		return nil, fmt.Errorf("read Gardener API level of the garden: %w", err)
	}
	if level.Version != "" {
		s.Gardener = level.Version
	}
	return s, nil
}
