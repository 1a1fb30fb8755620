// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/controllermanager"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/scheduler"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// accessValidity is the life of the gardenlet's own certificate for a shoot; every run renews it in time.
	accessValidity = 30 * 24 * time.Hour

	accessUser    = "gardener.cloud:system:gardenlet"
	extensionUser = "gardener.cloud:system:extensions"
)

// pki is everything that can be issued before any address is known.
type pki struct {
	cluster, client, etcd, etcdPeer, frontProxy *secrets.CA

	etcdClient, kubeletClient, frontProxyClient *secrets.Certificate
	controllerManager, scheduler                *secrets.Certificate
	gardenlet, extensions                       *secrets.Certificate

	serviceAccountKey *secrets.RSAKey
	encryptionKey     *secrets.EncryptionKey
	// ssh opens the machines; it is nil if they cannot be reached by SSH.
	ssh *secrets.SSHKey
}

// secretsInit takes or makes the authorities, keys and client certificates.
func (o *operation) secretsInit(ctx context.Context) error {
	m, err := secrets.Load(ctx, secrets.Config{
		Client: o.r.SeedClient, Namespace: o.namespace, Identity: managerIdentity, Clock: o.r.Clock, Random: rand.Reader,
	})
	if err != nil {
		return err
	}
	o.secrets = m
	p := pki{}
	for name, into := range map[string]**secrets.CA{
		gardencorev1beta1.SecretCACluster:    &p.cluster,
		gardencorev1beta1.SecretCAClient:     &p.client,
		gardencorev1beta1.SecretCAETCD:       &p.etcd,
		gardencorev1beta1.SecretCAETCDPeer:   &p.etcdPeer,
		gardencorev1beta1.SecretCAFrontProxy: &p.frontProxy,
	} {
		if *into, err = m.CA(ctx, name); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		into **secrets.Certificate
		spec secrets.CertificateSpec
	}{
		{&p.etcdClient, secrets.CertificateSpec{Name: "etcd-client", CA: p.etcd, CommonName: "etcd-client"}},
		{&p.kubeletClient, secrets.CertificateSpec{Name: "kube-apiserver-kubelet", CA: p.client, CommonName: apiserver.KubeletClientUser}},
		{&p.frontProxyClient, secrets.CertificateSpec{Name: "kube-aggregator", CA: p.frontProxy, CommonName: apiserver.FrontProxyUser}},
		{&p.controllerManager, secrets.CertificateSpec{Name: "kube-controller-manager", CA: p.client, CommonName: controllermanager.User}},
		{&p.scheduler, secrets.CertificateSpec{Name: "kube-scheduler", CA: p.client, CommonName: scheduler.User}},
		{&p.gardenlet, access("gardenlet-access", p.client, accessUser)},
		{&p.extensions, access("extension-access", p.client, extensionUser)},
	} {
		c.spec.Usage = secrets.UsageClient
		if *c.into, err = m.Certificate(ctx, c.spec); err != nil {
			return err
		}
	}
	if p.serviceAccountKey, err = m.RSAKey(ctx, gardencorev1beta1.SecretServiceAccountKey); err != nil {
		return err
	}
	if p.encryptionKey, err = m.EncryptionKey(ctx, gardencorev1beta1.SecretETCDEncryptionKey); err != nil {
		return err
	}
	if query.SSHAllowed(&o.shoot.Spec) {
		if p.ssh, err = m.SSHKey(ctx, gardencorev1beta1.SecretSSHKeypair); err != nil {
			return err
		}
	}
	o.pki = p
	return nil
}

// sshPublicKey is what machines let in, or nothing.
func (p pki) sshPublicKey() []byte {
	if p.ssh == nil {
		return nil
	}
	return p.ssh.Public
}

func access(name string, ca *secrets.CA, user string) secrets.CertificateSpec {
	return secrets.CertificateSpec{Name: name, CA: ca, CommonName: user, Organizations: []string{gardencorev1beta1.GroupMasters}, Validity: accessValidity}
}

// etcdCertificates are issued once the address of the Service is known: a seed may have no DNS.
func (o *operation) etcdCertificates(ctx context.Context, role, address string) (server, peer *secrets.Certificate, err error) {
	server, err = o.secrets.Certificate(ctx, secrets.CertificateSpec{
		Name: etcd.Name(role) + "-server", CA: o.pki.etcd, Usage: secrets.UsagePeer, CommonName: etcd.Name(role),
		DNSNames: etcd.ServerNames(o.namespace, role), IPs: []string{"127.0.0.1", address},
	})
	if err != nil {
		return nil, nil, err
	}
	peer, err = o.secrets.Certificate(ctx, secrets.CertificateSpec{
		Name: etcd.Name(role) + "-peer", CA: o.pki.etcdPeer, Usage: secrets.UsagePeer, CommonName: etcd.Name(role),
		DNSNames: []string{"localhost"}, IPs: []string{"127.0.0.1"},
	})
	return server, peer, err
}

// servingCertificate stands for every name and address of the API server.
func (o *operation) servingCertificate(ctx context.Context) (*secrets.Certificate, error) {
	_, services := networks(o.shoot)
	inside, err := FirstAddress(services[0])
	if err != nil {
		return nil, err
	}
	names := append(apiserver.ServerNames(o.namespace), o.hosts.Names()...)
	ips := []string{"127.0.0.1", inside, o.serviceIP}
	if IsIP(o.loadBalancer) {
		ips = append(ips, o.loadBalancer)
	} else {
		names = append(names, o.loadBalancer)
	}
	return o.secrets.Certificate(ctx, secrets.CertificateSpec{
		Name: "kube-apiserver", CA: o.pki.cluster, Usage: secrets.UsageServer, CommonName: "kube-apiserver", DNSNames: names, IPs: ips,
	})
}
