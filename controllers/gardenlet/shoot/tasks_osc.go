// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// machineConfigs are the configurations of machines, one for each pool.
type machineConfigs struct {
	ground

	secrets authorities
	profile *gardencorev1beta1.CloudProfile
	address address
	addOns  addOns
	values  values
}

func (m machineConfigs) fragment(found remains) fragment {
	none := !m.facts.Workers()
	return fragment{
		deploy: append(m.ask().deploy(none, append(m.addOns.afterServer(), "infrastructure-wait")...), m.ask().tidy(none, "worker-wait"), flow.Task{
			ID: "node-agent-config", Title: "Deploying what the agents of nodes keep", After: after("resource-manager-access"),
			Reads: []flow.Slot{m.values.keptConfigs}, Skip: none || m.facts.Power != facts.Awake, Do: m.hand,
		}),
		destroy: m.ask().destroy(!found.namespaceThere, "worker-delete-wait"),
	}
}

func (m machineConfigs) ask() ask[*gardenextensionsv1alpha1.OperatingSystemConfig] {
	return ask[*gardenextensionsv1alpha1.OperatingSystemConfig]{
		ground: m.ground, id: "osc", title: "the configuration of the machines", names: m.names, fill: m.fill, answer: m.takeUserData,
		reads: []flow.Slot{m.address}, sets: []flow.Slot{m.values.userData, m.values.machineKeys, m.values.keptConfigs},
	}
}

func (m machineConfigs) names() ([]string, error) {
	var names []string
	for i := range m.facts.Shoot.Spec.Provider.Workers {
		pair, err := osc.Names(m.facts, &m.facts.Shoot.Spec.Provider.Workers[i])
		if err != nil {
			return nil, err
		}
		names = append(names, pair...)
	}
	return names, nil
}

// fill renders the configuration of the pool that the object is named for, for new machines or for those that run.
func (m machineConfigs) fill(ctx context.Context, obj *gardenextensionsv1alpha1.OperatingSystemConfig) error {
	server, err := m.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	clients, err := m.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return err
	}
	keys, err := m.secrets.sshPublicKeys(ctx)
	if err != nil {
		return err
	}
	for i := range m.facts.Shoot.Spec.Provider.Workers {
		values := osc.Values{
			Facts: m.facts, Pool: &m.facts.Shoot.Spec.Provider.Workers[i], Server: m.facts.Hosts.NodeServer(m.address.Get(ctx).LoadBalancer),
			CA: server.Bundle.PEM, ClientCA: clients.Bundle.PEM, SSHKeys: keys, ProfileCABundle: m.profile.Spec.CABundle,
		}
		for _, render := range []func(osc.Values) (*gardenextensionsv1alpha1.OperatingSystemConfig, error){osc.Render, osc.RenderOriginal} {
			want, err := render(values)
			if errors.Is(err, osc.ErrSettings) {
				return lastoperation.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
			}
			if err != nil {
				return err
			}
			if want.Name == obj.Name {
				obj.Labels, obj.Spec = want.Labels, want.Spec
			}
		}
	}
	return nil
}

// takeUserData sets the names of the Secrets with the user data of each pool, the names of what needs new machines, and what the agents keep.
func (m machineConfigs) takeUserData(ctx context.Context, objs []*gardenextensionsv1alpha1.OperatingSystemConfig) error {
	userData, keys := map[string]string{}, map[string]string{}
	var kept []osc.Kept
	for _, obj := range objs {
		if err := nodeagent.UniqueFiles(slices.Concat(obj.Spec.Files, obj.Status.ExtensionFiles)); err != nil {
			return fmt.Errorf("OperatingSystemConfig %q: its extension or a webhook does not fulfil the contract: %w", obj.Name, err)
		}
		pool, key := obj.Labels[gardencorev1beta1.LabelWorkerPool], obj.Labels[gardencorev1beta1.LabelWorkerNodeAgentSecretName]
		if obj.Spec.Purpose == gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile {
			configuration, err := m.keep(ctx, obj)
			if err != nil {
				return err
			}
			kept = append(kept, osc.Kept{Pool: pool, Secret: key, Configuration: configuration})
			continue
		}
		if obj.Status.CloudConfig == nil {
			return fmt.Errorf("OperatingSystemConfig %q is ready and has no status.cloudConfig: its extension does not fulfil the contract", obj.Name)
		}
		userData[pool], keys[pool] = obj.Status.CloudConfig.SecretRef.Name, key
	}
	m.values.machineKeys.Set(ctx, keys)
	m.values.userData.Set(ctx, userData)
	m.values.keptConfigs.Set(ctx, kept)
	return nil
}
