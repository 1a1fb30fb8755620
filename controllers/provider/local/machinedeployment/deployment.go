// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

const (
	// LabelApp marks the pods that are machines, with the value App.
	LabelApp = "app"
	// App is the value of LabelApp.
	App = "machine"
	// LabelDeployment names, on pods and on their user data, the set that a machine belongs to.
	LabelDeployment = "local.provider.extensions.gardener.cloud/machine-deployment"
	// LabelHash is the hash of the set at the time the machine was made.
	LabelHash = "local.provider.extensions.gardener.cloud/hash"
	// AnnotationNode holds, on pods, what is set on the node of the machine: a NodeTemplate as JSON.
	AnnotationNode = "local.provider.extensions.gardener.cloud/node"
	// ConditionNodeReady is the condition of pods that says whether the node of the machine is ready. A machine is useless to the shoot if
	// its kubelet runs, but its node has not joined or has no network.
	ConditionNodeReady = "local.provider.extensions.gardener.cloud/node-ready"

	secretPrefix  = "machine-deployment-"
	purposeClass  = "machineclass"
	deploymentKey = "deployment"
)

// Deployment is a set of identical machines.
type Deployment struct {
	// Name is the name of the set, unique in its namespace.
	Name string `json:"name"`
	// Image is the container image of the machines.
	Image string `json:"image"`
	// PauseImage is the image of pod sandboxes on the machines.
	PauseImage string `json:"pauseImage,omitempty"`
	// ImageArchives is a folder on the seed's nodes with archives that machines import; empty for none.
	ImageArchives string `json:"imageArchives,omitempty"`
	// Hash covers everything that requires new machines when it changes.
	Hash string `json:"hash"`
	// Replicas is the wanted number of machines.
	Replicas int `json:"replicas"`
	// MaxSurge is how many machines more than wanted may exist during a replacement.
	MaxSurge int `json:"maxSurge"`
	// MaxUnavailable is how many of the wanted machines may be missing during a replacement.
	MaxUnavailable int `json:"maxUnavailable"`
	// Node is what is set on the nodes of the set.
	Node NodeTemplate `json:"node"`
}

// NodeTemplate is what is set on a node because of its pool. Changes are applied to existing nodes.
type NodeTemplate struct {
	// Labels of the node.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the node.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Taints of the node.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Region of the node.
	Region string `json:"region,omitempty"`
	// Zone of the node.
	Zone string `json:"zone,omitempty"`
}

// SecretName is the name of the Secret for the set of the given name.
func SecretName(name string) string { return secretPrefix + name }

// SecretLabels select the Secrets of all sets, or of one Worker if its name is given.
func SecretLabels(worker string) map[string]string {
	labels := map[string]string{gardencorev1beta1.LabelPurpose: purposeClass}
	if worker != "" {
		labels[gardencorev1beta1.LabelWorkerName] = worker
	}
	return labels
}

// Secret holds the set and the user data of its machines.
func (d Deployment) Secret(namespace, worker string, userData []byte) (*corev1.Secret, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode machine deployment %q: %w", d.Name, err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: SecretName(d.Name), Labels: SecretLabels(worker)},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{deploymentKey: data, machine.UserDataKey: userData},
	}, nil
}

// FromSecret reads the set and its user data.
func FromSecret(secret *corev1.Secret) (Deployment, []byte, error) {
	deployment := Deployment{}
	if err := json.Unmarshal(secret.Data[deploymentKey], &deployment); err != nil {
		return Deployment{}, nil, fmt.Errorf("read machine deployment %q: %w", secret.Name, err)
	}
	return deployment, secret.Data[machine.UserDataKey], nil
}
