// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// FinalizerResourceManager keeps a ManagedResource of the default class until its objects are gone. Those of other classes have
	// the name of the class as a suffix, after a hyphen.
	FinalizerResourceManager = "resources.gardener.cloud/gardener-resource-manager"

	// ClassDefault is the class of ManagedResources without one.
	ClassDefault = "resources"
	// ClassSeed is the class of ManagedResources whose objects are in the seed itself.
	ClassSeed = "seed"
	// ClassShoot is the class of Secrets that ask for a token of a shoot.
	ClassShoot = "shoot"
	// ClassGarden is the class of Secrets in a seed that ask for a token of the garden.
	ClassGarden = "garden"

	// CompressedSuffix ends the keys of Secrets whose manifests are compressed with Brotli.
	CompressedSuffix = ".br"
)

// Annotations and labels of ManagedResources and of the objects that they hold.
const (
	// AnnotationIgnore stops the work on a ManagedResource. In a manifest, it makes the object one that is created and never updated.
	AnnotationIgnore = "resources.gardener.cloud/ignore"
	// AnnotationMode in a manifest says how the object is handled; see ModeIgnore.
	AnnotationMode = "resources.gardener.cloud/mode"
	// ModeIgnore is the value of AnnotationMode for objects that are neither created, updated nor deleted.
	ModeIgnore = "Ignore"
	// AnnotationOrigin of an object names the ManagedResource that it comes from.
	AnnotationOrigin = "resources.gardener.cloud/origin"
	// AnnotationDescription of an object warns people who want to change it.
	AnnotationDescription = "resources.gardener.cloud/description"
	// AnnotationKeepObject of a live object keeps it from being deleted.
	AnnotationKeepObject = "resources.gardener.cloud/keep-object"
	// AnnotationPreserveReplicas in a manifest leaves the number of replicas to others.
	AnnotationPreserveReplicas = "resources.gardener.cloud/preserve-replicas"
	// AnnotationPreserveResources in a manifest leaves requests and limits of containers to others.
	AnnotationPreserveResources = "resources.gardener.cloud/preserve-resources"
	// AnnotationDeleteOnInvalidUpdate of a live object lets it be deleted and created anew if it cannot be updated.
	AnnotationDeleteOnInvalidUpdate = "resources.gardener.cloud/delete-on-invalid-update"
	// AnnotationPropagationOnInvalidUpdate says how its dependents are deleted then: Background, Foreground or Orphan.
	AnnotationPropagationOnInvalidUpdate = "resources.gardener.cloud/deletion-propagation-on-invalid-update"
	// AnnotationFinalizeDeletionAfter of a live object is the time after which its finalizers are removed during its deletion.
	AnnotationFinalizeDeletionAfter = "resources.gardener.cloud/finalize-deletion-after"
	// AnnotationSkipHealthCheck of a live object leaves it out of health and progress.
	AnnotationSkipHealthCheck = "resources.gardener.cloud/skip-health-check"

	// LabelClass of a Secret that asks for a token names the class of the cluster that the token is for.
	LabelClass = "resources.gardener.cloud/class"
	// LabelPurpose says what a Secret is for; see PurposeTokenRequestor.
	LabelPurpose = "resources.gardener.cloud/purpose"
	// PurposeTokenRequestor is the value of LabelPurpose for Secrets that ask for a token.
	PurposeTokenRequestor = "token-requestor"
	// LabelGarbageCollectable marks ConfigMaps and Secrets that are deleted when nothing refers to them.
	LabelGarbageCollectable = "resources.gardener.cloud/garbage-collectable-reference"
	// ManagedByGardener is the value of the label managed-by of all objects of ManagedResources.
	ManagedByGardener = "gardener"
)

// Annotations of Secrets that ask for a token of a service account.
const (
	// AnnotationServiceAccountName names the service account.
	AnnotationServiceAccountName = "serviceaccount.resources.gardener.cloud/name"
	// AnnotationServiceAccountNamespace is its namespace.
	AnnotationServiceAccountNamespace = "serviceaccount.resources.gardener.cloud/namespace"
	// AnnotationServiceAccountLabels are its labels, as a JSON object.
	AnnotationServiceAccountLabels = "serviceaccount.resources.gardener.cloud/labels"
	// AnnotationTokenExpirationDuration is how long the token is valid.
	AnnotationTokenExpirationDuration = "serviceaccount.resources.gardener.cloud/token-expiration-duration"
	// AnnotationTokenRenewTimestamp is when the token is renewed. Without it, a new token is requested at once.
	AnnotationTokenRenewTimestamp = "serviceaccount.resources.gardener.cloud/token-renew-timestamp"
	// AnnotationInjectCABundle adds the CA of the cluster to the Secret.
	AnnotationInjectCABundle = "serviceaccount.resources.gardener.cloud/inject-ca-bundle"
	// AnnotationTargetSecretName names the Secret in the target cluster that gets the token.
	AnnotationTargetSecretName = "token-requestor.resources.gardener.cloud/target-secret-name"
	// AnnotationTargetSecretNamespace is its namespace.
	AnnotationTargetSecretNamespace = "token-requestor.resources.gardener.cloud/target-secret-namespace"

	// DataKeyToken is the key of a token.
	DataKeyToken = "token"
	// DataKeyKubeconfig is the key of a kubeconfig that gets the token.
	DataKeyKubeconfig = "kubeconfig"
	// DataKeyBundle is the key of a CA bundle.
	DataKeyBundle = "bundle.crt"
)

