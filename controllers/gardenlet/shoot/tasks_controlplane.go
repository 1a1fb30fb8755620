// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// secretExtensionAccess holds an administrator's kubeconfig for extensions in the seed.
const secretExtensionAccess = "shoot-access-extension"

type (
	// addresses are those of components, address is that of the API server.
	addresses = assembly.Addresses
	address   = *flow.Value[component.Address]
)

// plane is the control plane in the seed, and the access to it for clients in the seed.
type plane struct {
	ground

	secrets authorities
	images  map[string]string
	shoots  *kit.Shoots
	values  values
}

func (p plane) fragment(found remains) fragment {
	components := &assembly.Assembly[facts.Shoot]{
		Components: lists.ControlPlane(), Facts: p.facts, Await: true, Namespace: p.facts.Namespace,
		Engine:  func(context.Context) deploy.Engine { return p.engine() },
		Secrets: p.secrets.Manager, Images: p.images, Addresses: p.values.addresses,
	}
	// The stores are deleted last, when no component can need them any more.
	stores := after("infrastructure-delete-wait", "dns-delete")
	sleeping := *components
	sleeping.Facts.Power = facts.Asleep
	return fragment{
		deploy: slices.Concat(
			components.Deploy(assembly.Order{After: after("namespace")}), p.connect(false),
			sleeping.Stop(assembly.Order{After: after("hibernate"), Skip: p.facts.Power == facts.Awake}),
		),
		destroy: slices.Concat(
			components.Restore(assembly.Order{Skip: !found.cleanable()}), p.connect(!found.cleanable()),
			components.Delete(assembly.Order{
				After: after("controlplane-delete-wait"), Besides: map[component.Name][]flow.ID{etcd.Main: stores, etcd.Events: stores}, Skip: !found.namespace,
			}),
		),
	}
}

// connect deploys the access for clients in the seed, and tries it, unless the shoot sleeps (GLET-HIB-3).
func (p plane) connect(skip bool) []flow.Task {
	return []flow.Task{
		{
			ID: "gardener-access", Title: "Deploying the credentials of the gardenlet", Reads: []flow.Slot{p.address()}, Skip: skip, Do: p.deployAccess,
		},
		{
			ID: "shoot-client", Title: "Connecting to the API server", After: after("gardener-access", "apiserver-wait"),
			Reads: []flow.Slot{p.address()}, Sets: []flow.Slot{p.values.shootClient},
			Retry: flow.Retry{Interval: time.Second, Timeout: 2 * time.Minute}, Skip: skip || p.facts.Power == facts.Asleep, Do: p.reachShoot,
		},
	}
}

func (p plane) address() address {
	return p.values.addresses.Of(apiserver.Exposure)
}

// deployAccess deploys kubeconfigs for clients in the seed: for the gardenlet with the public address and with the one inside the
// seed, and for extensions.
func (p plane) deployAccess(ctx context.Context) error {
	server, err := p.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	public, inside := facts.URL(p.address().Get(ctx).LoadBalancer), apiserver.URL(p.facts.Namespace)
	var objs []client.Object
	for _, access := range []struct{ name, server, certificate, user string }{
		{gardencorev1beta1.SecretGardener, public, "gardenlet-access", accessUser},
		{gardencorev1beta1.SecretGardenerInternal, inside, "gardenlet-access", accessUser},
		{secretExtensionAccess, inside, "extension-access", extensionUser},
	} {
		certificate, err := p.secrets.access(ctx, access.certificate, access.user)
		if err != nil {
			return err
		}
		kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
			Context: p.facts.Namespace, Server: access.server, CA: server.Bundle.PEM, Certificate: certificate,
		})
		if err != nil {
			return err
		}
		objs = append(objs, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.facts.Namespace, Name: access.name},
			Type:       corev1.SecretTypeOpaque,
			Data:       map[string][]byte{gardencorev1beta1.DataKeyKubeconfig: kubeconfig},
		})
	}
	return p.engine().Apply(ctx, objs...)
}

// reachShoot sets the client of the shoot once a first request has succeeded.
func (p plane) reachShoot(ctx context.Context) error {
	shootClient, err := p.shoots.Get(ctx, p.facts.Namespace)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{}
	if err := shootClient.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return fmt.Errorf("reach the API server of the shoot at %s: %w", facts.URL(p.address().Get(ctx).LoadBalancer), err)
	}
	p.values.shootClient.Set(ctx, shootClient)
	return nil
}
