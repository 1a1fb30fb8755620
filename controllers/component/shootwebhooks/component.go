// SPDX-License-Identifier: Apache-2.0

// Package shootwebhooks makes the API server of a shoot ask the resource manager of its seed about the pods of system components: by a
// name in the namespace of the control plane, for which the authority of the shoot signs a certificate.
package shootwebhooks

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// Name is the configuration of the webhooks. Components with pods that are to be placed come after it.
const Name component.Name = "webhooks"

// configuration is the name of the object in the shoot.
const configuration = "gardener-resource-manager-shoot"

// Address is the name under which the API server reaches the resource manager.
func Address() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name + "-address", Title: "the name of the webhooks", Wanted: facts.Shoot.Workers,
		Render: func(f facts.Shoot, _ *component.Inputs) ([]client.Object, error) {
			return []client.Object{&corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: webhooks.ShootService},
				Spec: corev1.ServiceSpec{
					Type:         corev1.ServiceTypeExternalName,
					ExternalName: reach.ResourceManager + "." + gardencorev1beta1.NamespaceGarden + ".svc." + gardencorev1beta1.DefaultClusterDomain,
				},
			}}, nil
		},
	}
}

// Component is the configuration of the webhooks in a shoot with nodes. What comes after it is placed by them.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the webhooks for system components", After: []component.Name{shootsystem.Name}, Wanted: facts.Shoot.Workers,
		Secrets: func(f facts.Shoot, _ component.Addresses) ([]component.Request, error) {
			return []component.Request{
				component.Authority(gardencorev1beta1.SecretCACluster),
				component.Certificate(gardencorev1beta1.SecretCACluster, secrets.CertificateSpec{
					Name: webhooks.ShootCertificateName, Usage: secrets.UsageServer, CommonName: webhooks.ShootService, DNSNames: []string{webhooks.ShootHost(f.Namespace)},
				}),
				component.Token(webhooks.ShootKeyName),
			}, nil
		},
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			// The API servers of other shoots may reach the resource manager too. They do not know this path.
			path := webhooks.PathOfShoot(in.Secret(webhooks.ShootKeyName).Token)
			return webhooks.Configuration(webhooks.Values{
				Name: configuration, Shoot: true, URL: "https://" + webhooks.ShootHost(f.Namespace) + path, CA: in.Secret(gardencorev1beta1.SecretCACluster).Trusted,
				Labels: map[string]string{
					gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
					gardencorev1beta1.LabelShootNoCleanup: "true",
				},
			}), nil
		},
	}
}
