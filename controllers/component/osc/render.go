// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	kubeletDir          = "/var/lib/kubelet"
	kubeletConfig       = kubeletDir + "/config/kubelet"
	bootstrapKubeconfig = kubeletDir + "/kubeconfig-bootstrap"
	realKubeconfig      = kubeletDir + "/kubeconfig-real"

	// ClientCAFile is the file of a node with the certificates that verify the clients of its kubelet, which reads it again when it changes.
	ClientCAFile    = kubeletDir + "/ca.crt"
	kubeletClientCA = ClientCAFile

	// tokenPlaceholder is replaced by a bootstrap token of its own for each machine.
	tokenPlaceholder = "<<BOOTSTRAP_TOKEN>>" //nolint:gosec // stands for a token, is not one

	keyPrefix      = "gardener-node-agent-"
	nameSuffix     = "-init"
	originalSuffix = "-original"
)

// Values describe the nodes of one pool.
type Values struct {
	// Facts are those of the shoot, Pool is one of its worker pools.
	Facts facts.Shoot
	Pool  *gardencorev1beta1.Worker
	// Server is the URL under which nodes reach the API server. CA verifies it, ClientCA verifies the clients of kubelets.
	Server       string
	CA, ClientCA []byte
	// ProfileCABundle are the certificates that the machines of the CloudProfile trust, in PEM; nil for none.
	ProfileCABundle *string
	// SSHKeys are the public keys of those who log in to machines, as lines of an authorized_keys file; none if nobody may.
	SSHKeys [][]byte
}

// Names are those of the two configurations of a pool: the one of the first boot, and the one that the agents of its nodes keep (EXT-OSC-2).
func Names(f facts.Shoot, pool *gardencorev1beta1.Worker) ([]string, error) {
	name, err := Name(f, pool)
	return []string{name, original(name)}, err
}

func original(name string) string { return strings.TrimSuffix(name, nameSuffix) + originalSuffix }

// Name is the name of the configuration of the first boot of a pool. It contains a hash of everything whose change needs new machines, and
// none for a pool that is updated in place.
func Name(f facts.Shoot, pool *gardencorev1beta1.Worker) (string, error) {
	if query.InPlace(pool) {
		return keyPrefix + pool.Name + nameSuffix, nil
	}
	minor := query.PoolVersion(&f.Shoot.Spec, pool)
	if parts := strings.SplitN(minor, ".", 3); len(parts) == 3 {
		minor = parts[0] + "." + parts[1]
	}
	covered := map[string]any{
		"kubernetes": minor,
		"machine":    pool.Machine.Type,
		"image":      pool.Machine.Image,
		"volume":     pool.Volume,
		"cri":        pool.CRI,
	}
	for what, at := range query.PoolRollouts(f.Shoot, pool.Name) {
		covered[what] = at.Unix()
	}
	data, err := json.Marshal(covered)
	if err != nil {
		return "", fmt.Errorf("name the configuration of pool %q: %w", pool.Name, err)
	}
	sum := sha256.Sum256(data)
	return keyPrefix + pool.Name + "-" + hex.EncodeToString(sum[:])[:16] + nameSuffix, nil
}

// Render returns the configuration for the first boot, without the status. A machine starts with all that it is to have, and not only with
// its agent, so it joins as fast as without one.
func Render(v Values) (*gardenextensionsv1alpha1.OperatingSystemConfig, error) {
	name, err := Name(v.Facts, v.Pool)
	if err != nil {
		return nil, err
	}
	files, err := files(v)
	if err != nil {
		return nil, err
	}
	key, err := rolloutKey(name, v)
	if err != nil {
		return nil, err
	}
	o := &gardenextensionsv1alpha1.OperatingSystemConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Facts.Namespace, Name: name, Labels: map[string]string{
			gardencorev1beta1.LabelWorkerPool: v.Pool.Name, gardencorev1beta1.LabelWorkerNodeAgentSecretName: key,
		}},
		Spec: gardenextensionsv1alpha1.OperatingSystemConfigSpec{
			Purpose: gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision,
			Files:   files,
			Units:   units(v, key, files),
		},
	}
	if image := v.Pool.Machine.Image; image != nil {
		o.Spec.Type = image.Name
		o.Spec.ProviderConfig = image.ProviderConfig
	}
	return component.Mutable(o), nil
}

// RenderOriginal returns the configuration that the agents of nodes keep: what machines start with, without the token that only a new one
// needs (EXT-OSC-1).
func RenderOriginal(v Values) (*gardenextensionsv1alpha1.OperatingSystemConfig, error) {
	o, err := Render(v)
	if err != nil {
		return nil, err
	}
	o.Name = original(o.Name)
	o.Spec.Purpose = gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile
	o.Spec.InPlaceUpdates = inPlaceUpdates(v)
	o.Spec.Files = slices.DeleteFunc(o.Spec.Files, func(f gardenextensionsv1alpha1.File) bool { return f.Path == bootstrapKubeconfig })
	return o, nil
}

func files(v Values) ([]gardenextensionsv1alpha1.File, error) {
	dns, err := v.Facts.ResolverAddress()
	if err != nil {
		return nil, err
	}
	config, err := component.YAML(kubeletConfiguration(v, dns))
	if err != nil {
		return nil, err
	}
	bootstrap, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "kubelet-bootstrap", Server: v.Server, CA: v.CA, Token: tokenPlaceholder})
	if err != nil {
		return nil, err
	}
	withToken := inline(bootstrapKubeconfig, string(bootstrap), 0o600)
	withToken.Content.TransmitUnencoded = new(true)
	all := []gardenextensionsv1alpha1.File{inline(kubeletConfig, config, 0o644), inline(kubeletClientCA, string(v.ClientCA), 0o644), withToken}
	for _, more := range []func(Values) ([]gardenextensionsv1alpha1.File, error){trustFiles, sysctlFiles, sshFiles} {
		files, err := more(v)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

func inline(path, text string, mode uint32) gardenextensionsv1alpha1.File {
	return gardenextensionsv1alpha1.File{
		Path: path, Permissions: new(mode),
		Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: text}},
	}
}

func units(v Values, key string, files []gardenextensionsv1alpha1.File) []gardenextensionsv1alpha1.Unit {
	command := strings.Join([]string{
		component.BinDir + "kubelet",
		"--config=" + kubeletConfig,
		"--bootstrap-kubeconfig=" + bootstrapKubeconfig,
		"--kubeconfig=" + realKubeconfig,
		"--node-labels=" + gardencorev1beta1.LabelWorkerPool + "=" + v.Pool.Name + "," + gardencorev1beta1.LabelWorkerNodeAgentSecretName + "=" + key,
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
	return slices.Concat(
		trustUnits(files),
		sysctlUnits(v),
		[]gardenextensionsv1alpha1.Unit{
			// It reads the certificates that it trusts at its start.
			{
				Name: "containerd.service", Command: new(gardenextensionsv1alpha1.UnitCommandStart), Enable: new(true),
				FilePaths: trustPaths(files),
			},
			{
				Name: "kubelet.service", Command: new(gardenextensionsv1alpha1.UnitCommandStart), Enable: new(true), Content: new(kubelet),
				FilePaths: []string{kubeletConfig, kubeletClientCA},
			},
			agentUnit(v.Pool.Name, key),
		},
		sshUnits(v),
	)
}
