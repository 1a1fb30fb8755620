// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/pflag"

	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

// AuthoritiesDir has the certificates that a machine trusts beside those of its operating system, in files *.crt.
const AuthoritiesDir = "/var/lib/ca-certificates-local"

// credentialsFile is beside the kubeconfig of the kubelet, which looks there for credentials of registries itself.
const credentialsFile = "config.json" //nolint:gosec // It is a name.

// images gets files from images with what a machine has: the images of its containerd, and the credentials of its kubelet.
func images(kubeconfig string) *imagefile.Fetcher {
	return &imagefile.Fetcher{
		Platform:    v1.Platform{OS: "linux", Architecture: runtime.GOARCH},
		Containerd:  []string{"ctr", "--namespace", "k8s.io"},
		Credentials: filepath.Join(filepath.Dir(kubeconfig), credentialsFile),
		Authorities: AuthoritiesDir,
		Limits:      imagefile.DefaultLimits(),
	}
}

// FetchOptions say which file of an image a machine gets.
type FetchOptions struct {
	// Path is where the file goes, Mode are its permissions in octal.
	Path, Mode string
	// From is where it comes from.
	From imagefile.Ref
	// Kubeconfig is that of the kubelet, StateDir the folder of the agent.
	Kubeconfig, StateDir string
	// Timeout is how long it may take.
	Timeout time.Duration
}

// AddFlags binds the options to flags.
func (o *FetchOptions) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Path, "path", "", "where the file goes")
	flags.StringVar(&o.Mode, "mode", "0644", "permissions of the file")
	flags.StringVar(&o.From.Image, "image", "", "reference of the image")
	flags.StringVar(&o.From.Path, "path-in-image", "", "path of the file in the image")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "/var/lib/kubelet/kubeconfig-real", "kubeconfig of the kubelet of this machine; config.json beside it has the credentials of registries")
	flags.StringVar(&o.StateDir, "state-dir", stateDir, "folder of the agent")
	flags.DurationVar(&o.Timeout, "timeout", 2*time.Minute, "how long it may take")
}

// Validate returns what is wrong with the options.
func (o *FetchOptions) Validate() []error {
	var errs []error
	if !filepath.IsAbs(o.Path) || filepath.Clean(o.Path) != o.Path {
		errs = append(errs, errors.New("--path: must be absolute, and in its shortest form"))
	}
	if _, err := o.mode(); err != nil {
		errs = append(errs, fmt.Errorf("--mode: %w", err))
	}
	if err := o.From.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--image, --path-in-image: %w", err))
	}
	return errs
}

func (o *FetchOptions) mode() (uint32, error) {
	mode, err := strconv.ParseUint(o.Mode, 8, 32)
	return uint32(mode) & uint32(fs.ModePerm), err //nolint:wrapcheck // It says what is no number.
}

// Fetch puts one file of an image in place.
func Fetch(ctx context.Context, o FetchOptions) error {
	mode, err := o.mode()
	if err != nil {
		return err
	}
	ctx, end := context.WithTimeout(ctx, o.Timeout)
	defer end()
	m := &Machine{Root: "/", StateDir: o.StateDir, Images: images(o.Kubeconfig)}
	return m.Fetch(ctx, File{Path: o.Path, Mode: mode, From: &o.From})
}
