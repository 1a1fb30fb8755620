// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/managed"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// agentSet is the ManagedResource with what the agents of nodes need inside of the shoot.
const agentSet = systemSets + "node-agent-config"

// keep returns what the agents of a pool keep: what the gardenlet has asked for, as webhooks of extensions may have changed it, and what the
// operating system adds. Secrets of the seed are not in the shoot, so their content becomes part of it.
func (m machineConfigs) keep(ctx context.Context, obj *gardenextensionsv1alpha1.OperatingSystemConfig) (nodeagent.Configuration, error) {
	kept := nodeagent.Configuration{
		Files: slices.Concat(obj.Spec.Files, obj.Status.ExtensionFiles),
		Units: nodeagent.MergeUnits(slices.Concat(obj.Spec.Units, obj.Status.ExtensionUnits)),
	}
	for i := range kept.Files {
		ref := kept.Files[i].Content.SecretRef
		if ref == nil {
			continue
		}
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: m.facts.Namespace, Name: ref.Name}
		if err := m.seed.Get(ctx, key, secret); err != nil {
			return nodeagent.Configuration{}, fmt.Errorf("OperatingSystemConfig %q: file %q: get secret %q: %w", obj.Name, kept.Files[i].Path, key, err)
		}
		data, found := secret.Data[ref.DataKey]
		if !found {
			return nodeagent.Configuration{}, fmt.Errorf("OperatingSystemConfig %q: file %q: secret %q has no key %q", obj.Name, kept.Files[i].Path, key, ref.DataKey)
		}
		kept.Files[i].Content = gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{
			Encoding: string(gardenextensionsv1alpha1.FileCodecIDBase64), Data: base64.StdEncoding.EncodeToString(data),
		}}
	}
	server, err := m.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return nodeagent.Configuration{}, err
	}
	if kept.InPlaceUpdates, err = m.inPlace(ctx, obj, server); err != nil || kept.InPlaceUpdates != nil {
		return kept, err
	}
	kept.Files = append(kept.Files, nodeagent.ServerCA(server.Bundle.PEM))
	return kept, nil
}

// hand has the resource manager bring the configurations into the shoot, where the agents see them. Nobody waits for the nodes: each has its
// turn, and the care for the shoot tells which are behind (GLET-CARE-13).
func (m machineConfigs) hand(ctx context.Context) error {
	objs, err := osc.AgentObjects(m.facts.Shoot, m.values.keptConfigs.Get(ctx))
	if err != nil {
		return err
	}
	return managed.Set{Namespace: m.facts.Namespace, Name: agentSet}.Apply(ctx, m.engine(), objs...)
}
