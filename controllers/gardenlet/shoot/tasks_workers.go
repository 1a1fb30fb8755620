// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	nodePoll = time.Second
	// nodesTimeout is how long nodes may take to become ready once there are machines.
	nodesTimeout = 5 * time.Minute
)

// workers are the machines of a shoot and the nodes that they become.
type workers struct {
	ground

	secrets authorities
	profile *gardencorev1beta1.CloudProfile
	addOns  addOns
	values  values
	report  report
	shoots  *kit.Shoots
}

func (w workers) fragment(found remains) fragment {
	none, control := !w.facts.Workers(), machineControl{ground: w.ground}
	return fragment{
		deploy: append(w.ask().deploy(none, slices.Concat(w.credentialsFirst(), control.ready(), after("controlplane", "system-resources", "dns-internal", quiet(w.facts), taskPendingUpdates))...), flow.Task{
			ID: taskPendingUpdates, Title: "Looking for machines to update in place", Skip: none || w.facts.Power != facts.Awake || !w.inPlace(), Do: w.reportPending,
		}, flow.Task{
			ID: "worker-status-wait", Title: "Waiting until the machines of the workers are ordered", After: after("worker"), Reads: []flow.Slot{w.values.ordered},
			Skip: none || w.facts.Power != facts.Awake || len(w.addOns.afterWorkers()) == 0 && !query.Autoscaled(&w.facts.Shoot.Spec), Do: w.awaitOrders,
		}, flow.Task{
			ID: "nodes-ready", Title: "Waiting for the nodes", Reads: []flow.Slot{w.values.shootClient}, Timeout: nodesTimeout,
			Skip: none || w.facts.Power != facts.Awake, Do: w.awaitNodes,
			After: after("worker-wait", "network-wait", "kube-proxy", "kcm-wait", "scheduler-wait", "controlplane-wait"),
		}),
		destroy: w.ask().destroy(!found.namespaceThere, append(control.ready(), cleaned, autoscalerDeleted, "cloudprovider-secret", "referenced-resources")...),
	}
}

// inPlace reports whether the machines of a pool are updated in place, or have been.
func (w workers) inPlace() bool {
	pools := w.facts.Shoot.Spec.Provider.Workers
	return w.facts.Shoot.Status.InPlaceUpdates != nil || slices.ContainsFunc(pools, func(p gardencorev1beta1.Worker) bool { return query.InPlace(&p) })
}

func (w workers) ask() ask[*gardenextensionsv1alpha1.Worker] {
	return ask[*gardenextensionsv1alpha1.Worker]{
		ground: w.ground, id: "worker", title: "the workers", names: w.once,
		reads: []flow.Slot{w.values.infrastructure, w.values.userData, w.values.machineKeys}, notes: []flow.Slot{w.values.ordered},
		fill: func(ctx context.Context, obj *gardenextensionsv1alpha1.Worker) error {
			w.values.ordered.Set(ctx, obj.Status.MachineDeploymentsLastUpdateTime)
			spec := &w.facts.Shoot.Spec
			obj.Spec.Type, obj.Spec.Region, obj.Spec.SecretRef = spec.Provider.Type, spec.Region, w.providerSecret()
			obj.Spec.InfrastructureProviderStatus = w.values.infrastructure.Get(ctx).Status.ProviderStatus
			obj.Spec.Pools = WithNodeTemplates(Pools(w.facts.Shoot, w.profile, w.values.userData.Get(ctx)), obj.Spec.Pools)
			for i := range obj.Spec.Pools {
				if key := w.values.machineKeys.Get(ctx)[obj.Spec.Pools[i].Name]; key != "" {
					obj.Spec.Pools[i].NodeAgentSecretName = &key
				}
			}
			var err error
			obj.Spec.SSHPublicKey, err = w.secrets.sshPublicKey(ctx)
			return err
		},
	}
}

// awaitOrders waits until the extension says anew which machines there are to be. The machines need not be ready: to replace all of them may
// take hours, and what makes them ready may be one of the extensions that act after that (EXT-WORKER-7).
func (w workers) awaitOrders(ctx context.Context) error {
	before := w.values.ordered.Get(ctx)
	_, err := w.ask().each(func(obj *gardenextensionsv1alpha1.Worker) error {
		return w.extensions().WaitFor(ctx, obj, w.ask().kind().Patience, func() bool {
			at := obj.Status.MachineDeploymentsLastUpdateTime
			if at == nil {
				// Extensions of earlier times say only whose generation their order is of.
				return obj.Status.ObservedGeneration == obj.Generation && len(obj.Status.MachineDeployments) > 0 &&
					obj.Annotations[gardencorev1beta1.AnnotationOperation] == ""
			}
			return at != nil && (before == nil || at.After(before.Time))
		})
	})
	return err
}

// awaitNodes waits until every pool has its nodes and all of them are ready.
func (w workers) awaitNodes(ctx context.Context) error {
	return flow.Until(ctx, w.clock, flow.Every(nodePoll), func(ctx context.Context) error {
		nodes := &corev1.NodeList{}
		if err := w.values.shootClient.Get(ctx).List(ctx, nodes); err != nil {
			return fmt.Errorf("list nodes: %w", err)
		}
		if reasons := UnreadyNodes(w.facts.Shoot.Spec.Provider.Workers, nodes.Items); len(reasons) > 0 {
			return errors.New(strings.Join(reasons, "; "))
		}
		return nil
	})
}

