// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// Main is the store of an API server for everything but events.
	Main component.Name = gardencorev1beta1.ETCDMain
	// Events is its store for events.
	Events component.Name = gardencorev1beta1.ETCDEvents
	// ClientCertificate is the certificate of those who may do everything in both stores of a shoot, see Client.
	ClientCertificate = "etcd-client"

	image     = "etcd"
	container = "etcd"
	// smallestVolume is what etcd needs; a seed may only be able to make larger ones.
	smallestVolume = "10Gi"
)

// Component is the etcd of a role.
func Component(role string) component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: component.Name(nameOf(role)), Title: "the etcd for " + role, Images: []string{image}, Replicas: facts.Instances,
		Care: component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadEtcd},
		Keep: func(f facts.Shoot) client.Object {
			return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: nameOf(role)}}
		},
		Secrets: func(f facts.Shoot, _ component.Addresses) ([]component.Request, error) {
			return requests(f.Namespace, role), nil
		},
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			return render(f, role, in), nil
		},
	}
}

// Client asks for the certificate of clients. It names no host: an etcd lets those of certificates that do connect from there only.
func Client() component.Request {
	return component.Certificate(gardencorev1beta1.SecretCAETCD, secrets.CertificateSpec{
		Name: ClientCertificate, Usage: secrets.UsageClient, CommonName: "etcd-client",
	})
}

func serverSecret(role string) string { return nameOf(role) + "-server" }

func peerSecret(role string) string { return nameOf(role) + "-peer" }

func requests(namespace, role string) []component.Request {
	inside := serviceName(role) + "." + namespace
	return []component.Request{
		component.Authority(gardencorev1beta1.SecretCAETCD),
		component.Authority(gardencorev1beta1.SecretCAETCDPeer),
		component.Certificate(gardencorev1beta1.SecretCAETCD, secrets.CertificateSpec{
			Name: serverSecret(role), Usage: secrets.UsagePeer, CommonName: nameOf(role),
			DNSNames: []string{"localhost", serviceName(role), inside, inside + ".svc", inside + ".svc." + gardencorev1beta1.DefaultClusterDomain},
			IPs:      []string{"127.0.0.1"},
		}),
		component.Certificate(gardencorev1beta1.SecretCAETCDPeer, secrets.CertificateSpec{
			Name: peerSecret(role), Usage: secrets.UsagePeer, CommonName: nameOf(role),
			DNSNames: []string{"localhost"}, IPs: []string{"127.0.0.1"},
		}),
		Client(),
	}
}

// volume is the size of the volume. A volume that exists keeps its size, whatever the seed asks for by now: it cannot grow in
// place, and it holds a cluster, so it must not be replaced.
func volume(f facts.Shoot, kept client.Object) resource.Quantity {
	if set, ok := kept.(*appsv1.StatefulSet); ok {
		for _, claim := range set.Spec.VolumeClaimTemplates {
			if size, found := claim.Spec.Resources.Requests[corev1.ResourceStorage]; found && claim.Name == dataVolume {
				return size
			}
		}
	}
	want := resource.MustParse(smallestVolume)
	if v := f.Seed.Spec.Volume; v != nil && v.MinimumSize != nil && v.MinimumSize.Cmp(want) > 0 {
		return *v.MinimumSize
	}
	return want
}
