// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// machineConfigs are the configurations of machines, one for each pool.
type machineConfigs struct {
	ground

	secrets authorities
	address address
	values  values
}

func (m machineConfigs) fragment(found remains) fragment {
	none, reads := !m.facts.Workers(), []flow.Slot{m.address}
	return fragment{
		deploy: []flow.Task{
			{ID: "osc", Title: "Deploying the configuration of the machines", After: after("infrastructure-wait"), Reads: reads, Skip: none, Do: m.deploy},
			{
				ID: "osc-wait", Title: "Waiting for the configuration of the machines", After: after("osc"), Reads: reads, Sets: []flow.Slot{m.values.userData},
				Skip: none, Do: m.wait,
			},
			{
				ID: "osc-stale-delete", Title: "Deleting the configuration of former worker pools", After: after("worker-wait"), Reads: reads,
				Skip: none, Do: m.deleteStale,
			},
		},
		destroy: m.removal(kind.OperatingSystemConfig, "osc", "the configuration of the machines", !found.namespace, "worker-delete-wait"),
	}
}

// render renders the configuration of each pool.
func (m machineConfigs) render(ctx context.Context) (map[string]*gardenextensionsv1alpha1.OperatingSystemConfig, error) {
	server, err := m.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return nil, err
	}
	clients, err := m.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return nil, err
	}
	dns, err := m.facts.DNSAddress()
	if err != nil {
		return nil, err
	}
	configs := map[string]*gardenextensionsv1alpha1.OperatingSystemConfig{}
	for i := range m.facts.Shoot.Spec.Provider.Workers {
		pool := &m.facts.Shoot.Spec.Provider.Workers[i]
		config, err := osc.Render(osc.Values{
			Namespace: m.facts.Namespace, Pool: pool, KubernetesVersion: poolVersion(m.facts.Shoot, pool), Server: m.facts.Hosts.NodeServer(m.address.Get(ctx).LoadBalancer),
			CA: server.Bundle.PEM, ClientCA: clients.Bundle.PEM, ClusterDNS: dns, Kubelet: m.facts.Shoot.Spec.Kubernetes.Kubelet,
		})
		if err != nil {
			return nil, err
		}
		configs[pool.Name] = config
	}
	return configs, nil
}

func (m machineConfigs) deploy(ctx context.Context) error {
	configs, err := m.render(ctx)
	if err != nil {
		return err
	}
	for _, want := range configs {
		obj := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
		err := m.extensions().Apply(ctx, obj, extension.Always, func() error {
			obj.Labels = want.Labels
			obj.Spec = want.Spec
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wait learns where the user data of each pool is.
func (m machineConfigs) wait(ctx context.Context) error {
	configs, err := m.render(ctx)
	if err != nil {
		return err
	}
	userData := map[string]string{}
	for pool, want := range configs {
		obj := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
		if err := m.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience); err != nil {
			return err
		}
		if obj.Status.CloudConfig == nil {
			return fmt.Errorf("OperatingSystemConfig %q is ready and has no status.cloudConfig: its extension does not fulfil the contract", obj.Name)
		}
		userData[pool] = obj.Status.CloudConfig.SecretRef.Name
	}
	m.values.userData.Set(ctx, userData)
	return nil
}

// deleteStale removes the configurations of pools and versions that no machine has any more.
func (m machineConfigs) deleteStale(ctx context.Context) error {
	configs, err := m.render(ctx)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, c := range configs {
		keep[c.Name] = true
	}
	return m.destroyOthers(ctx, kind.OperatingSystemConfig, keep)
}