// UnreadyNodes returns a sentence for each node that is not ready and each pool with too few nodes. A node of no pool is not the business of an
// operation, and one whose failed machine is kept for analysis is not to become ready: neither must let all operations fail meanwhile.
func UnreadyNodes(pools []gardencorev1beta1.Worker, nodes []corev1.Node) []string {
	var reasons []string
	count := map[string]int32{}
	for i := range nodes {
		node := &nodes[i]
		pool := node.Labels[gardencorev1beta1.LabelWorkerPool]
		count[pool]++
		if !slices.ContainsFunc(pools, func(p gardencorev1beta1.Worker) bool { return p.Name == pool }) || kept(node) {
			continue
		}
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

// kept reports whether the machine of a node is kept for analysis.
func kept(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == gardenmachinev1alpha1.NodePreserved && c.Status == corev1.ConditionTrue
	})
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

// Pools returns the worker pools as the provider gets them. userData names the Secret with the user data of each.
func Pools(shoot *gardencorev1beta1.Shoot, profile *gardencorev1beta1.CloudProfile, userData map[string]string) []gardenextensionsv1alpha1.WorkerPool {
	pools := make([]gardenextensionsv1alpha1.WorkerPool, 0, len(shoot.Spec.Provider.Workers))
	for i := range shoot.Spec.Provider.Workers {
		w := &shoot.Spec.Provider.Workers[i]
		version := query.PoolVersion(&shoot.Spec, w)
		p := gardenextensionsv1alpha1.WorkerPool{
			Name: w.Name, MachineType: w.Machine.Type, Minimum: w.Minimum, Maximum: w.Maximum,
			MaxSurge: ptr.Deref(w.MaxSurge, intstr.FromInt32(1)), MaxUnavailable: ptr.Deref(w.MaxUnavailable, intstr.FromInt32(0)),
			Labels: poolLabels(&shoot.Spec, w), Annotations: w.Annotations, Taints: w.Taints, Zones: w.Zones, Architecture: w.Machine.Architecture,
			KubernetesVersion: &version, KubeletConfig: query.PoolKubelet(&shoot.Spec, w), ProviderConfig: w.ProviderConfig, Priority: w.Priority, UpdateStrategy: w.UpdateStrategy,
			KubeletDataVolumeName: w.KubeletDataVolumeName, MachineControllerManagerSettings: w.MachineControllerManager,
			NodeTemplate: nodeTemplate(profile, w.Machine.Type), ClusterAutoscaler: autoscalerOptions(w.ClusterAutoscaler),
			UserDataSecretRef: corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: userData[w.Name]}, Key: gardencorev1beta1.DataKeyCloudConfig,
			},
		}
		if image := w.Machine.Image; image != nil {
			p.MachineImage.Name, p.MachineImage.Version = image.Name, ptr.Deref(image.Version, "")
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

// autoscalerOptions are what a pool says about its autoscaling. Shares are texts for providers.
func autoscalerOptions(o *gardencorev1beta1.ClusterAutoscalerOptions) *gardenextensionsv1alpha1.ClusterAutoscalerOptions {
	if o == nil {
		return nil
	}
	text := func(share *float64) *string {
		if share == nil {
			return nil
		}
		return new(strconv.FormatFloat(*share, 'g', -1, 64))
	}
	return &gardenextensionsv1alpha1.ClusterAutoscalerOptions{
		ScaleDownUtilizationThreshold: text(o.ScaleDownUtilizationThreshold), ScaleDownGPUUtilizationThreshold: text(o.ScaleDownGPUUtilizationThreshold),
		ScaleDownUnneededTime: o.ScaleDownUnneededTime, ScaleDownUnreadyTime: o.ScaleDownUnreadyTime, MaxNodeProvisionTime: o.MaxNodeProvisionTime,
	}
}

// poolLabels are put on every node of a pool, after those of its owner.
func poolLabels(shoot *gardencorev1beta1.ShootSpec, w *gardencorev1beta1.Worker) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, w.Labels)
	system := w.SystemComponents == nil || w.SystemComponents.Allow
	labels["node.kubernetes.io/role"] = "node"
	labels[gardencorev1beta1.LabelWorkerPool] = w.Name
	labels[gardencorev1beta1.LabelWorkerPoolLegacy] = w.Name
	labels[gardencorev1beta1.LabelWorkerKubernetesVersion] = query.PoolVersion(shoot, w)
	labels[gardencorev1beta1.LabelWorkerSystemComponents] = fmt.Sprint(system)
	labels[gardencorev1beta1.LabelNodeLocalDNSEnabled] = strconv.FormatBool(query.NodeLocalDNS(shoot) != nil)
	if w.CRI != nil {
		labels[gardencorev1beta1.LabelWorkerCRIName] = string(w.CRI.Name)
		for _, r := range w.CRI.ContainerRuntimes {
			labels[fmt.Sprintf(gardencorev1beta1.LabelFormatContainerRuntime, r.Type)] = "true"
		}
	}
	return labels
}

// WithNodeTemplates keeps what the pools of a Worker say about their nodes as long as the machine type stays the same: the provider may
// know better than the profile what a machine has (EXT-WORKER-4).
func WithNodeTemplates(pools, live []gardenextensionsv1alpha1.WorkerPool) []gardenextensionsv1alpha1.WorkerPool {
	for i := range pools {
		for j := range live {
			if live[j].Name == pools[i].Name && live[j].MachineType == pools[i].MachineType && live[j].NodeTemplate != nil {
				pools[i].NodeTemplate = live[j].NodeTemplate
			}
		}
	}
	return pools
}

// nodeTemplate is what a machine of a type has.
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
