// SPDX-License-Identifier: Apache-2.0

package seedauthorizer

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

const (
	partStatus     = "status"
	partFinalizers = "finalizers"
	partToken      = "token"
	partSeedClient = "seedclient"

	// fieldSeed is the field selector for the objects of a seed.
	fieldSeed = "spec.seedName"
)

// rule says what clients of a seed may do with objects of one resource.
type rule struct {
	kind graph.Kind
	// always are verbs for all objects, path those for objects that belong to the seed.
	always, path verbs
	// parts are the subresources to which the verbs apply, in addition to the object itself.
	parts []string
	// field is the field with the seed of an object; label says that a label has it. A client may list and watch with one of
	// them in its selector.
	field string
	label bool
	// deletes says that a gardenlet deletes such objects, if neither always nor path contains the verb.
	deletes bool
	// readOnly restricts extensions to reading (GAC-SAR-18).
	readOnly bool
	// gardenletOnly keeps extensions away.
	gardenletOnly bool
	// check is called first, for rules that are not about verbs and paths alone. If it returns only, nothing else is checked.
	check func(ctx context.Context, r *request) (allowed, only bool)
}

// rules returns the rules by resource. Seeds cannot use other resources (GAC-SAR-1 to 19).
func rules() map[schema.GroupResource]rule {
	all := map[schema.GroupResource]rule{}
	in := func(group string, some map[string]rule) {
		for resource, r := range some {
			all[schema.GroupResource{Group: group, Resource: resource}] = r
		}
	}
	in(gardencorev1beta1.GroupName, coreRules())
	in(gardenappliancev1alpha1.GroupName, map[string]rule{
		// A report adds to the timelines of objects of the seed only, see package timeline of the registry.
		"timelinereports": {always: create, readOnly: true},
	})
	in(gardenoperationsv1alpha1.GroupName, map[string]rule{
		"bastions": {kind: graph.Bastion, always: create, path: read | write, parts: []string{partStatus}, field: fieldSeed},
	})
	in(gardensecurityv1alpha1.GroupName, map[string]rule{
		"credentialsbindings": {kind: graph.CredentialsBinding, path: read},
		"workloadidentities":  {kind: graph.WorkloadIdentity, path: read | patch, check: identityToken},
	})
	in(gardenseedmanagementv1alpha1.GroupName, map[string]rule{
		"managedseeds": {kind: graph.ManagedSeed, path: read | write, parts: []string{partStatus}, label: true, check: ownManagedSeed},
		"gardenlets": {
			kind: graph.Gardenlet, always: create, path: read | write, parts: []string{partStatus}, check: gardenNamespaceOnly,
		},
	})
	in(corev1.GroupName, map[string]rule{
		"configmaps":      {kind: graph.ConfigMap, always: create, path: read, deletes: true, check: configMaps},
		"events":          {always: create | patch},
		"namespaces":      {kind: graph.Namespace, path: read},
		"secrets":         {kind: graph.Secret, always: create, path: get | write | remove, check: secrets},
		"serviceaccounts": {kind: graph.ServiceAccount, always: create, path: get | write, readOnly: true, check: serviceAccounts},
	})
	in(eventsv1.GroupName, map[string]rule{"events": {always: create | patch}})
	in(coordinationv1.GroupName, map[string]rule{
		"leases": {kind: graph.Lease, always: create, path: read | write, check: leases},
	})
	in(certificatesv1.GroupName, map[string]rule{
		"certificatesigningrequests": {
			kind: graph.CertificateSigningRequest, always: create, path: read, parts: []string{partSeedClient}, readOnly: true,
		},
	})
	in(rbacv1.GroupName, map[string]rule{
		"clusterrolebindings": {
			kind: graph.ClusterRoleBinding, always: create, path: get | write, readOnly: true, check: clusterRoleBindings,
		},
	})

	return all
}

func coreRules() map[string]rule {
	status := []string{partStatus}
	statusAndFinalizers := []string{partStatus, partFinalizers}

	return map[string]rule{
		// Lists and watches of backups always return only what belongs to the seed, see package seedlists.
		"backupbuckets": {
			kind: graph.BackupBucket, always: create | list | watch, path: get | write | remove, parts: statusAndFinalizers,
		},
		"backupentries": {
			kind: graph.BackupEntry, always: create | list | watch, path: get | write | remove, parts: status,
		},
		"cloudprofiles":         {kind: graph.CloudProfile, path: read},
		"controllerdeployments": {kind: graph.ControllerDeployment, path: read},
		"controllerinstallations": {
			kind: graph.ControllerInstallation, path: read | write, parts: status, field: gardencorev1beta1.FieldSeedRefName,
		},
		"controllerregistrations": {kind: graph.ControllerRegistration, always: read},
		"exposureclasses":         {kind: graph.ExposureClass, path: read},
		"internalsecrets": {
			kind: graph.InternalSecret, always: create, path: read | write | remove, check: internalSecrets,
		},
		"namespacedcloudprofiles": {kind: graph.NamespacedCloudProfile, path: read},
		"projects":                {kind: graph.Project, path: read},
		"secretbindings":          {kind: graph.SecretBinding, path: read},
		"seeds": {
			kind: graph.Seed, always: create, path: read | write | remove, parts: status, label: true,
		},
		"shoots": {
			kind: graph.Shoot, path: read | write, parts: statusAndFinalizers, label: true, check: ownShoot,
		},
		// They have all keys of the shoots of the seed.
		"shootstates": {kind: graph.ShootState, always: create, path: read | write | remove, gardenletOnly: true},
	}
}
