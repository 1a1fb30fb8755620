// SPDX-License-Identifier: Apache-2.0

package machinepod

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

const (
	// LabelApp marks the pods that are machines and the Secrets with their user data, with the value App.
	LabelApp = "app"
	// App is the value of LabelApp.
	App = "machine"
	// AnnotationNode holds, on pods, what is set on the node of the machine: a NodeTemplate as JSON.
	AnnotationNode = "local.provider.extensions.gardener.cloud/node"
	// AnnotationFormer holds, on pods, what AnnotationNode has said before: a NodeTemplate as JSON. Only that may be taken off a node.
	AnnotationFormer = "local.provider.extensions.gardener.cloud/former-node"
	// ConditionNodeReady is the condition of pods that says whether the node of the machine is ready. A machine is useless to the shoot if
	// its kubelet runs, but its node has not joined or has no network.
	ConditionNodeReady = "local.provider.extensions.gardener.cloud/node-ready"

	// Provider is the name of the provider in MachineClasses.
	Provider = "local"

	specAPIVersion = "local.provider.extensions.gardener.cloud/v1alpha1"
	specKind       = "MachineSpec"

	podPrefix  = "machine-"
	idPrefix   = "local:///"
	nameJoiner = "-"
)

// Spec is the provider's part of a MachineClass.
type Spec struct {
	// APIVersion is that of the provider.
	APIVersion string `json:"apiVersion"`
	// Kind is MachineSpec.
	Kind string `json:"kind"`
	// Image is the container image of the machines.
	Image string `json:"image"`
	// PauseImage is the image of pod sandboxes on the machines.
	PauseImage string `json:"pauseImage,omitempty"`
	// ImageArchives is a folder on the seed's nodes with archives that machines import; empty for none.
	ImageArchives string `json:"imageArchives,omitempty"`
}

// Raw is the content of the field providerSpec.
func (s Spec) Raw() (runtime.RawExtension, error) {
	s.APIVersion, s.Kind = specAPIVersion, specKind
	data, err := json.Marshal(s)
	if err != nil {
		return runtime.RawExtension{}, fmt.Errorf("encode provider specification: %w", err)
	}
	return runtime.RawExtension{Raw: data}, nil
}

// ReadSpec reads the provider's part of a class.
func ReadSpec(class *gardenmachinev1alpha1.MachineClass) (Spec, error) {
	spec := Spec{}
	decoder := json.NewDecoder(bytes.NewReader(class.ProviderSpec.Raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&spec); err != nil {
		return Spec{}, fmt.Errorf("machine class %q: providerSpec: %w", class.Name, err)
	}
	if spec.APIVersion != specAPIVersion || spec.Kind != specKind {
		return Spec{}, fmt.Errorf("machine class %q: providerSpec: it is a %q of %q, not a %q of %q", class.Name, spec.Kind, spec.APIVersion, specKind, specAPIVersion)
	}
	if spec.Image == "" {
		return Spec{}, fmt.Errorf("machine class %q: providerSpec.image: it is required", class.Name)
	}
	return spec, nil
}

// NodeTemplate is what is set on a node because of its pool. Changes are applied to existing nodes.
type NodeTemplate struct {
	// Labels of the node.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the node.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Taints of the node.
	Taints []corev1.Taint `json:"taints,omitempty"`
}

// NodeAnnotation is the value of AnnotationNode for a machine, which has the volumes of its shoot or not. No pool can claim that it has.
func NodeAnnotation(of *gardenmachinev1alpha1.Machine, volumes bool) (string, error) {
	template := of.Spec.NodeTemplate
	labels := maps.Clone(template.Labels)
	delete(labels, machine.VolumesLabel)
	if volumes {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[machine.VolumesLabel] = machine.VolumesHere
	}
	data, err := json.Marshal(NodeTemplate{Labels: labels, Annotations: template.Annotations, Taints: template.Spec.Taints})
	if err != nil {
		return "", fmt.Errorf("encode node template of machine %q: %w", of.Name, err)
	}
	return string(data), nil
}

// Former is the value of AnnotationFormer once a value of AnnotationNode is replaced. Values that cannot be read say nothing.
func Former(before, replaced string) (string, error) {
	former, last := NodeTemplate{}, NodeTemplate{}
	_, _ = json.Unmarshal([]byte(before), &former), json.Unmarshal([]byte(replaced), &last)
	former.Labels, former.Annotations = merged(former.Labels, last.Labels), merged(former.Annotations, last.Annotations)
	for _, taint := range last.Taints {
		former.Taints = slices.DeleteFunc(former.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
		former.Taints = append(former.Taints, taint)
	}
	data, err := json.Marshal(former)
	if err != nil {
		return "", fmt.Errorf("encode former node template: %w", err)
	}
	return string(data), nil
}

func merged(values, later map[string]string) map[string]string {
	if values == nil {
		return later
	}
	maps.Copy(values, later)
	return values
}

// Name is the name of the pod and of the node of a machine. Names of machines begin with the namespace, which the pod is in anyway and
// which would make it too long for a host name.
func Name(of client.ObjectKey) (string, error) {
	rest, found := strings.CutPrefix(of.Name, of.Namespace+nameJoiner)
	if !found || rest == "" {
		return "", fmt.Errorf("the name of machine %q does not begin with %q", of.Name, of.Namespace+nameJoiner)
	}
	return podPrefix + rest, nil
}

// MachineOf is the machine of a pod: the reverse of Name.
func MachineOf(namespace, pod string) (client.ObjectKey, bool) {
	rest, found := strings.CutPrefix(pod, podPrefix)
	return client.ObjectKey{Namespace: namespace, Name: namespace + nameJoiner + rest}, found && rest != ""
}

// ProviderID identifies a machine across all providers.
func ProviderID(namespace, pod string) string { return idPrefix + namespace + "/" + pod }
