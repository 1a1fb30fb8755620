// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/controllermanager"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/scheduler"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	etcdStorage = "10Gi"
	// secretExtensionAccess holds an administrator's kubeconfig for extensions in the seed.
	secretExtensionAccess = "shoot-access-extension"
)

// errNoClusterIP is the answer while a Service has no address in the seed.
var errNoClusterIP = errors.New("the Service has no cluster IP")

func (o *operation) apiServerService(ctx context.Context) error {
	return o.r.seedEngine().Apply(ctx, apiserver.Service(o.namespace))
}

// apiServerServiceWait learns the addresses of the API server.
func (o *operation) apiServerServiceWait(ctx context.Context) error {
	service := apiserver.Service(o.namespace)
	if err := o.r.seedEngine().WaitReady(ctx, service); err != nil {
		return err
	}
	if err := o.r.SeedClient.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
		return fmt.Errorf("get service %q: %w", service.Name, err)
	}
	if service.Spec.ClusterIP == "" {
		return fmt.Errorf("get service %q: %w", service.Name, errNoClusterIP)
	}
	o.loadBalancer, o.serviceIP = LoadBalancerAddress(service), service.Spec.ClusterIP
	return nil
}

// etcdDeploy brings up both stores.
func (o *operation) etcdDeploy(ctx context.Context) error {
	o.etcd = map[string]string{}
	for _, role := range etcdRoles() {
		service := etcd.Service(o.namespace, role)
		if err := o.r.seedEngine().Apply(ctx, service); err != nil {
			return err
		}
		if err := o.r.SeedClient.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
			return fmt.Errorf("get service %q: %w", service.Name, err)
		}
		if service.Spec.ClusterIP == "" {
			return fmt.Errorf("get service %q: %w", service.Name, errNoClusterIP)
		}
		server, peer, err := o.etcdCertificates(ctx, role, service.Spec.ClusterIP)
		if err != nil {
			return err
		}
		storage, err := o.etcdStorage(ctx, role)
		if err != nil {
			return err
		}
		objs := etcd.Render(etcd.Values{
			Namespace: o.namespace, Role: role, Image: o.images.etcd,
			ServerSecret: server.SecretName, PeerSecret: peer.SecretName, Storage: storage,
		})
		if err := o.r.seedEngine().Apply(ctx, objs...); err != nil {
			return err
		}
		o.etcd[role] = "https://" + net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(etcd.ClientPort))
	}
	return nil
}

// etcdStorage is the size of the volume of an etcd: that of the volume it has, whatever the seed asks for by now. A volume
// cannot grow in place, and the one that holds a cluster is not to be replaced.
func (o *operation) etcdStorage(ctx context.Context, role string) (resource.Quantity, error) {
	live := &appsv1.StatefulSet{}
	key := client.ObjectKey{Namespace: o.namespace, Name: etcd.Name(role)}
	err := o.r.SeedClient.Get(ctx, key, live)
	if client.IgnoreNotFound(err) != nil {
		return resource.Quantity{}, fmt.Errorf("get stateful set %q: %w", key, err)
	}
	if have, found := etcd.Storage(live); found {
		return have, nil
	}
	size := resource.MustParse(etcdStorage)
	if v := o.seed.Spec.Volume; v != nil && v.MinimumSize != nil && v.MinimumSize.Cmp(size) > 0 {
		return *v.MinimumSize, nil
	}
	return size, nil
}

func (o *operation) etcdWait(ctx context.Context) error {
	var objs []client.Object
	for _, role := range etcdRoles() {
		objs = append(objs, etcd.Render(etcd.Values{Namespace: o.namespace, Role: role})...)
	}
	return o.r.seedEngine().WaitReady(ctx, objs...)
}

func etcdRoles() []string {
	return []string{gardencorev1beta1.ETCDRoleMain, gardencorev1beta1.ETCDRoleEvents}
}

