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

	// defaultShoots is the default capacity of a seed for shoots.
	defaultShoots = "250"

	// defaultGardenletConfig is the configuration of a gardenlet for which none is given.
	defaultGardenletConfig = `{"kind":"GardenletConfiguration","apiVersion":"gardenlet.config.gardener.cloud/v1alpha1",` +
		`"resources":{"capacity":{"shoots":"` + defaultShoots + `"}},"logLevel":"","logFormat":"","server":{}}`
)

// RegisterDefaults registers the functions that set the defaults of objects. It is for API servers only: clients must see
// objects as they are stored.
func RegisterDefaults(scheme *runtime.Scheme) {
	defaulting.Register(scheme, SetDefaultsGardenlet, func(l *GardenletList) []Gardenlet { return l.Items })
	defaulting.Register(scheme, SetDefaultsManagedSeed, func(l *ManagedSeedList) []ManagedSeed { return l.Items })
	defaulting.Register(scheme, SetDefaultsManagedSeedSet, func(l *ManagedSeedSetList) []ManagedSeedSet { return l.Items })
}

// SetDefaultsGardenlet sets the defaults of a gardenlet's deployment.
func SetDefaultsGardenlet(g *Gardenlet) {
	defaulting.Ensure(&g.Spec.Deployment.Image)
	defaultDeployment(&g.Spec.Deployment.GardenletDeployment)
	defaultConfig(&g.Spec.Config)
}

// SetDefaultsManagedSeed sets the defaults of the deployment of a managed seed's gardenlet. A managed seed without a
// gardenlet section, whose gardenlet is deployed otherwise, is not changed (API-DEF-18).
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

// SetDefaultsManagedSeedSet sets the defaults of the size and the update strategy of a set. The templates get few defaults:
// the others are set when an object is created from them (API-DEF-18).
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

// defaultConfig sets the capacity for shoots if the configuration does not have one. All other fields are kept as they are
// written, because the gardenlet may be newer than this server. A configuration that cannot be decoded is left to
// validation.
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
