// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/defaulting"
)

const (
	defaultGardenletReplicas  = int32(2)
	defaultGardenletRevisions = int32(2)
	defaultSetReplicas        = int32(1)
	defaultSetRevisions       = int32(10)
	latestTag                 = "latest"

	// defaultShoots is how many shoots a seed takes unless its gardenlet says otherwise.
	defaultShoots = "250"

	// defaultGardenletConfig stands for a configuration that was left out altogether.
	defaultGardenletConfig = `{"kind":"GardenletConfiguration","apiVersion":"gardenlet.config.gardener.cloud/v1alpha1",` +
		`"resources":{"capacity":{"shoots":"` + defaultShoots + `"}},"logLevel":"","logFormat":"","server":{}}`
)

// RegisterDefaults makes a scheme fill in what objects leave out (reference: api-defaults.md). Only an API server wants
// that: clients must see objects as they are stored.
func RegisterDefaults(scheme *runtime.Scheme) {
	defaulting.Register(scheme, SetDefaultsGardenlet, func(l *GardenletList) []Gardenlet { return l.Items })
	defaulting.Register(scheme, SetDefaultsManagedSeed, func(l *ManagedSeedList) []ManagedSeed { return l.Items })
	defaulting.Register(scheme, SetDefaultsManagedSeedSet, func(l *ManagedSeedSetList) []ManagedSeedSet { return l.Items })
}

// SetDefaultsGardenlet fills in how a gardenlet is deployed.
func SetDefaultsGardenlet(g *Gardenlet) {
	defaulting.Ensure(&g.Spec.Deployment.Image)
	defaultDeployment(&g.Spec.Deployment.GardenletDeployment)
	defaultConfig(&g.Spec.Config)
}

// SetDefaultsManagedSeed fills in how the gardenlet of a managed seed is deployed (API-DEF-18). A managed seed whose
// gardenlet is somebody else's matter stays as it is.
func SetDefaultsManagedSeed(m *ManagedSeed) {
	c := m.Spec.Gardenlet
	if c == nil {
		return
	}
	defaulting.Ensure(&defaulting.Ensure(&c.Deployment).Image)
	defaultDeployment(c.Deployment)
	defaultConfig(&c.Config)
	defaulting.Set(&c.Bootstrap, BootstrapToken)
	defaulting.Set(&c.MergeWithParent, true)
}

// SetDefaultsManagedSeedSet fills in the size and the pace of a set (API-DEF-18). The templates get few defaults or
// none: those of the moment count at which an object is made from them.
func SetDefaultsManagedSeedSet(s *ManagedSeedSet) {
	defaulting.Set(&s.Spec.Replicas, defaultSetReplicas)
	defaulting.Set(&s.Spec.RevisionHistoryLimit, defaultSetRevisions)
	strategy := defaulting.Ensure(&s.Spec.UpdateStrategy)
	defaulting.Set(&strategy.Type, RollingUpdateStrategyType)
	if strategy.RollingUpdate != nil {
		defaulting.Set(&strategy.RollingUpdate.Partition, 0)
	}
	if c := s.Spec.Template.Spec.Gardenlet; c != nil && c.Deployment != nil {
		defaultDeployment(c.Deployment)
	}
}

func defaultDeployment(d *GardenletDeployment) {
	defaulting.Set(&d.ReplicaCount, defaultGardenletReplicas)
	defaulting.Set(&d.RevisionHistoryLimit, defaultGardenletRevisions)
	defaulting.Set(&d.EnableHealthProbes, true)
	if d.Image == nil {
		return
	}
	policy := corev1.PullIfNotPresent
	if d.Image.Tag != nil && *d.Image.Tag == latestTag {
		policy = corev1.PullAlways
	}
	defaulting.Set(&d.Image.PullPolicy, policy)
}

// defaultConfig bounds how many shoots a seed takes where the configuration does not. Everything else is kept as it is
// written, because the gardenlet may be newer than this server. What cannot be read is left to validation.
func defaultConfig(c *runtime.RawExtension) {
	if c.Object != nil {
		return
	}
	if len(c.Raw) == 0 {
		c.Raw = []byte(defaultGardenletConfig)
		return
	}
	config := map[string]json.RawMessage{}
	resources := map[string]json.RawMessage{}
	capacity := map[string]json.RawMessage{}
	if json.Unmarshal(c.Raw, &config) != nil || config == nil {
		return
	}
	for _, part := range []struct {
		in   map[string]json.RawMessage
		name string
		to   *map[string]json.RawMessage
	}{{config, "resources", &resources}, {resources, "capacity", &capacity}} {
		if raw, given := part.in[part.name]; given && json.Unmarshal(raw, part.to) != nil {
			return
		}
		if *part.to == nil {
			*part.to = map[string]json.RawMessage{}
		}
	}
	if _, given := capacity["shoots"]; given {
		return
	}
	capacity["shoots"] = json.RawMessage(`"` + defaultShoots + `"`)
	raw, err := json.Marshal(capacity)
	if err != nil {
		return
	}
	resources["capacity"] = raw
	if raw, err = json.Marshal(resources); err != nil {
		return
	}
	config["resources"] = raw
	if raw, err = json.Marshal(config); err == nil {
		c.Raw = raw
	}
}
