// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
)

// installed is the gardenlet in a cluster, or for it.
type installed struct {
	// seed is the name of its seed; empty if there is no gardenlet.
	seed string
	// config is its configuration; of a process, only where it stores what is its own.
	config map[string]any
	// process says that it runs outside of the cluster, and validUntil when its certificate expires.
	process    bool
	validUntil time.Time
}

// works reports whether a gardenlet can run with this name of a seed, or does.
func (i installed) works(now time.Time) bool {
	return i.seed != "" && (!i.process || now.Before(i.validUntil))
}

// findInstalled looks for a gardenlet in the cluster. One that runs as a process has only its credentials there, in the Secret that is
// named by the given configuration.
func findInstalled(ctx context.Context, c client.Client, config map[string]any) (installed, error) {
	found, err := findDeployed(ctx, c)
	if err != nil || found.seed != "" {
		return found, err
	}
	return findProcess(ctx, c, config)
}

// findDeployed looks for the configuration of a gardenlet that runs in the cluster.
func findDeployed(ctx context.Context, c client.Client) (installed, error) {
	stored := &corev1.ConfigMap{}
	err := c.Get(ctx, client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: configMapName}, stored)
	if apierrors.IsNotFound(err) {
		return installed{}, nil
	}
	if err != nil {
		return installed{}, fmt.Errorf("look for a gardenlet in the cluster: %w", err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(stored.Data[configKey]), &config); err != nil {
		return installed{}, fmt.Errorf("read the configuration of the gardenlet in the cluster: %w", err)
	}
	name := seedName(config)
	if name == "" {
		return installed{}, errors.New("the configuration of the gardenlet in the cluster has no name of a seed")
	}
	return installed{seed: name, config: config}, nil
}

// findProcess looks for the certificate of a gardenlet. A kubeconfig without one, or that cannot be read, is of no use for any gardenlet,
// and the next join replaces it.
func findProcess(ctx context.Context, c client.Client, config map[string]any) (installed, error) {
	namespace, name := reference(config, "kubeconfigSecret")
	secret := &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return installed{}, nil
	}
	if err != nil {
		return installed{}, fmt.Errorf("look for the credentials of a gardenlet in the cluster: %w", err)
	}
	leaf := leafOf(secret.Data[gardencorev1beta1.DataKeyKubeconfig])
	if leaf == nil {
		return installed{}, nil
	}
	seed, isSeed := strings.CutPrefix(leaf.Subject.CommonName, gardencorev1beta1.UserPrefixSeed)
	if !isSeed {
		return installed{}, nil
	}
	return installed{seed: seed, config: config, process: true, validUntil: leaf.NotAfter}, nil
}

// leafOf returns the certificate in a kubeconfig; nil if there is none that can be read.
func leafOf(kubeconfig []byte) *x509.Certificate {
	material, err := gardenaccess.ParseKubeconfig(kubeconfig)
	if err != nil {
		return nil
	}
	leaf, err := material.Leaf()
	if err != nil {
		return nil
	}
	return leaf
}

// usualConfig says where a gardenlet stores what is its own, unless it is configured in another way.
func usualConfig() (map[string]any, error) {
	o := &overlay{config: map[string]any{}}
	o.connections("elsewhere")
	return o.config, o.err
}