// Network policies of Services.
const (
	// NetworkPolicyPrefix begins the labels and annotations of network policies that are made for Services.
	NetworkPolicyPrefix = "networking.resources.gardener.cloud/"
	// LabelPrefixNetworkPolicyTo begins the labels of pods that let them reach a Service.
	LabelPrefixNetworkPolicyTo = NetworkPolicyPrefix + "to-"
	// LabelNetworkPolicyServiceName of a network policy names the Service that it was made for.
	LabelNetworkPolicyServiceName = NetworkPolicyPrefix + "service-name"
	// LabelNetworkPolicyServiceNamespace of a network policy is the namespace of that Service.
	LabelNetworkPolicyServiceNamespace = NetworkPolicyPrefix + "service-namespace"
	// AnnotationNamespaceSelectors of a Service selects further namespaces whose pods may reach it, as a JSON list of label selectors.
	AnnotationNamespaceSelectors = NetworkPolicyPrefix + "namespace-selectors"
	// AnnotationNamespaceAlias of a Service takes the place of its namespace in the labels of pods in other namespaces.
	AnnotationNamespaceAlias = NetworkPolicyPrefix + "pod-label-selector-namespace-alias"
	// AnnotationFromWorldToPorts of a Service opens ports to everyone, as a JSON list of ports.
	AnnotationFromWorldToPorts = NetworkPolicyPrefix + "from-world-to-ports"
	// AnnotationPrefixFrom begins the annotation that opens ports to the pods that have the label of an alias, as a JSON list of ports.
	// The alias follows, and AnnotationSuffixAllowedPorts.
	AnnotationPrefixFrom = NetworkPolicyPrefix + "from-"
	// AnnotationSuffixAllowedPorts ends it.
	AnnotationSuffixAllowedPorts = "-allowed-ports"
)

// Reasons of the conditions of ManagedResources.
const (
	// ReasonCannotReadSecret is a Secret that cannot be read.
	ReasonCannotReadSecret = "CannotReadSecret"
	// ReasonDecodingFailed is a manifest that cannot be decoded.
	ReasonDecodingFailed = "DecodingFailed"
	// ReasonApplyProgressing is a run that has begun.
	ReasonApplyProgressing = "ApplyProgressing"
	// ReasonApplyFailed is an object that cannot be applied.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonApplySucceeded is a run in which everything was applied.
	ReasonApplySucceeded = "ApplySucceeded"
	// ReasonDeletionPending is an object that is being deleted.
	ReasonDeletionPending = "DeletionPending"
	// ReasonDeletionFailed is an object that cannot be deleted.
	ReasonDeletionFailed = "DeletionFailed"
	// ReasonReleaseFailed is an object in mode Ignore that cannot be released.
	ReasonReleaseFailed = "ReleaseOfOrphanedResourcesFailed"
	// ReasonChecksPending is health or progress that has to be judged again.
	ReasonChecksPending = "ChecksPending"
	// ReasonIgnored is a ManagedResource with AnnotationIgnore.
	ReasonIgnored = "ManagedResourceIgnored"
	// ReasonResourcesHealthy is that of healthy objects.
	ReasonResourcesHealthy = "ResourcesHealthy"
	// ReasonResourcesRolledOut is that of workloads that run in their newest version.
	ReasonResourcesRolledOut = "ResourcesRolledOut"
)

// Labels and annotations of namespaces in a seed for the webhook high-availability-config.
const (
	// LabelConsiderAvailability has the webhook look at the workloads of the namespace.
	LabelConsiderAvailability = "high-availability-config.resources.gardener.cloud/consider"
	// AnnotationZones are the zones for the workloads of the namespace, separated by commas.
	AnnotationZones = "high-availability-config.resources.gardener.cloud/zones"
	// AnnotationZonePinning keeps the workloads of the namespace in these zones.
	AnnotationZonePinning = "high-availability-config.resources.gardener.cloud/zone-pinning"
)
