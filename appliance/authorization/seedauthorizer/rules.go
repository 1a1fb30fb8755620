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

	// fieldSeed selects the objects of a seed by their specification.
	fieldSeed = "spec.seedName"
)

// rule says what clients of a seed may do with objects of one resource.
type rule struct {
	kind graph.Kind
	// always are verbs for all objects, path those for objects that belong to the seed.
	always, path verbs
	// parts are the subresources that the verbs are good for, beside the object itself.
	parts []string
	// field is the field that says which seed an object belongs to; label says that a label does. With one of them in
	// its selector, a client may list and watch.
	field string
	label bool
	// deletes says that a gardenlet deletes such objects, where neither always nor path do.
	deletes bool
	// readOnly takes everything but reading from extensions (GAC-SAR-18).
	readOnly bool
	// special is asked first; it allows what is no matter of verbs and paths alone. With only, nothing else counts.
	special func(ctx context.Context, r *request) (allowed, only bool)
}

// rules are GAC-SAR-1 to GAC-SAR-18. Everything else is no business of a seed (GAC-SAR-19).
func rules() map[schema.GroupResource]rule {
	all := map[schema.GroupResource]rule{}
	in := func(group string, some map[string]rule) {
		for resource, r := range some {
			all[schema.GroupResource{Group: group, Resource: resource}] = r
		}
	}
	in(gardencorev1beta1.GroupName, coreRules())
	in(gardenoperationsv1alpha1.GroupName, map[string]rule{
		"bastions": {kind: graph.Bastion, always: create, path: read | write, parts: []string{partStatus}, field: fieldSeed},
	})
	in(gardensecurityv1alpha1.GroupName, map[string]rule{
		"credentialsbindings": {kind: graph.CredentialsBinding, path: read},
		"workloadidentities":  {kind: graph.WorkloadIdentity, path: read | patch, special: identityToken},
	})
	in(gardenseedmanagementv1alpha1.GroupName, map[string]rule{
		"managedseeds": {kind: graph.ManagedSeed, path: read | write, parts: []string{partStatus}, label: true},
		"gardenlets": {
			kind: graph.Gardenlet, always: create, path: read | write, parts: []string{partStatus}, special: gardenNamespaceOnly,
		},
	})
	in(corev1.GroupName, map[string]rule{
		"configmaps":      {kind: graph.ConfigMap, always: create, path: read, deletes: true, special: configMaps},
		"events":          {always: create | patch},
		"namespaces":      {kind: graph.Namespace, path: read},
		"secrets":         {kind: graph.Secret, always: create, path: get | write | remove, special: secrets},
		"serviceaccounts": {kind: graph.ServiceAccount, always: create, path: get | write, readOnly: true, special: serviceAccounts},
	})
	in(eventsv1.GroupName, map[string]rule{"events": {always: create | patch}})
	in(coordinationv1.GroupName, map[string]rule{
		"leases": {kind: graph.Lease, always: create, path: read | write, special: leases},
	})
	in(certificatesv1.GroupName, map[string]rule{
		"certificatesigningrequests": {
			kind: graph.CertificateSigningRequest, always: create, path: read, parts: []string{partSeedClient}, readOnly: true,
		},
	})
	in(rbacv1.GroupName, map[string]rule{
		"clusterrolebindings": {
			kind: graph.ClusterRoleBinding, always: create, path: get | write, readOnly: true, special: clusterRoleBindings,
		},
	})

	return all
}

func coreRules() map[string]rule {
	status := []string{partStatus}
	statusAndFinalizers := []string{partStatus, partFinalizers}

	return map[string]rule{
		// Lists and watches of backups hold what belongs to the seed, whatever is asked for: see package seedlists.
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
			kind: graph.InternalSecret, always: create, path: read | write | remove, special: internalSecrets,
		},
		"namespacedcloudprofiles": {kind: graph.NamespacedCloudProfile, path: read},
		"projects":                {kind: graph.Project, path: read},
		"secretbindings":          {kind: graph.SecretBinding, path: read},
		"seeds": {
			kind: graph.Seed, always: create, path: read | write | remove, parts: status, label: true,
		},
		"shoots": {
			kind: graph.Shoot, path: read | write, parts: statusAndFinalizers, label: true, special: ownShoot,
		},
		"shootstates": {kind: graph.ShootState, always: create, path: read | write | remove},
	}
}
