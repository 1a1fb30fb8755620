// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/extension"
)

const nodePoll = time.Second

// machineConfigs renders the configuration of each pool.
func (o *operation) machineConfigs(ctx context.Context) (map[string]*gardenextensionsv1alpha1.OperatingSystemConfig, error) {
	server, err := o.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return nil, err
	}
	clients, err := o.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return nil, err
	}
	configs := map[string]*gardenextensionsv1alpha1.OperatingSystemConfig{}
	for i := range o.shoot.Spec.Provider.Workers {
		pool := &o.shoot.Spec.Provider.Workers[i]
		config, err := osc.Render(osc.Values{
			Namespace: o.namespace, Pool: pool, KubernetesVersion: poolVersion(o.shoot, pool), Server: o.hosts.NodeServer(o.apiServer().LoadBalancer),
			CA: server.Certificate, ClientCA: clients.Certificate, Kubelet: o.shoot.Spec.Kubernetes.Kubelet,
		})
		if err != nil {
			return nil, err
		}
		configs[pool.Name] = config
	}
	return configs, nil
}

func poolVersion(shoot *gardencorev1beta1.Shoot, pool *gardencorev1beta1.Worker) string {
	if pool.Kubernetes != nil && pool.Kubernetes.Version != nil {
		return *pool.Kubernetes.Version
	}
	return shoot.Spec.Kubernetes.Version
}

func (o *operation) oscDeploy(ctx context.Context) error {
	configs, err := o.machineConfigs(ctx)
	if err != nil {
		return err
	}
	for _, want := range configs {
		obj := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
		err := o.r.extensions().Apply(ctx, obj, extension.Always, func() error {
			obj.Labels = want.Labels
			obj.Spec = want.Spec
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oscWait learns where the user data of each pool is.
func (o *operation) oscWait(ctx context.Context) error {
	configs, err := o.machineConfigs(ctx)
	if err != nil {
		return err
	}
	o.userData = map[string]string{}
	for pool, want := range configs {
		obj := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
		if err := o.r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience); err != nil {
			return err
		}
		if obj.Status.CloudConfig == nil {
			return fmt.Errorf("OperatingSystemConfig %q is ready and has no status.cloudConfig: its extension does not fulfil the contract", obj.Name)
		}
		o.userData[pool] = obj.Status.CloudConfig.SecretRef.Name
	}
	return nil
}

// oscDeleteStale removes the configurations of pools and versions that no machine has any more.
func (o *operation) oscDeleteStale(ctx context.Context) error {
	configs, err := o.machineConfigs(ctx)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, c := range configs {
		keep[c.Name] = true
	}
	return o.destroyOthers(ctx, kind.OperatingSystemConfig, keep)
}

func (o *operation) workerDeploy(ctx context.Context) error {
	key, err := o.sshPublicKey(ctx)
	if err != nil {
		return err
	}
	obj := &gardenextensionsv1alpha1.Worker{ObjectMeta: o.shootObject()}
	return o.r.extensions().Apply(ctx, obj, extension.Always, func() error {
		obj.Spec.Type = o.shoot.Spec.Provider.Type
		obj.Spec.Region = o.shoot.Spec.Region
		obj.Spec.SecretRef = o.providerSecret()
		obj.Spec.SSHPublicKey = key
		obj.Spec.InfrastructureProviderStatus = o.infrastructure.Status.ProviderStatus
		obj.Spec.Pools = Pools(o.shoot, o.profile, o.userData)
		return nil
	})
}

// Pools are the worker pools as the provider gets them. userData names the Secret of each.
func Pools(shoot *gardencorev1beta1.Shoot, profile *gardencorev1beta1.CloudProfile, userData map[string]string) []gardenextensionsv1alpha1.WorkerPool {
	pools := make([]gardenextensionsv1alpha1.WorkerPool, 0, len(shoot.Spec.Provider.Workers))
	for i := range shoot.Spec.Provider.Workers {
		w := &shoot.Spec.Provider.Workers[i]
		version := poolVersion(shoot, w)
		p := gardenextensionsv1alpha1.WorkerPool{
			Name: w.Name, MachineType: w.Machine.Type, Minimum: w.Minimum, Maximum: w.Maximum,
			MaxSurge: surge(w.MaxSurge, 1), MaxUnavailable: surge(w.MaxUnavailable, 0),
			Labels: poolLabels(w, version), Annotations: w.Annotations, Taints: w.Taints, Zones: w.Zones, Architecture: w.Machine.Architecture,
			KubernetesVersion: &version, ProviderConfig: w.ProviderConfig, Priority: w.Priority, UpdateStrategy: w.UpdateStrategy,
			KubeletDataVolumeName: w.KubeletDataVolumeName, MachineControllerManagerSettings: w.MachineControllerManager,
			NodeTemplate: nodeTemplate(profile, w.Machine.Type),
			UserDataSecretRef: corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: userData[w.Name]}, Key: gardencorev1beta1.DataKeyCloudConfig,
			},
		}
		if image := w.Machine.Image; image != nil {
			p.MachineImage.Name = image.Name
			if image.Version != nil {
				p.MachineImage.Version = *image.Version
			}
		}
		if w.Volume != nil {
			p.Volume = &gardenextensionsv1alpha1.Volume{Name: w.Volume.Name, Type: w.Volume.Type, Size: w.Volume.Size, Encrypted: w.Volume.Encrypted}
		}
		for _, v := range w.DataVolumes {
			p.DataVolumes = append(p.DataVolumes, gardenextensionsv1alpha1.DataVolume{Name: v.Name, Type: v.Type, Size: v.Size, Encrypted: v.Encrypted})
		}
		pools = append(pools, p)
	}
	return pools
}

func surge(value *intstr.IntOrString, otherwise int32) intstr.IntOrString {
	if value == nil {
		return intstr.FromInt32(otherwise)
	}
	return *value
}

// poolLabels are put on every node of a pool, after those of its owner.
func poolLabels(w *gardencorev1beta1.Worker, version string) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, w.Labels)
	system := w.SystemComponents == nil || w.SystemComponents.Allow
	labels["node.kubernetes.io/role"] = "node"
	labels[gardencorev1beta1.LabelWorkerPool] = w.Name
	labels[gardencorev1beta1.LabelWorkerPoolLegacy] = w.Name
	labels[gardencorev1beta1.LabelWorkerKubernetesVersion] = version
	labels[gardencorev1beta1.LabelWorkerSystemComponents] = fmt.Sprint(system)
	labels[gardencorev1beta1.LabelNodeLocalDNSEnabled] = "false"
	if w.CRI != nil {
		labels[gardencorev1beta1.LabelWorkerCRIName] = string(w.CRI.Name)
		for _, r := range w.CRI.ContainerRuntimes {
			labels[fmt.Sprintf(gardencorev1beta1.LabelFormatContainerRuntime, r.Type)] = "true"
		}
	}
	return labels
}