func (o *operation) apiServerDeploy(ctx context.Context) error {
	serving, err := o.servingCertificate(ctx)
	if err != nil {
		return err
	}
	if o.encryption, err = o.encryptionInUse(ctx); err != nil {
		return err
	}
	_, services := networks(o.shoot)
	v := apiserver.Values{
		Namespace: o.namespace, Image: o.images.apiServer, Replicas: 1, ServiceNetworks: services, Issuer: o.hosts.Issuer(),
		ETCDMain: o.etcd[gardencorev1beta1.ETCDRoleMain], ETCDEvents: o.etcd[gardencorev1beta1.ETCDRoleEvents],
		Secrets: apiserver.Secrets{
			CAClient: o.pki.client.SecretName, CAFrontProxy: o.pki.frontProxy.SecretName,
			Serving: serving.SecretName, ETCDClient: o.pki.etcdClient.SecretName, KubeletClient: o.pki.kubeletClient.SecretName,
			FrontProxyClient: o.pki.frontProxyClient.SecretName, ServiceAccountKey: o.pki.serviceAccountKey.SecretName,
		},
		Encryption: apiserver.Encryption{
			Provider: o.encryption.Provider.Type, Resources: o.encryption.Resources,
			KeyName: o.pki.encryptionKey.Name, Key: o.pki.encryptionKey.Secret,
		},
		Settings: o.shoot.Spec.Kubernetes.KubeAPIServer,
	}
	if IsIP(o.loadBalancer) {
		v.AdvertiseAddress = o.loadBalancer
	}
	if names := o.hosts.Names(); len(names) > 0 {
		v.ExternalHostname = names[0]
	}
	objs, err := apiserver.Render(v)
	if err != nil {
		return err
	}
	return o.r.seedEngine().Apply(ctx, objs...)
}

func (o *operation) apiServerWait(ctx context.Context) error {
	return o.r.seedEngine().WaitReady(ctx, deployment(o.namespace, gardencorev1beta1.DeploymentKubeAPIServer))
}

// inSeed is how components in the seed reach the API server: by the address of its Service, because a seed may have no DNS.
func (o *operation) inSeed(certificate *secrets.Certificate) component.Access {
	return component.Access{Server: URL(o.serviceIP), CASecret: o.pki.cluster.SecretName, ClientSecret: certificate.SecretName}
}

func (o *operation) controllerManagerDeploy(ctx context.Context) error {
	pods, services := networks(o.shoot)
	objs, err := controllermanager.Render(controllermanager.Values{
		Namespace: o.namespace, Image: o.images.controllerManager, Replicas: 1, Access: o.inSeed(o.pki.controllerManager),
		CAClientSecret: o.pki.client.SecretName, ServiceAccountKeySecret: o.pki.serviceAccountKey.SecretName,
		PodNetworks: pods, ServiceNetworks: services, Workers: !query.Workerless(&o.shoot.Spec), Settings: o.shoot.Spec.Kubernetes.KubeControllerManager,
	})
	if err != nil {
		return err
	}
	return o.r.seedEngine().Apply(ctx, objs...)
}

func (o *operation) controllerManagerWait(ctx context.Context) error {
	return o.r.seedEngine().WaitReady(ctx, deployment(o.namespace, gardencorev1beta1.DeploymentKubeControllerManager))
}

func (o *operation) schedulerDeploy(ctx context.Context) error {
	objs, err := scheduler.Render(scheduler.Values{
		Namespace: o.namespace, Image: o.images.scheduler, Replicas: 1, Access: o.inSeed(o.pki.scheduler), Settings: o.shoot.Spec.Kubernetes.KubeScheduler,
	})
	if err != nil {
		return err
	}
	return o.r.seedEngine().Apply(ctx, objs...)
}

func (o *operation) schedulerWait(ctx context.Context) error {
	return o.r.seedEngine().WaitReady(ctx, deployment(o.namespace, gardencorev1beta1.DeploymentKubeScheduler))
}

// gardenerAccess keeps kubeconfigs for those who act on the shoot from the seed: the gardenlet by the public address and by the
// one inside the seed, and extensions.
func (o *operation) gardenerAccess(ctx context.Context) error {
	var objs []client.Object
	for _, access := range []struct {
		name, server string
		certificate  *secrets.Certificate
	}{
		{gardencorev1beta1.SecretGardener, URL(o.loadBalancer), o.pki.gardenlet},
		{gardencorev1beta1.SecretGardenerInternal, URL(o.serviceIP), o.pki.gardenlet},
		{secretExtensionAccess, URL(o.serviceIP), o.pki.extensions},
	} {
		kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
			Context: o.namespace, Server: access.server, CA: o.pki.cluster.Certificate, Certificate: access.certificate,
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
		return fmt.Errorf("reach the API server of the shoot at %s: %w", URL(o.loadBalancer), err)
	}
	o.shootClient = shootClient
	return nil
}
