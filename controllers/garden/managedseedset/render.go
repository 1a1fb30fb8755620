// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// placeholder stands for the name of the replica in the domains of the templates.
const placeholder = "replica-name"

// NewShoot makes the shoot of a replica of the template of the set (GCM-MSS-9).
func NewShoot(set *gardenseedmanagementv1alpha1.ManagedSeedSet, name string) *gardencorev1beta1.Shoot {
	template := set.Spec.ShootTemplate.DeepCopy()
	if dns := template.Spec.DNS; dns != nil && dns.Domain != nil {
		dns.Domain = new(strings.ReplaceAll(*dns.Domain, placeholder, name))
	}
	return &gardencorev1beta1.Shoot{ObjectMeta: metadata(set, template.ObjectMeta, name), Spec: template.Spec}
}

// NewManagedSeed makes the ManagedSeed of a replica of the template of the set.
func NewManagedSeed(set *gardenseedmanagementv1alpha1.ManagedSeedSet, name string) (*gardenseedmanagementv1alpha1.ManagedSeed, error) {
	template := set.Spec.Template.DeepCopy()
	template.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: name}
	if seed := template.Spec.SeedTemplate; seed != nil && seed.Spec.Ingress != nil {
		seed.Spec.Ingress.Domain = strings.ReplaceAll(seed.Spec.Ingress.Domain, placeholder, name)
	}
	if gardenlet := template.Spec.Gardenlet; gardenlet != nil {
		config, err := withIngress(gardenlet.Config.Raw, name)
		if err != nil {
			return nil, fmt.Errorf("set the ingress domain of seed %q: %w", name, err)
		}
		gardenlet.Config.Raw = config
	}
	return &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metadata(set, template.ObjectMeta, name), Spec: template.Spec}, nil
}

// withIngress replaces the placeholder in the ingress domain of the seed in the configuration of a gardenlet. A configuration
// without it stays byte for byte.
func withIngress(config []byte, name string) ([]byte, error) {
	if !strings.Contains(string(config), placeholder) {
		return config, nil
	}
	fields := map[string]any{}
	if err := json.Unmarshal(config, &fields); err != nil {
		return nil, fmt.Errorf("read the configuration of the gardenlet: %w", err)
	}
	path := []string{"seedConfig", "spec", "ingress", "domain"}
	domain, found, err := unstructured.NestedString(fields, path...)
	if err != nil || !found {
		return config, err
	}
	if err := unstructured.SetNestedField(fields, strings.ReplaceAll(domain, placeholder, name), path...); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// metadata takes labels and annotations from a template; the set controls the object.
func metadata(set *gardenseedmanagementv1alpha1.ManagedSeedSet, template metav1.ObjectMeta, name string) metav1.ObjectMeta {
	kind := gardenseedmanagementv1alpha1.GroupVersion.WithKind("ManagedSeedSet")
	return metav1.ObjectMeta{
		Namespace: set.Namespace, Name: name, Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, kind)},
	}
}
