// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
)

const (
	hashLength = 5
	// labelName is the label by which a machine deployment knows its sets and Machines.
	labelName = "name"
	// purposeClass marks what a machine class needs.
	purposeClass = "machineclass"
)

// Wanted is a machine deployment that a Worker requires, with what it is made from.
type Wanted struct {
	// Deployment is the machine deployment.
	Deployment *gardenmachinev1alpha1.MachineDeployment
	// Class is the class of its machines.
	Class *gardenmachinev1alpha1.MachineClass
	// Secret holds the user data of the class.
	Secret *corev1.Secret
	// Status is what is published of it.
	Status gardenextensionsv1alpha1.MachineDeployment
}

// Source is what the machine deployments of one pool are rendered from.
type Source struct {
	// Worker that the pool belongs to.
	Worker *gardenextensionsv1alpha1.Worker
	// Pool of the Worker.
	Pool *gardenextensionsv1alpha1.WorkerPool
	// UserData are run by the machines at every start.
	UserData []byte
	// Cluster describes the shoot.
	Cluster *engine.Cluster
	// Images of the extension.
	Images engine.Images
}

// Render returns the machine deployments of one pool, with as many machines as a new one has: one for each zone (EXT-WORKER-5). The class is named after everything that requires
// new machines.
func Render(s Source) ([]Wanted, error) {
	image, err := containerImage(s.Cluster.CloudProfile, s.Pool, s.Images.Machine)
	if err != nil {
		return nil, err
	}
	hash, err := hashOf(s.Pool, image, s.UserData)
	if err != nil {
		return nil, err
	}
	raw, err := machinepod.Spec{Image: image, PauseImage: s.Images.Pause, ImageArchives: s.Images.Archives}.Raw()
	if err != nil {
		return nil, err
	}
	shares, err := spread(s.Pool)
	if err != nil {
		return nil, err
	}
	wanted := make([]Wanted, 0, len(shares))
	for i, part := range shares {
		name := s.Pool.Name
		if part.zone != "" {
			name = fmt.Sprintf("%s-z%d", s.Pool.Name, i+1)
		}
		name = s.Worker.Namespace + "-" + name
		class := s.class(name+"-"+hash, part)
		class.ProviderSpec = raw
		wanted = append(wanted, Wanted{
			Deployment: s.deployment(name, class.Name, part),
			Class:      class,
			Secret:     s.secret(class.Name),
			Status: gardenextensionsv1alpha1.MachineDeployment{
				Name: name, Minimum: part.minimum, Maximum: part.maximum, Priority: s.Pool.Priority, AutoPreserveFailedMachineMax: published(part.preserved),
			},
		})
	}
	return wanted, nil
}

// published is a number that is left out if it is zero.
func published(number int32) *int32 {
	if number == 0 {
		return nil
	}
	return &number
}

func (s Source) zone(part share) string { return cmp.Or(part.zone, s.Worker.Spec.Region) }

func (s Source) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.Worker.Namespace, Name: name, Labels: map[string]string{gardencorev1beta1.LabelWorkerName: s.Worker.Name}}
}

// class describes the machines. What it says about nodes is for an autoscaler that has none to look at.
func (s Source) class(name string, part share) *gardenmachinev1alpha1.MachineClass {
	class := &gardenmachinev1alpha1.MachineClass{
		ObjectMeta: s.meta(name),
		Provider:   machinepod.Provider,
		SecretRef:  &corev1.SecretReference{Namespace: s.Worker.Namespace, Name: name},
	}
	class.Labels[gardencorev1beta1.LabelPurpose] = purposeClass
	if template := s.Pool.NodeTemplate; template != nil {
		class.NodeTemplate = &gardenmachinev1alpha1.NodeTemplate{
			Capacity: template.Capacity, VirtualCapacity: template.VirtualCapacity, InstanceType: s.Pool.MachineType,
			Region: s.Worker.Spec.Region, Zone: s.zone(part), Architecture: s.Pool.Architecture,
		}
	}
	return class
}

func (s Source) secret(name string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: s.meta(name), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{machines.UserDataKey: s.UserData}}
	secret.Labels[gardencorev1beta1.LabelPurpose] = purposeClass
	return secret
}

func (s Source) deployment(name, class string, part share) *gardenmachinev1alpha1.MachineDeployment {
	labels := map[string]string{labelName: name, gardencorev1beta1.LabelWorkerPool: s.Pool.Name}
	deployment := emptyDeployment(s.Worker, name)
	deployment.Labels[gardencorev1beta1.LabelWorkerPool] = s.Pool.Name
	deployment.Annotations = autoscaling(s.Pool.ClusterAutoscaler)
	deployment.Spec.Replicas = Replicas(nil, gardenextensionsv1alpha1.MachineDeployment{Minimum: part.minimum}, Mode{Hibernated: s.Cluster.Hibernated()})
	deployment.Spec.Strategy = s.strategy(part)
	deployment.Spec.AutoPreserveFailedMachineMax = part.preserved
	deployment.Spec.Template = gardenmachinev1alpha1.MachineTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: gardenmachinev1alpha1.MachineSpec{
			MachineConfiguration: configuration(s.Pool.MachineControllerManagerSettings),
			Class:                classNamed(class),
			NodeTemplate: gardenmachinev1alpha1.NodeTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: s.nodeLabels(part), Annotations: s.nodeAnnotations()},
				Spec:       corev1.NodeSpec{Taints: s.Pool.Taints},
			},
		},
	}
	return deployment
}

