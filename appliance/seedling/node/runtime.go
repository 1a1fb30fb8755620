// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// criNamespace is the containerd namespace of Kubernetes.
const criNamespace = "k8s.io"

// RuntimePaths are the files of a containerd that shares nothing with other instances on the machine.
type RuntimePaths struct {
	// Root holds images and containers, State the data of running containers.
	Root, State string
	// ShimState is the folder of runc.
	ShimState string
	Socket    string
	// CNIConfDir and CNIBinDir hold the configuration and the programs of the pod network.
	CNIConfDir, CNIBinDir string
}

// RuntimeConfig returns the configuration file of containerd, for containerd 1.6 and later. AppArmor is disabled, because
// loaded profiles would stay in the kernel.
func RuntimeConfig(paths RuntimePaths, pauseImage string, restrictScore bool) string {
	return fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]

[grpc]
  address = %[3]q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[4]q
  restrict_oom_score_adj = %[5]t
  netns_mounts_under_state_dir = true
  disable_apparmor = true

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = %[6]q
  conf_dir = %[7]q

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  Root = %[8]q
  SystemdCgroup = false
`, paths.Root, paths.State, paths.Socket, pauseImage, restrictScore, paths.CNIBinDir, paths.CNIConfDir, paths.ShimState)
}

// Runtime is a client of a running containerd.
type Runtime struct {
	socket, mark string
	conn         *grpc.ClientConn
}

// Dial returns a client of the containerd at a socket, which need not exist yet. The mark, NAME=value, is added to the
// environment of the programs that are run for it.
func Dial(socket, mark string) (*Runtime, error) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("make client of containerd: %w", err)
	}
	return &Runtime{socket: socket, mark: mark, conn: conn}, nil
}

// Close closes the connection.
func (r *Runtime) Close() error { return r.conn.Close() }

// Ready returns nil if containerd answers and can run containers.
func (r *Runtime) Ready(ctx context.Context) error {
	answer, err := runtimeapi.NewRuntimeServiceClient(r.conn).Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return fmt.Errorf("ask containerd for its state: %w", err)
	}
	for _, condition := range answer.GetStatus().GetConditions() {
		if condition.GetType() == runtimeapi.RuntimeReady && !condition.GetStatus() {
			return fmt.Errorf("containerd is not ready: %s: %s", condition.GetReason(), condition.GetMessage())
		}
	}
	return nil
}

// Has reports whether the image of that name exists with exactly that configuration.
func (r *Runtime) Has(ctx context.Context, name, configDigest string) (bool, error) {
	answer, err := runtimeapi.NewImageServiceClient(r.conn).ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: name}})
	if err != nil {
		return false, fmt.Errorf("look up image %q: %w", name, err)
	}
	return answer.GetImage().GetId() == configDigest, nil
}

// Import imports the images of a docker-archive into containerd.
func (r *Runtime) Import(ctx context.Context, archive string) error {
	path, err := filepath.Abs(archive)
	if err != nil {
		return fmt.Errorf("path of archive %q: %w", archive, err)
	}
	//nolint:gosec // The arguments are paths of the caller.
	command := exec.CommandContext(ctx, "ctr", "--address", r.socket, "--namespace", criNamespace, "images", "import", path)
	command.Env = append(os.Environ(), r.mark)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("import images of %q: %w: %s", archive, err, strings.TrimSpace(output.String()))
	}
	return nil
}

// RemoveSandboxes removes all pods with their containers and networks, and returns their number.
func (r *Runtime) RemoveSandboxes(ctx context.Context) (int, error) {
	client := runtimeapi.NewRuntimeServiceClient(r.conn)
	list, err := client.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		return 0, fmt.Errorf("list pod sandboxes: %w", err)
	}
	results := make(chan error)
	for _, sandbox := range list.GetItems() {
		go func() { results <- removeSandbox(ctx, client, sandbox) }()
	}
	var failed []error
	for range list.GetItems() {
		failed = append(failed, <-results)
	}
	return len(list.GetItems()), errors.Join(failed...)
}

func removeSandbox(ctx context.Context, client runtimeapi.RuntimeServiceClient, sandbox *runtimeapi.PodSandbox) error {
	name := sandbox.GetMetadata().GetNamespace() + "/" + sandbox.GetMetadata().GetName()
	_, err := client.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: sandbox.GetId()})
	if err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("stop pod %q: %w", name, err)
	}
	_, err = client.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: sandbox.GetId()})
	if err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("remove pod %q: %w", name, err)
	}
	return nil
}
