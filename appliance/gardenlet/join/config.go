// SPDX-License-Identifier: Apache-2.0

package join

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
)

const (
	kubeconfigSecret    = "gardenlet-kubeconfig"           //nolint:gosec // the name of a Secret
	bootstrapSecret     = "gardenlet-kubeconfig-bootstrap" //nolint:gosec // the name of a Secret
	defaultDomainSecret = gardencorev1beta1.NamespaceGarden + "/internal-domain"
	defaultCapacity     = "250"

	// localProvider is the provider of the playground, which serves DNS names below this domain.
	localProvider = "local"
	localDomain   = "internal.terrarium.local"
)

const (
	ingressController = "nginx"
	ingressPrefix     = "ingress"
)

// Config merges the options, and what was detected in the cluster, into the given configuration. It sets only what is needed:
// other fields keep the defaults of the version of the gardenlet. seedKubeconfig is empty for a gardenlet that runs in the seed.
func Config(o Options, facts Facts, seedKubeconfig string) (map[string]any, error) {
	config := map[string]any{}
	if len(o.Config) > 0 {
		if _, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(o.Config); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		if err := yaml.Unmarshal(o.Config, &config); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	}
	overlay := &overlay{config: config}
	overlay.set(gardenconfigv1alpha1.GardenletGroupVersion.String(), "apiVersion")
	overlay.set("GardenletConfiguration", "kind")
	overlay.connections(seedKubeconfig)
	overlay.unless(map[string]any{"shoots": defaultCapacity}, "resources", "capacity")
	overlay.seed(o, facts)
	if overlay.err != nil {
		return nil, fmt.Errorf("--config: %w", overlay.err)
	}
	return config, Complete(config)
}

// Complete returns an error if a configuration lacks something that a gardenlet needs.
func Complete(config map[string]any) error {
	data, err := yaml.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode configuration: %w", err)
	}
	decoded, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
	if err != nil {
		return err
	}
	errs := gardenlet.ValidateConfig(decoded)
	if decoded.SeedConfig == nil {
		return errors.Join(errs...)
	}
	spec := decoded.SeedConfig.Spec
	for _, need := range []struct{ value, flag, what string }{
		{value: spec.Provider.Type, flag: "provider", what: "the type of infrastructure"},
		{value: spec.Provider.Region, flag: "region", what: "the region"},
		{value: spec.Networks.Pods, flag: "pods", what: "the network of the pods"},
		{value: spec.Networks.Services, flag: "services", what: "the network of the services"},
	} {
		if need.value == "" {
			errs = append(errs, fmt.Errorf("--%s: required: %s could not be detected in the cluster", need.flag, need.what))
		}
	}
	if spec.DNS.Internal == nil && spec.Provider.Type != "" {
		errs = append(errs, errors.New("--internal-domain: required: the API servers of shoots get DNS names below it"))
	}
	return errors.Join(errs...)
}

// overlay sets fields of a configuration. It keeps the first error.
type overlay struct {
	config map[string]any
	err    error
}

func (l *overlay) set(value any, path ...string) {
	if l.err == nil {
		l.err = unstructured.SetNestedField(l.config, value, path...)
	}
}

// given sets a field if the value is not empty.
func (l *overlay) given(value string, path ...string) {
	if value != "" {
		l.set(value, path...)
	}
}

// unless sets a field if it has no value yet.
func (l *overlay) unless(value any, path ...string) {
	if l.err != nil {
		return
	}
	_, found, err := unstructured.NestedFieldNoCopy(l.config, path...)
	if err != nil {
		l.err = err
		return
	}
	if !found {
		l.set(value, path...)
	}
}

// has reports whether a field has a value.
func (l *overlay) has(path ...string) bool {
	value, found, err := unstructured.NestedFieldNoCopy(l.config, path...)
	return err == nil && found && value != nil && value != ""
}

