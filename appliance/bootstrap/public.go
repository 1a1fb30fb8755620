// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
)

// ErrNoIdentity says that the ConfigMap with the garden's identity has lost its content.
var ErrNoIdentity = errors.New("the identity of the garden is empty; restore it, because shoots and clients identify the garden by it")

// namespaces returns the namespaces that a garden and third-party gardenlets need; kube-system is created by Kubernetes itself.
func namespaces() []object {
	var all []object
	for _, name := range []string{
		gardencorev1beta1.NamespaceGarden,
		gardencorev1beta1.NamespaceSeedLease,
		gardencorev1beta1.NamespaceShootIssuer,
		gardencorev1beta1.NamespacePublic,
	} {
		all = append(all, object{
			resource: corev1.SchemeGroupVersion.WithResource("namespaces"),
			value: &corev1.Namespace{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
				ObjectMeta: metav1.ObjectMeta{Name: name},
			},
		})
	}

	return all
}

// info returns the ConfigMap that a gardenlet reads before it starts, because it must not be newer than the garden's API. It
// also has the default lifetime of join tokens.
func (c Config) info() []object {
	facts := map[string]string{gardencorev1beta1.GardenerInfoKeyAPIServer: "version: " + c.APILevel + "\n"}
	if c.TokenLifetime > 0 {
		facts[jointoken.InfoKeyLifetime] = c.TokenLifetime.String()
	}

	return []object{{
		resource: corev1.SchemeGroupVersion.WithResource("configmaps"),
		value: &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: gardencorev1beta1.NamespacePublic,
				Name:      gardencorev1beta1.ConfigMapGardenerInfo,
			},
			Data: facts,
		},
	}}
}

// ensureIdentity writes the identity once and never changes it (API-NAME-9).
func ensureIdentity(ctx context.Context, client kubernetes.Interface, newIdentity func() string) (string, error) {
	maps := client.CoreV1().ConfigMaps(gardencorev1beta1.NamespaceKubeSystem)
	found, err := maps.Get(ctx, gardencorev1beta1.ConfigMapClusterIdentity, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		found, err = maps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: gardencorev1beta1.ConfigMapClusterIdentity},
			Immutable:  new(true),
			Data: map[string]string{
				gardencorev1beta1.ConfigMapClusterIdentity: newIdentity(),
				gardencorev1beta1.ClusterIdentityOrigin:    gardencorev1beta1.ClusterIdentityOriginGarden,
			},
		}, metav1.CreateOptions{FieldManager: fieldManager})
	}
	if err != nil {
		return "", fmt.Errorf("ensure identity of the garden: %w", err)
	}
	identity := found.Data[gardencorev1beta1.ConfigMapClusterIdentity]
	if identity == "" {
		return "", fmt.Errorf("read ConfigMap %s/%s: %w", found.Namespace, found.Name, ErrNoIdentity)
	}

	return identity, nil
}
