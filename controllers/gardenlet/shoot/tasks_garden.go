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
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// project publishes in the garden what it and the owner of the shoot need, in the project and in the status.
type project struct {
	ground

	garden  client.Client
	secrets authorities
	report  report
	address address
}

func (p project) fragment() fragment {
	return fragment{
		deploy: []flow.Task{
			{ID: "garden-credentials", Title: "Publishing the credentials in the project", After: after("apiserver-wait"), Do: p.deployCredentials},
			{
				ID: "advertised-addresses", Title: "Reporting the addresses of the cluster", After: after("cluster-identity-status"),
				Reads: []flow.Slot{p.address}, Do: p.publishAddresses,
			},
			{ID: "encryption-status", Title: "Reporting what is encrypted", After: after("apiserver-wait"), Do: p.publishEncryption},
		},
		destroy: []flow.Task{
			{ID: "garden-credentials-delete", Title: "Deleting the credentials in the project", After: after("apiserver-service-delete"), Do: p.deleteCredentials},
			p.stateDeletion(),
		},
	}
}

// deployCredentials writes what the garden needs to issue kubeconfigs: the bundle that verifies the server, readable in the project,
// and the key that signs client certificates, which only the API server of the garden reads. The API server of the shoot trusts that
// key by then, also when it is new.
func (p project) deployCredentials(ctx context.Context) error {
	server, err := p.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	clients, err := p.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return err
	}
	config, secret, internal := p.objects()
	return errors.Join(
		p.publish(ctx, config, gardencorev1beta1.RoleCACluster, func() {
			config.Data = map[string]string{gardencorev1beta1.DataKeyCertificateCA: string(server.Bundle.PEM)}
		}),
		p.publish(ctx, secret, gardencorev1beta1.RoleCACluster, func() {
			secret.Data = map[string][]byte{gardencorev1beta1.DataKeyCertificateCA: server.Bundle.PEM}
		}),
		p.publish(ctx, internal, gardencorev1beta1.RoleCAClient, func() {
			internal.Type = corev1.SecretTypeOpaque
			internal.Data = map[string][]byte{
				gardencorev1beta1.DataKeyCertificateCA: clients.Current.Certificate, gardencorev1beta1.DataKeyPrivateKeyCA: clients.Current.Key,
			}
		}),
		p.deploySSHKey(ctx),
	)
}

// deploySSHKey writes the key of the machines into the project, and the one before it, which opens machines until the next rotation
// (GLET-CRED-14). It deletes both when SSH is disabled.
func (p project) deploySSHKey(ctx context.Context) error {
	key, err := p.secrets.sshKey(ctx)
	if err != nil {
		return err
	}
	var old *secrets.SSHKey
	if key != nil {
		old = key.Old
	}
	return errors.Join(
		p.publishSSHKey(ctx, gardencorev1beta1.ProjectSecretSuffixSSHKeypair, key),
		p.publishSSHKey(ctx, gardencorev1beta1.ProjectSecretSuffixOldSSHKeypair, old),
	)
}

// publishSSHKey writes a key of the machines, or deletes it if there is none.
func (p project) publishSSHKey(ctx context.Context, suffix string, key *secrets.SSHKey) error {
	secret := p.sshObject(suffix)
	if key == nil {
		return kit.Remove(ctx, p.garden, secret)
	}
	return p.publish(ctx, secret, gardencorev1beta1.RoleSSHKeypair, func() {
		secret.Data = map[string][]byte{secrets.DataKeyRSA: key.Private, secrets.DataKeyRSAPublic: key.Public}
	})
}

// publish writes an object in the project, which may have a quota for such objects (GLET-ERR-5).
func (p project) publish(ctx context.Context, obj client.Object, role string, fill func()) error {
	_, err := kit.Ensure(ctx, p.garden, obj, func() error {
		p.own(obj, role)
		fill()
		return nil
	})
	return lastoperation.Classify(err)
}

func (p project) sshObject(suffix string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.facts.Shoot.Namespace, Name: p.facts.Shoot.Name + "." + suffix}}
}

// deleteCredentials deletes them.
func (p project) deleteCredentials(ctx context.Context) error {
	config, secret, internal := p.objects()
	return errors.Join(
		kit.Remove(ctx, p.garden, config),
		kit.Remove(ctx, p.garden, secret),
		kit.Remove(ctx, p.garden, internal),
		kit.Remove(ctx, p.garden, p.sshObject(gardencorev1beta1.ProjectSecretSuffixSSHKeypair)),
		kit.Remove(ctx, p.garden, p.sshObject(gardencorev1beta1.ProjectSecretSuffixOldSSHKeypair)),
	)
}

func (p project) objects() (*corev1.ConfigMap, *corev1.Secret, *gardencorev1beta1.InternalSecret) {
	named := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: p.facts.Shoot.Namespace, Name: p.facts.Shoot.Name + "." + suffix}
	}
	return &corev1.ConfigMap{ObjectMeta: named(gardencorev1beta1.ProjectSecretSuffixCACluster)},
		&corev1.Secret{ObjectMeta: named(gardencorev1beta1.ProjectSecretSuffixCACluster)},
		&gardencorev1beta1.InternalSecret{ObjectMeta: named(gardencorev1beta1.ProjectSecretSuffixCAClient)}
}

// own labels an object in the project and makes the shoot its owner. Clients trust its content, so members of the project may not
// change it.
func (p project) own(obj client.Object, role string) {
	labels := obj.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[gardencorev1beta1.LabelRole] = role
	labels[gardencorev1beta1.LabelUpdateRestriction] = "true"
	obj.SetLabels(labels)
	obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(p.facts.Shoot, gardencorev1beta1.GroupVersion.WithKind("Shoot"))})
}

// publishAddresses reports the addresses of the API server.
func (p project) publishAddresses(ctx context.Context) error {
	balancer := p.address.Get(ctx).LoadBalancer
	if balancer == "" {
		return fmt.Errorf("the load balancer of shoot %q has no address", p.facts.Shoot.Name)
	}
	return p.report(ctx, func(s *gardencorev1beta1.ShootStatus) { s.AdvertisedAddresses = p.facts.Hosts.Advertised(balancer) })
}

// publishEncryption records once what the API server encrypts.
func (p project) publishEncryption(ctx context.Context) error {
	used, err := p.encryptionInUse(ctx)
	if err != nil {
		return err
	}
	return p.report(ctx, func(s *gardencorev1beta1.ShootStatus) {
		if s.Credentials == nil {
			s.Credentials = &gardencorev1beta1.ShootCredentials{}
		}
		if s.Credentials.EncryptionAtRest == nil {
			s.Credentials.EncryptionAtRest = new(used.AtRest())
		}
	})
}
