// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

const (
	// DefaultTokenExpiration is how long the tokens are valid that pods get.
	DefaultTokenExpiration = 12 * time.Hour
	// role is the value of the label gardener.cloud/role of the pods of the resource manager.
	role = "gardener-resource-manager"
	// Paths of the webhooks for pods of the seed and of shoots.
	pathToken   = "/webhooks/mount-projected-service-account-token" //nolint:gosec // It is a path.
	pathSeccomp = "/webhooks/seccomp-profile"
	pathSpread  = "/webhooks/pod-topology-spread-constraints"
	// domain ends the names of the webhooks.
	domain = ".resources.gardener.cloud"
)

// Decider holds what decisions need.
type Decider struct {
	// Seed reads the seed without a cache.
	Seed client.Reader
	// Shoot reads the shoot of a namespace; nil for a server that answers no shoots.
	Shoot func(ctx context.Context, namespace string) (client.Reader, error)
	// TokenExpiration is how long the tokens are valid that pods get; 0 takes the default.
	TokenExpiration time.Duration
	// Scheduler is that of pods in control planes; empty leaves them to the one of the cluster.
	Scheduler string
	// Tolerations are how long pods stay on nodes that are lost.
	Tolerations NodeTolerations
}

// NodeTolerations are the seconds that pods stay on a node that is not ready, and on one that does not answer; nil takes the default.
type NodeTolerations struct{ NotReady, Unreachable *int64 }

// hook is one webhook. Several may have the same path.
type hook struct {
	name, path string
	mutating   bool
	rules      []admissionregistrationv1.RuleWithOperations
	// namespaces and objects select what the webhook is asked about; nil selects all.
	namespaces, objects *metav1.LabelSelector
	// conditions leave out what the webhook would not change, as expressions that all have to be true.
	conditions []admissionregistrationv1.MatchCondition
	// ignored lets requests through while nobody answers.
	ignored bool
	decide  func(d *Decider) admission.Handler
}

// hooks are all webhooks of a seed with that scheduler for control planes, which may be empty.
func hooks(scheduler string) []hook {
	all := []hook{
		{
			name: "crd-deletion-protection", path: "/webhooks/validate-crd-deletion", decide: protectDeletion,
			rules:   deletions("apiextensions.k8s.io", "customresourcedefinitions"),
			objects: &metav1.LabelSelector{MatchLabels: map[string]string{gardencorev1beta1.LabelDeletionProtected: "true"}},
		},
		{
			name: "cr-deletion-protection", path: "/webhooks/validate-crd-deletion", decide: protectDeletion,
			rules: append(deletions("extensions.gardener.cloud", protectedKinds()...), deletions("druid.gardener.cloud", "etcds")...),
		},
		{
			name: "projected-token-mount", path: pathToken, mutating: true, decide: mountTokens,
			rules: creations("", "pods"), namespaces: ofComponents(), objects: unless(labelSkipToken, metav1.LabelSelectorOpNotIn, "true"), conditions: needsToken(),
		},
		{
			name: "seccomp-profile", path: pathSeccomp, mutating: true, decide: defaultSeccomp,
			rules: creations("", "pods"), namespaces: ofComponents(), objects: unless(labelSkipSeccomp, metav1.LabelSelectorOpDoesNotExist), conditions: needsSeccomp(),
		},
		{
			// A pod that is spread less well is better than none.
			name: "pod-topology-spread-constraints", path: pathSpread, mutating: true, ignored: true,
			rules: creations("", "pods"), namespaces: ofComponents(), objects: unless(labelSkipSpread, metav1.LabelSelectorOpDoesNotExist), conditions: needsSpread(), decide: spreadByHash,
		},
		{
			name: "high-availability-config", path: "/webhooks/high-availability-config", mutating: true, decide: configureAvailability,
			rules: append(
				writes("apps", "deployments", "statefulsets"), writes("autoscaling", "horizontalpodautoscalers")...,
			),
			namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{gardenresourcesv1alpha1.LabelConsiderAvailability: "true"}}, objects: unless(labelSkipAvailability, metav1.LabelSelectorOpDoesNotExist),
		},
		{
			// An autoscaler that evicts pods is better than none.
			name: "vpa-in-place-updates", path: "/webhooks/vpa-in-place-updates", mutating: true, ignored: true, decide: updateInPlace,
			rules: writes("autoscaling.k8s.io", "verticalpodautoscalers"), namespaces: ofComponents(),
			objects: unless(labelSkipInPlace, metav1.LabelSelectorOpDoesNotExist), conditions: evictsPods(),
		},
	}
	if scheduler != "" {
		// A pod that another scheduler places is better than none.
		all = append(all, hook{
			name: "default-pod-scheduler-name", path: "/webhooks/default-pod-scheduler-name/" + scheduler, mutating: true, ignored: true,
			rules: creations("", "pods"), namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleShoot}},
			decide: nameScheduler,
		})
	}
	return all
}

// protectedKinds are the extension objects that are only deleted with a confirmation. Bastions and Clusters are not (GRM-WH-DEL-2).
func protectedKinds() []string {
	return []string{
		"backupbuckets", "backupentries", "containerruntimes", "controlplanes", "dnsrecords", "extensions", "infrastructures", "networks",
		"operatingsystemconfigs", "workers",
	}
}

// ofComponents selects the namespaces of a seed that hold components of Gardener: its own, those of extensions and those of shoots.
func ofComponents() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: gardencorev1beta1.LabelRole, Operator: metav1.LabelSelectorOpIn,
		Values: []string{gardencorev1beta1.NamespaceGarden, gardencorev1beta1.RoleExtension, gardencorev1beta1.RoleShoot},
	}}}
}

// unless leaves out objects with a label, the resource manager, and the gardenlet that deploys it: neither could start while nobody answers.
func unless(label string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: label, Operator: operator, Values: values},
		{Key: gardencorev1beta1.LabelRole, Operator: metav1.LabelSelectorOpNotIn, Values: []string{role}},
		{Key: "role", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"gardenlet"}},
	}}
}

func deletions(group string, resources ...string) []admissionregistrationv1.RuleWithOperations {
	return rules(group, resources, admissionregistrationv1.Delete)
}

func creations(group string, resources ...string) []admissionregistrationv1.RuleWithOperations { //nolint:unparam // As the function beside it.
	return rules(group, resources, admissionregistrationv1.Create)
}

func writes(group string, resources ...string) []admissionregistrationv1.RuleWithOperations {
	return rules(group, resources, admissionregistrationv1.Create, admissionregistrationv1.Update)
}

func rules(group string, resources []string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	version := "*"
	switch group { // those that are decoded are so in one version, into which the API server converts the others
	case "", "apps":
		version = "v1"
	case "autoscaling":
		version = "v2"
	case "autoscaling.k8s.io":
		version = "v1"
	}
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations, Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources},
	}}
}
