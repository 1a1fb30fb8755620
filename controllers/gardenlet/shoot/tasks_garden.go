// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// gardenCredentials writes what the garden needs to hand out kubeconfigs: the authority of the server for everybody in the
// project, and the key that signs client certificates for the API server of the garden alone.
func (o *operation) gardenCredentials(ctx context.Context) error {
	server, err := o.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	clients, err := o.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return err
	}
	public := map[string]string{gardencorev1beta1.DataKeyCertificateCA: string(server.Certificate)}
	config, secret, internal := o.gardenObjects()
	_, err = kit.Ensure(ctx, o.r.GardenClient, config, func() error {
		o.own(config, gardencorev1beta1.RoleCACluster)
		config.Data = public
		return nil
	})
	if err != nil {
		return err
	}
	_, err = kit.Ensure(ctx, o.r.GardenClient, secret, func() error {
		o.own(secret, gardencorev1beta1.RoleCACluster)
		secret.Data = map[string][]byte{gardencorev1beta1.DataKeyCertificateCA: server.Certificate}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = kit.Ensure(ctx, o.r.GardenClient, internal, func() error {
		o.own(internal, gardencorev1beta1.RoleCAClient)
		internal.Type = corev1.SecretTypeOpaque
		internal.Data = map[string][]byte{
			gardencorev1beta1.DataKeyCertificateCA: clients.Certificate,
			gardencorev1beta1.DataKeyPrivateKeyCA:  clients.Key,
		}
		return nil
	})
	if err != nil {
		return err
	}
	return o.gardenSSHKey(ctx)
}

// gardenSSHKey hands the key to the machines to those in the project who may read Secrets, or takes it back when nobody is to
// reach the machines any more.
func (o *operation) gardenSSHKey(ctx context.Context) error {
	secret := o.sshObject()
	key, err := o.sshKey(ctx)
	if err != nil {
		return err
	}
	if key == nil {
		return kit.Remove(ctx, o.r.GardenClient, secret)
	}
	_, err = kit.Ensure(ctx, o.r.GardenClient, secret, func() error {
		o.own(secret, gardencorev1beta1.RoleSSHKeypair)
		secret.Data = map[string][]byte{secrets.DataKeyRSA: key.Private, secrets.DataKeyRSAPublic: key.Public}
		return nil
	})
	return err
}

func (o *operation) sshObject() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.shoot.Namespace, Name: o.shoot.Name + "." + gardencorev1beta1.ProjectSecretSuffixSSHKeypair,
	}}
}

// gardenCredentialsDelete takes them back.
func (o *operation) gardenCredentialsDelete(ctx context.Context) error {
	config, secret, internal := o.gardenObjects()
	return errors.Join(
		kit.Remove(ctx, o.r.GardenClient, config),
		kit.Remove(ctx, o.r.GardenClient, secret),
		kit.Remove(ctx, o.r.GardenClient, internal),
		kit.Remove(ctx, o.r.GardenClient, o.sshObject()),
	)
}

func (o *operation) gardenObjects() (*corev1.ConfigMap, *corev1.Secret, *gardencorev1beta1.InternalSecret) {
	named := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: o.shoot.Namespace, Name: o.shoot.Name + "." + suffix}
	}
	return &corev1.ConfigMap{ObjectMeta: named(gardencorev1beta1.ProjectSecretSuffixCACluster)},
		&corev1.Secret{ObjectMeta: named(gardencorev1beta1.ProjectSecretSuffixCACluster)},
		&gardencorev1beta1.InternalSecret{ObjectMeta: named(gardencorev1beta1.ProjectSecretSuffixCAClient)}
}

// own labels an object in the project and ties its life to the shoot's. Clients trust what is in it, so nobody else in the
// project may change it.
func (o *operation) own(obj client.Object, role string) {
	labels := obj.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[gardencorev1beta1.LabelRole] = role
	labels[gardencorev1beta1.LabelUpdateRestriction] = "true"
	obj.SetLabels(labels)
	obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(o.shoot, gardencorev1beta1.GroupVersion.WithKind("Shoot"))})
}

// advertisedAddresses publishes under which addresses the API server is reached.
func (o *operation) advertisedAddresses(ctx context.Context) error {
	balancer := o.apiServer().LoadBalancer
	if balancer == "" {
		return fmt.Errorf("the load balancer of shoot %q has no address", o.shoot.Name)
	}
	return o.status.change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
		s.AdvertisedAddresses = o.hosts.Advertised(balancer)
		return s
	})
}
