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

// What a machine controller, the agent of a node, and the owner of a shoot tell one another about an update in place. All of it is on Nodes,
// LabelNodeSelectedForUpdate on Machines too.
const (
	// LabelNodeCandidateForUpdate marks a node that is to be updated in place. Its value is UpdateTrue, as that of LabelNodeSelectedForUpdate.
	LabelNodeCandidateForUpdate = "node.machine.sapcloud.io/candidate-for-update"
	// LabelNodeSelectedForUpdate marks a node that is updated now. Where the owner decides, the owner sets it.
	LabelNodeSelectedForUpdate = "node.machine.sapcloud.io/selected-for-update"
	// LabelNodeUpdateResult says how the update went: UpdateSuccessful or UpdateFailed. The agent of the node sets it.
	LabelNodeUpdateResult = "node.machine.sapcloud.io/update-result"
	// AnnotationNodeUpdateFailedReason says why an update failed.
	AnnotationNodeUpdateFailedReason = "node.machine.sapcloud.io/update-failed-reason"

	UpdateTrue       = "true"
	UpdateSuccessful = "successful"
	UpdateFailed     = "failed"

	// NodeInPlaceUpdate is the type of the condition of a Node that says how far its update is. Its reasons follow.
	NodeInPlaceUpdate      = "InPlaceUpdate"
	ReasonCandidate        = "CandidateForUpdate"
	ReasonSelected         = "SelectedForUpdate"
	ReasonReadyForUpdate   = "ReadyForUpdate"
	ReasonUpdateSuccessful = "UpdateSuccessful"
	ReasonUpdateFailed     = "UpdateFailed"

	// AnnotationInPlaceWanted is the hash of what a node is to be updated to in place; it comes from its pool. It is our own, as those that
	// follow.
	AnnotationInPlaceWanted = "worker.gardener.cloud/in-place-updates-hash"
	// AnnotationInPlaceStrategy is the update strategy of the pool of a node.
	AnnotationInPlaceStrategy = "worker.gardener.cloud/update-strategy"
	// AnnotationInPlaceApplied is the hash of what a node was updated to. The agent of the node sets it, and the machine controller copies it
	// to the Machine.
	AnnotationInPlaceApplied = "node-agent.gardener.cloud/in-place-updates-hash"
	// AnnotationCordonedBefore marks a node that its owner had cordoned before its update: it remains so.
	AnnotationCordonedBefore = "node.machine.sapcloud.io/cordoned-before-update"
)

// What the owner of a shoot and a machine controller tell one another about a machine that is kept: one that is not replaced although it has
// failed, and not taken away although it is hardly used.
const (
	// AnnotationPreserve of a Node or a Machine says whether it is kept. That of the Node counts if both have one. Its values follow.
	AnnotationPreserve = "node.machine.sapcloud.io/preserve"
	// PreserveNow keeps the machine from now on.
	PreserveNow = "now"
	// PreserveWhenFailed keeps the machine if it fails.
	PreserveWhenFailed = "when-failed"
	// PreserveAuto keeps the machine because it has failed. Only a machine controller sets it, and only on Machines.
	PreserveAuto = "auto-preserved"
	// PreserveFalse has the machine replaced when it fails.
	PreserveFalse = "false"

	// AnnotationNodePreserve of a Machine is what AnnotationPreserve of its Node was when it was last seen.
	AnnotationNodePreserve = "node.machine.sapcloud.io/last-applied-node-preserve-value"
	// TaintPreserved keeps pods from the node of a machine that has failed and is kept.
	TaintPreserved = "node.machine.sapcloud.io/preserved"
	// AnnotationScaleDownDisabled keeps an autoscaler from taking a node away, if it is PreserveTrue.
	AnnotationScaleDownDisabled = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
	// AnnotationScaleDownDisabledByPreservation marks a node whose AnnotationScaleDownDisabled goes when it is not kept any more.
	AnnotationScaleDownDisabledByPreservation = "cluster-autoscaler.kubernetes.io/scale-down-disabled-by-mcm"
	PreserveTrue                              = "true"

	// NodePreserved is the type of the condition of a Node that says whether its machine is kept. Its reasons follow.
	NodePreserved            = "Preserved"
	ReasonPreservedByUser    = "PreservedByUser"
	ReasonPreservedByMCM     = "PreservedByMCM"
	ReasonPreservationIsOver = "PreservationStopped"
)
