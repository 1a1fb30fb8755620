// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// secretExtensionAccess holds an administrator's kubeconfig for extensions in the seed.
const secretExtensionAccess = "shoot-access-extension"

// gardenerAccess keeps kubeconfigs for those who act on the shoot from the seed: the gardenlet by the public address and by the
// one inside the seed, and extensions.
func (o *operation) gardenerAccess(ctx context.Context) error {
	server, err := o.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	gardenlet, err := o.access(ctx, "gardenlet-access", accessUser)
	if err != nil {
		return err
	}
	extensions, err := o.access(ctx, "extension-access", extensionUser)
	if err != nil {
		return err
	}
	public, inside := facts.URL(o.apiServer().LoadBalancer), facts.URL(o.apiServer().ClusterIP)
	var objs []client.Object
	for _, access := range []struct {
		name, server string
		certificate  *secrets.Certificate
	}{
		{gardencorev1beta1.SecretGardener, public, gardenlet},
		{gardencorev1beta1.SecretGardenerInternal, inside, gardenlet},
		{secretExtensionAccess, inside, extensions},
	} {
		kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
			Context: o.namespace, Server: access.server, CA: server.Certificate, Certificate: access.certificate,
		})
		if err != nil {
			return err
		}
		objs = append(objs, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: access.name},
			Type:       corev1.SecretTypeOpaque,
			Data:       map[string][]byte{gardencorev1beta1.DataKeyKubeconfig: kubeconfig},
		})
	}
	return o.r.seedEngine().Apply(ctx, objs...)
}

// shootClientReady takes the client of the shoot and tries it.
func (o *operation) shootClientReady(ctx context.Context) error {
	shootClient, err := o.r.Shoots.Get(ctx, o.namespace)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{}
	if err := shootClient.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return fmt.Errorf("reach the API server of the shoot at %s: %w", facts.URL(o.apiServer().LoadBalancer), err)
	}
	o.shootClient = shootClient
	return nil
}