// emptyDeployment wants no machines.
func emptyDeployment(worker *gardenextensionsv1alpha1.Worker, name string) *gardenmachinev1alpha1.MachineDeployment {
	labels := map[string]string{labelName: name}
	return &gardenmachinev1alpha1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: worker.Namespace, Name: name, Labels: map[string]string{gardencorev1beta1.LabelWorkerName: worker.Name, labelName: name},
		},
		Spec: gardenmachinev1alpha1.MachineDeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{labelName: name}},
			Template: gardenmachinev1alpha1.MachineTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
}

func classNamed(name string) gardenmachinev1alpha1.ClassSpec {
	return gardenmachinev1alpha1.ClassSpec{APIGroup: gardenmachinev1alpha1.GroupName, Kind: gardenmachinev1alpha1.KindMachineClass, Name: name}
}

func (s Source) nodeLabels(part share) map[string]string {
	labels := maps.Clone(s.Pool.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelTopologyRegion], labels[corev1.LabelTopologyZone] = s.Worker.Spec.Region, s.zone(part)
	return labels
}

// configuration is what the pool says about the life of its machines.
func configuration(settings *gardencorev1beta1.MachineControllerManagerSettings) gardenmachinev1alpha1.MachineConfiguration {
	if settings == nil {
		return gardenmachinev1alpha1.MachineConfiguration{}
	}
	c := gardenmachinev1alpha1.MachineConfiguration{
		DrainTimeout: settings.MachineDrainTimeout, HealthTimeout: settings.MachineHealthTimeout, CreationTimeout: settings.MachineCreationTimeout,
		InPlaceUpdateTimeout: settings.InPlaceUpdateTimeout, DisableHealthTimeout: settings.DisableHealthTimeout, MaxEvictRetries: settings.MaxEvictRetries,
		PreserveTimeout: settings.MachinePreserveTimeout,
	}
	if len(settings.NodeConditions) > 0 {
		c.NodeConditions = new(strings.Join(settings.NodeConditions, ","))
	}
	return c
}

// autoscaling returns the annotations with which a pool overrides settings of the cluster autoscaler.
func autoscaling(options *gardenextensionsv1alpha1.ClusterAutoscalerOptions) map[string]string {
	if options == nil {
		return nil
	}
	annotations := map[string]string{}
	text := func(name string, value *string) {
		if value != nil {
			annotations[name] = *value
		}
	}
	duration := func(name string, value *metav1.Duration) {
		if value != nil {
			annotations[name] = value.Duration.String()
		}
	}
	text(gardenmachinev1alpha1.AnnotationScaleDownUtilizationThreshold, options.ScaleDownUtilizationThreshold)
	text(gardenmachinev1alpha1.AnnotationScaleDownGPUUtilizationThreshold, options.ScaleDownGPUUtilizationThreshold)
	duration(gardenmachinev1alpha1.AnnotationScaleDownUnneededTime, options.ScaleDownUnneededTime)
	duration(gardenmachinev1alpha1.AnnotationScaleDownUnreadyTime, options.ScaleDownUnreadyTime)
	duration(gardenmachinev1alpha1.AnnotationMaxNodeProvisionTime, options.MaxNodeProvisionTime)
	return annotations
}

// hashOf covers everything of a pool that requires new machines when it changes. Names, labels and taints are applied to existing nodes.
// If the pool says by a name whether its configuration needs new machines, the user data do not count. The version of the image of a machine
// that is updated in place is one of those things that change in place.
func hashOf(pool *gardenextensionsv1alpha1.WorkerPool, image string, userData []byte) (string, error) {
	covered := struct {
		Image, MachineType string
		Volume             *gardenextensionsv1alpha1.Volume
		ProviderConfig     json.RawMessage
		UserData           []byte
		Configuration      *string `json:",omitempty"` //nolint:tagliatelle // What is hashed stays as it was.
	}{Image: image, MachineType: pool.MachineType, Volume: pool.Volume, UserData: userData, Configuration: pool.NodeAgentSecretName}
	if pool.NodeAgentSecretName != nil {
		covered.UserData = nil
	}
	if inPlace(pool) {
		covered.Image = pool.MachineImage.Name
	}
	if pool.ProviderConfig != nil {
		covered.ProviderConfig = pool.ProviderConfig.Raw
	}
	data, err := json.Marshal(covered)
	if err != nil {
		return "", fmt.Errorf("hash pool %q: %w", pool.Name, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:hashLength], nil
}
