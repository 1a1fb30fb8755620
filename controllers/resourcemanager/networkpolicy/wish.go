// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// Wish is what a Service says of those who may reach its pods.
type Wish struct {
	// Service is its key, and Selector selects its pods.
	Service  client.ObjectKey
	Selector map[string]string
	// Ports are the ports of the pods, each once.
	Ports []reach.Port
	// Elsewhere selects the further namespaces from which it may be reached, and Alias stands for its own one in labels there.
	Elsewhere []labels.Selector
	Alias     string
	// From are the ports that are open to the pods of an alias.
	From map[string][]networkingv1.NetworkPolicyPort
	// World are the ports that are open to everyone: none if it is nil, all if it is empty.
	World []networkingv1.NetworkPolicyPort
}

// Read reads the wish of a Service with a selector. All annotations that are wrong are named in the error, and no part of such a wish is
// to be granted.
func Read(service *corev1.Service) (Wish, error) {
	w := Wish{
		Service: client.ObjectKeyFromObject(service), Selector: service.Spec.Selector,
		Alias: cmp.Or(service.Annotations[gardenresourcesv1alpha1.AnnotationNamespaceAlias], service.Namespace),
		From:  map[string][]networkingv1.NetworkPolicyPort{},
	}
	for i := range service.Spec.Ports {
		if port := target(&service.Spec.Ports[i]); !slices.Contains(w.Ports, port) {
			w.Ports = append(w.Ports, port)
		}
	}
	errs := []error{aliasError(gardenresourcesv1alpha1.AnnotationNamespaceAlias, w.Alias)}
	var err error
	w.Elsewhere, err = selectors(service.Annotations)
	errs = append(errs, err)
	for _, key := range slices.Sorted(maps.Keys(service.Annotations)) {
		if key == gardenresourcesv1alpha1.AnnotationFromWorldToPorts {
			w.World, err = ports(key, service.Annotations[key])
			errs = append(errs, err)
		}
		if alias, found := aliasOf(key); found {
			w.From[alias], err = ports(key, service.Annotations[key])
			errs = append(errs, aliasError(key, alias), err)
		}
	}
	return w, errors.Join(errs...)
}

// target is the port of the pods behind a port of a Service.
func target(port *corev1.ServicePort) reach.Port {
	to := port.TargetPort
	if to == (intstr.IntOrString{}) {
		to = intstr.FromInt32(port.Port)
	}
	return reach.Port{Protocol: cmp.Or(port.Protocol, corev1.ProtocolTCP), Port: to}
}

// aliasOf is the alias in the key of an annotation that opens ports to it.
func aliasOf(key string) (string, bool) {
	rest, begins := strings.CutPrefix(key, gardenresourcesv1alpha1.AnnotationPrefixFrom)
	alias, ends := strings.CutSuffix(rest, gardenresourcesv1alpha1.AnnotationSuffixAllowedPorts)
	return alias, begins && ends
}

// aliasError is the reason why an alias cannot be a part of names and labels.
func aliasError(key, alias string) error {
	if reasons := validation.IsDNS1123Label(alias); len(reasons) > 0 {
		return fmt.Errorf("annotation %q: alias %q: %s", key, alias, strings.Join(reasons, ", "))
	}
	return nil
}

// selectors are those of namespaces; one of them has to match (GRM-NP-2).
func selectors(annotations map[string]string) ([]labels.Selector, error) {
	const key = gardenresourcesv1alpha1.AnnotationNamespaceSelectors
	text, found := annotations[key]
	if !found {
		return nil, nil
	}
	var given []metav1.LabelSelector
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, fmt.Errorf("annotation %q: %w", key, err)
	}
	read := make([]labels.Selector, 0, len(given))
	for i := range given {
		selector, err := metav1.LabelSelectorAsSelector(&given[i])
		if err != nil {
			return nil, fmt.Errorf("annotation %q: selector %d: %w", key, i, err)
		}
		read = append(read, selector)
	}
	return read, nil
}

// ports reads a list of ports, which is not nil. A port that is left out would mean all ports of the protocol, so it has to be given.
func ports(key, text string) ([]networkingv1.NetworkPolicyPort, error) {
	read := []networkingv1.NetworkPolicyPort{}
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return nil, fmt.Errorf("annotation %q: %w", key, err)
	}
	for i := range read {
		if read[i].Port == nil {
			return nil, fmt.Errorf("annotation %q: port %d has no number and no name", key, i)
		}
		read[i].Protocol = new(protocolOf(read[i]))
	}
	return read, nil
}

func protocolOf(port networkingv1.NetworkPolicyPort) corev1.Protocol {
	if port.Protocol == nil {
		return corev1.ProtocolTCP
	}
	return *port.Protocol
}