// connections sets how both clusters are reached.
func (l *overlay) connections(seedKubeconfig string) {
	reference := func(name string) map[string]any {
		return map[string]any{"name": name, "namespace": gardencorev1beta1.NamespaceGarden}
	}
	l.unless(reference(kubeconfigSecret), "gardenClientConnection", "kubeconfigSecret")
	l.unless(reference(bootstrapSecret), "gardenClientConnection", "bootstrapKubeconfig")
	if seedKubeconfig != "" {
		l.set(seedKubeconfig, "seedClientConnection", "kubeconfig")
		return
	}
	unstructured.RemoveNestedField(l.config, "seedClientConnection", "kubeconfig")
	if rest, _, err := unstructured.NestedMap(l.config, "seedClientConnection"); err == nil && len(rest) == 0 {
		unstructured.RemoveNestedField(l.config, "seedClientConnection")
	}
}

// seed describes the seed. Options take precedence over the file, and the file over what was detected in the cluster.
func (l *overlay) seed(o Options, facts Facts) {
	l.given(o.Name, "seedConfig", "metadata", "name")
	spec := func(path ...string) []string { return slices.Concat([]string{"seedConfig", "spec"}, path) }
	l.given(o.Provider, spec("provider", "type")...)
	for _, field := range []struct {
		option, fact string
		path         []string
	}{
		{option: o.Region, fact: facts.Region, path: spec("provider", "region")},
		{option: o.Pods, fact: facts.Pods, path: spec("networks", "pods")},
		{option: o.Services, fact: facts.Services, path: spec("networks", "services")},
		{option: o.Nodes, fact: facts.Nodes, path: spec("networks", "nodes")},
	} {
		l.given(field.option, field.path...)
		if !l.has(field.path...) {
			l.given(field.fact, field.path...)
		}
	}
	zones := o.Zones
	if len(zones) == 0 && !l.has(spec("provider", "zones")...) {
		zones = facts.Zones
	}
	if len(zones) > 0 && l.err == nil {
		l.err = unstructured.SetNestedStringSlice(l.config, zones, spec("provider", "zones")...)
	}
	l.internalDomain(o, spec("dns", "internal"))
	l.unless(map[string]any{}, spec("dns")...)
	l.ingress(spec)
}

// ingress sets a domain of the seed below the internal domain, with the same DNS provider, unless the configuration has
// others.
func (l *overlay) ingress(spec func(path ...string) []string) {
	internal, found, err := unstructured.NestedMap(l.config, spec("dns", "internal")...)
	if l.err != nil || err != nil || !found {
		return
	}
	domain, isText := internal["domain"].(string)
	if !isText {
		return
	}
	l.unless(strings.Join([]string{ingressPrefix, seedName(l.config), domain}, "."), spec("ingress", "domain")...)
	l.unless(ingressController, spec("ingress", "controller", "kind")...)
	l.unless(map[string]any{"type": internal["type"], "credentialsRef": internal["credentialsRef"]}, spec("dns", "provider")...)
}

// HasDomain reports whether seeds of a provider need no internal domain to be given.
func HasDomain(provider string) bool { return provider == localProvider }

func (l *overlay) internalDomain(o Options, path []string) {
	domain := o.InternalDomain
	seedProvider, _, _ := unstructured.NestedString(l.config, "seedConfig", "spec", "provider", "type")
	if domain == "" && HasDomain(seedProvider) && !l.has(path...) {
		domain = localDomain
	}
	if domain == "" {
		return
	}
	provider := o.InternalDomainProvider
	if provider == "" {
		found, _, err := unstructured.NestedString(l.config, "seedConfig", "spec", "provider", "type")
		if err != nil {
			l.err = err
		}
		provider = found
	}
	secret := o.InternalDomainSecret
	if secret == "" {
		secret = defaultDomainSecret
	}
	namespace, name, _ := strings.Cut(secret, "/")
	l.set(map[string]any{
		"type":           provider,
		"domain":         domain,
		"credentialsRef": map[string]any{"apiVersion": "v1", "kind": "Secret", "namespace": namespace, "name": name},
	}, path...)
}

// seedName returns the name of the seed in a complete configuration.
func seedName(config map[string]any) string {
	name, _, _ := unstructured.NestedString(config, "seedConfig", "metadata", "name")
	return name
}

// reference returns the Secret that a field of a complete configuration refers to.
func reference(config map[string]any, field string) (namespace, name string) {
	namespace, _, _ = unstructured.NestedString(config, "gardenClientConnection", field, "namespace")
	name, _, _ = unstructured.NestedString(config, "gardenClientConnection", field, "name")
	return namespace, name
}
