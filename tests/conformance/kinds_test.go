// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
)

// kind is a kind to vary. A name may stand for a kind in a special state; then the kind is in its object.
type kind struct {
	name, resource string
	goType         reflect.Type
	// operations are values of the annotation that asks for an operation.
	operations []string
	// settings are further changes of the object that are tried, as text of path and JSON value.
	settings []setting
}

// setting is a change of an object that a field on its own does not show.
type setting struct {
	group, name string
	path        []any
	values      []any
}

func of[T any](name, resource string) kind {
	return kind{name: name, resource: resource, goType: reflect.TypeFor[T]()}
}

func (k kind) trying(operations ...string) kind {
	k.operations = append(operations, "reconcile", "unknown", "")

	return k
}

func (k kind) setting(s ...setting) kind {
	k.settings = s

	return k
}

// kinds lists the kinds that are varied.
func kinds() []kind {
	shoot := []string{
		"retry", "maintain", "rotate-credentials-start", "rotate-credentials-complete", "rotate-credentials-start-without-workers-rollout",
		"rotate-ca-start", "rotate-ca-complete", "rotate-serviceaccount-key-start", "rotate-serviceaccount-key-complete", "rotate-etcd-encryption-key",
		"rotate-etcd-encryption-key-start", "rotate-etcd-encryption-key-complete", "rotate-observability-credentials", "rotate-ssh-keypair", "rotate-kubeconfig-credentials",
		"rotate-rollout-workers=pool", "force-in-place-update", "reconcile;rotate-ssh-keypair", "reconcile;",
	}

	return []kind{
		of[gardencorev1beta1.BackupBucket]("BackupBucket", "backupbuckets").trying(),
		of[gardencorev1beta1.BackupEntry]("BackupEntry", "backupentries").trying("restore", "migrate"),
		of[gardenoperationsv1alpha1.Bastion]("Bastion", "bastions").trying("keepalive"),
		of[gardencorev1beta1.CloudProfile]("CloudProfile", "cloudprofiles"),
		of[gardensettingsv1alpha1.ClusterOpenIDConnectPreset]("ClusterOpenIDConnectPreset", "clusteropenidconnectpresets"),
		of[gardencorev1.ControllerDeployment]("ControllerDeployment", "controllerdeployments"),
		of[gardencorev1beta1.ControllerInstallation]("ControllerInstallation", "controllerinstallations"),
		of[gardencorev1beta1.ControllerRegistration]("ControllerRegistration", "controllerregistrations"),
		of[gardensecurityv1alpha1.CredentialsBinding]("CredentialsBinding", "credentialsbindings"),
		of[gardencorev1beta1.ExposureClass]("ExposureClass", "exposureclasses"),
		of[gardenseedmanagementv1alpha1.Gardenlet]("Gardenlet", "gardenlets").trying("renew-kubeconfig", "force-redeploy"),
		of[gardencorev1beta1.InternalSecret]("InternalSecret", "internalsecrets"),
		of[gardenseedmanagementv1alpha1.ManagedSeed]("ManagedSeed", "managedseeds").trying("renew-kubeconfig"),
		of[gardenseedmanagementv1alpha1.ManagedSeedSet]("ManagedSeedSet", "managedseedsets").trying(),
		of[gardencorev1beta1.NamespacedCloudProfile]("NamespacedCloudProfile", "namespacedcloudprofiles"),
		of[gardensettingsv1alpha1.OpenIDConnectPreset]("OpenIDConnectPreset", "openidconnectpresets"),
		of[gardencorev1beta1.Project]("Project", "projects"),
		of[gardencorev1beta1.Quota]("Quota", "quotas"),
		of[gardencorev1beta1.SecretBinding]("SecretBinding", "secretbindings"),
		of[gardencorev1beta1.Seed]("Seed", "seeds").trying("renew-garden-access-secrets", "renew-workload-identity-tokens", "renew-kubeconfig"),
		of[gardencorev1beta1.Shoot]("Shoot", "shoots").trying(shoot...).setting(
			setting{"(versions)", "kubernetes", []any{"spec", "kubernetes", "version"}, []any{"1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.36.9"}},
			setting{"(hibernated)", "hibernation.enabled", []any{"spec", "hibernation", "enabled"}, []any{true, false}},
		),
		of[gardencorev1beta1.Shoot]("ShootWorkerless", "shoots"),
		of[gardencorev1beta1.ShootState]("ShootState", "shootstates"),
		of[gardensecurityv1alpha1.WorkloadIdentity]("WorkloadIdentity", "workloadidentities"),
	}
}

// path is where an object is created, or where it is updated, as a dry run.
func (k kind) path(object map[string]any, own bool) string {
	metadata, _ := object["metadata"].(map[string]any)
	path := fmt.Sprintf("/apis/%v/", object["apiVersion"])
	if namespace, ok := metadata["namespace"]; ok {
		path += fmt.Sprintf("namespaces/%v/", namespace)
	}
	path += k.resource
	if own {
		path += fmt.Sprintf("/%v", metadata["name"])
	}

	return path + "?" + dryRun
}

// metadata asks about names, labels and operations.
func metadata(k kind, base map[string]any) []request {
	post := func(group, label string, path []any, value any) request {
		return request{group, "create " + label, http.MethodPost, k.path(base, false), with(base, path, variation{value: value})}
	}
	requests := []request{
		post("metadata.name", "empty", []any{"metadata", "name"}, ""),
		post("metadata.name", "words", []any{"metadata", "name"}, "Not a Value!"),
		post("metadata.name", "dots", []any{"metadata", "name"}, "a.b"),
		post("metadata.name", "two hyphens", []any{"metadata", "name"}, "a--b"),
		post("metadata.name", "64 characters", []any{"metadata", "name"}, long[:64]),
		post("metadata.name", "long", []any{"metadata", "name"}, long),
		post("metadata.labels", "words", []any{"metadata", "labels"}, map[string]any{"not a key": "not a value!"}),
		post("metadata.finalizers", "unknown", []any{"metadata", "finalizers"}, []any{"example.org/keep"}),
		post("metadata.finalizers", "gardener", []any{"metadata", "finalizers"}, []any{"gardener"}),
		post("spec", "no spec", []any{"spec"}, nil),
	}
	for _, operation := range k.operations {
		requests = append(requests, post("metadata.annotations[gardener.cloud/operation]", fmt.Sprintf("%q", operation),
			[]any{"metadata", "annotations", "gardener.cloud/operation"}, operation))
	}

	return requests
}

// more asks what is peculiar to the kind.
func (k kind) more(base map[string]any) []request {
	var requests []request
	for _, s := range k.settings {
		for _, value := range s.values {
			label := fmt.Sprintf("create %s %v", s.name, value)
			requests = append(requests, request{s.group, label, http.MethodPost, k.path(base, false), with(base, s.path, variation{value: value})})
		}
	}
	slices.SortStableFunc(requests, func(a, b request) int { return strings.Compare(a.group, b.group) })

	return requests
}
