// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	kubeletDir          = "/var/lib/kubelet"
	kubeletConfig       = kubeletDir + "/config/kubelet"
	kubeletClientCA     = kubeletDir + "/ca.crt"
	bootstrapKubeconfig = kubeletDir + "/kubeconfig-bootstrap"
	realKubeconfig      = kubeletDir + "/kubeconfig-real"

	// tokenPlaceholder stands for a bootstrap token; whoever makes a machine puts a token of its own there.
	tokenPlaceholder = "<<BOOTSTRAP_TOKEN>>" //nolint:gosec // stands for a token and is none

	keyPrefix  = "gardener-node-agent-"
	nameSuffix = "-init"
)

// Values describe the nodes of one pool.
type Values struct {
	Namespace string
	// Pool is the worker pool.
	Pool *gardencorev1beta1.Worker
	// KubernetesVersion is that of the kubelet.
	KubernetesVersion string
	// Server is the URL under which nodes reach the API server; CA verifies it.
	Server string
	CA     []byte
	// ClientCA verifies the clients of kubelets.
	ClientCA []byte
	// ClusterDNS is the address of the DNS server of the shoot.
	ClusterDNS string
	// Kubelet is what the shoot's owner asks for, for all pools; it may be nil.
	Kubelet *gardencorev1beta1.KubeletConfig
}

// Name is the name of the configuration of a pool. It contains a hash of everything whose change needs new machines.
func Name(v Values) (string, error) {
	minor := v.KubernetesVersion
	if parts := strings.SplitN(minor, ".", 3); len(parts) == 3 {
		minor = parts[0] + "." + parts[1]
	}
	covered := map[string]any{
		"kubernetes": minor,
		"machine":    v.Pool.Machine.Type,
		"image":      v.Pool.Machine.Image,
		"volume":     v.Pool.Volume,
		"cri":        v.Pool.CRI,
	}
	data, err := json.Marshal(covered)
	if err != nil {
		return "", fmt.Errorf("name the configuration of pool %q: %w", v.Pool.Name, err)
	}
	sum := sha256.Sum256(data)
	return keyPrefix + v.Pool.Name + "-" + hex.EncodeToString(sum[:])[:16] + nameSuffix, nil
}

// Render returns the configuration for the first boot, without the status.
func Render(v Values) (*gardenextensionsv1alpha1.OperatingSystemConfig, error) {
	name, err := Name(v)
	if err != nil {
		return nil, err
	}
	files, err := files(v)
	if err != nil {
		return nil, err
	}
	o := &gardenextensionsv1alpha1.OperatingSystemConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: name, Labels: map[string]string{
			gardencorev1beta1.LabelWorkerPool: v.Pool.Name,
		}},
		Spec: gardenextensionsv1alpha1.OperatingSystemConfigSpec{
			Purpose: gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision,
			Files:   files,
			Units:   units(v),
		},
	}
	if image := v.Pool.Machine.Image; image != nil {
		o.Spec.Type = image.Name
		o.Spec.ProviderConfig = image.ProviderConfig
	}
	return o, nil
}

func files(v Values) ([]gardenextensionsv1alpha1.File, error) {
	config, err := component.YAML(kubeletConfiguration(v))
	if err != nil {
		return nil, err
	}
	bootstrap, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "kubelet-bootstrap", Server: v.Server, CA: v.CA, Token: tokenPlaceholder})
	if err != nil {
		return nil, err
	}
	withToken := inline(bootstrapKubeconfig, string(bootstrap), 0o600)
	withToken.Content.TransmitUnencoded = new(true)
	return []gardenextensionsv1alpha1.File{
		inline(kubeletConfig, config, 0o644),
		inline(kubeletClientCA, string(v.ClientCA), 0o644),
		withToken,
	}, nil
}

func inline(path, text string, mode uint32) gardenextensionsv1alpha1.File {
	return gardenextensionsv1alpha1.File{
		Path: path, Permissions: new(mode),
		Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: text}},
	}
}

func units(v Values) []gardenextensionsv1alpha1.Unit {
	command := strings.Join([]string{
		component.BinDir + "kubelet",
		"--config=" + kubeletConfig,
		"--bootstrap-kubeconfig=" + bootstrapKubeconfig,
		"--kubeconfig=" + realKubeconfig,
		"--node-labels=" + gardencorev1beta1.LabelWorkerPool + "=" + v.Pool.Name,
	}, " ")
	kubelet := `[Unit]
Description=kubelet
After=containerd.service
Requires=containerd.service

[Service]
EnvironmentFile=-/etc/default/kubelet
ExecStart=` + command + ` $KUBELET_EXTRA_ARGS
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`
	return []gardenextensionsv1alpha1.Unit{
		{Name: "containerd.service", Command: new(gardenextensionsv1alpha1.UnitCommandStart), Enable: new(true)},
		{
			Name: "kubelet.service", Command: new(gardenextensionsv1alpha1.UnitCommandStart), Enable: new(true), Content: new(kubelet),
			FilePaths: []string{kubeletConfig, kubeletClientCA},
		},
	}
}
