// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Kinds of the group.
const (
	KindMachine           = "Machine"
	KindMachineClass      = "MachineClass"
	KindMachineDeployment = "MachineDeployment"
	KindMachineSet        = "MachineSet"
)

// The annotations of a MachineDeployment with which a pool overrides settings of the cluster autoscaler.
const (
	AnnotationScaleDownUtilizationThreshold    = "autoscaler.gardener.cloud/scale-down-utilization-threshold"
	AnnotationScaleDownGPUUtilizationThreshold = "autoscaler.gardener.cloud/scale-down-gpu-utilization-threshold"
	AnnotationScaleDownUnneededTime            = "autoscaler.gardener.cloud/scale-down-unneeded-time"
	AnnotationScaleDownUnreadyTime             = "autoscaler.gardener.cloud/scale-down-unready-time"
	AnnotationMaxNodeProvisionTime             = "autoscaler.gardener.cloud/max-node-provision-time"
)

const (
	// LabelNode is the label of a Machine with the name of its node.
	LabelNode = "node"
	// LabelTemplateHash is the label of MachineSets and their Machines with the hash of the template that they were made from.
	LabelTemplateHash = "machine-template-hash"
	// LabelForceDeletion is the label of Machines that are deleted at once, without a drain. Its value is ForceDeletion.
	LabelForceDeletion = "force-deletion"
	// ForceDeletion is the value of LabelForceDeletion.
	ForceDeletion = "True"

	// AnnotationPriority of a Machine says how much it is worth when a MachineSet has too many: those with the lowest number go first.
	// Machines without it have DefaultPriority.
	AnnotationPriority = "machinepriority.machine.sapcloud.io"
	// DefaultPriority is the priority of Machines without AnnotationPriority.
	DefaultPriority = 3

	// AnnotationMaxGracefulTermination of a Machine is the number of seconds that a pod has at most to end when its node is drained. The
	// autoscaler sets it on those that it removes.
	AnnotationMaxGracefulTermination = "autoscaler.terrarium.garden/max-graceful-termination-seconds"

	// AnnotationRevision of a MachineSet is its number in the order in which the sets of a MachineDeployment became the wanted one.
	AnnotationRevision = "deployment.kubernetes.io/revision"

	// FinalizerMachineControllerManager is on all objects that a machine controller acts on, until it has nothing left to do with them.
	FinalizerMachineControllerManager = "machine.sapcloud.io/machine-controller-manager"
	// FinalizerMachineController is on Machines, MachineClasses and the Secrets that they need, as long as there is a machine.
	FinalizerMachineController = "machine.sapcloud.io/machine-controller"
)