// nodeTemplate tells what a machine of a type has.
func nodeTemplate(profile *gardencorev1beta1.CloudProfile, machineType string) *gardenextensionsv1alpha1.NodeTemplate {
	for _, t := range profile.Spec.MachineTypes {
		if t.Name == machineType {
			return &gardenextensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{
				corev1.ResourceCPU: t.CPU, corev1.ResourceMemory: t.Memory, "gpu": t.GPU,
			}}
		}
	}
	return nil
}

func (o *operation) workerWait(ctx context.Context) error {
	obj := &gardenextensionsv1alpha1.Worker{ObjectMeta: o.shootObject()}
	return o.r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience)
}

// nodesReady waits until every pool has its nodes and all of them are ready.
func (o *operation) nodesReady(ctx context.Context) error {
	for {
		reason := o.nodeTrouble(ctx)
		if reason == "" {
			return nil
		}
		timer := o.r.Clock.NewTimer(nodePoll)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%s (%w)", reason, context.Cause(ctx))
		}
	}
}

func (o *operation) nodeTrouble(ctx context.Context) string {
	nodes := &corev1.NodeList{}
	if err := o.shootClient.List(ctx, nodes); err != nil {
		return fmt.Sprintf("list nodes: %v", err)
	}
	return strings.Join(UnreadyNodes(o.shoot.Spec.Provider.Workers, nodes.Items), "; ")
}

// UnreadyNodes gives a sentence for each pool with too few nodes and each node that is not ready.
func UnreadyNodes(pools []gardencorev1beta1.Worker, nodes []corev1.Node) []string {
	var reasons []string
	count := map[string]int32{}
	for i := range nodes {
		node := &nodes[i]
		count[node.Labels[gardencorev1beta1.LabelWorkerPool]]++
		if reason, ready := nodeReady(node); !ready {
			reasons = append(reasons, fmt.Sprintf("node %q is not ready: %s", node.Name, reason))
		}
	}
	for _, pool := range pools {
		if have := count[pool.Name]; have < pool.Minimum {
			reasons = append(reasons, fmt.Sprintf("pool %q has %d of at least %d nodes", pool.Name, have, pool.Minimum))
		}
	}
	return reasons
}

func nodeReady(node *corev1.Node) (string, bool) {
	for _, c := range node.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		if c.Status == corev1.ConditionTrue {
			return "", true
		}
		return c.Message, false
	}
	return "it has not reported yet", false
}
