// SPDX-License-Identifier: Apache-2.0

package seedauthorizer

import (
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
	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

const (
	partStatus     = "status"
	partFinalizers = "finalizers"
	partToken      = "token"
	partSeedClient = "seedclient"

	// fieldSeed is the field selector for the objects of a seed.
	fieldSeed = "spec.seedName"
)

// rule is a rule, request a request, of clients of a seed.
type (
	rule    = rules.Rule[seedclient.Client]
	request = rules.Request[seedclient.Client]
)

// gardenlets restricts extensions to some verbs.
func gardenlets(extensions rules.Verbs) func(seedclient.Client) rules.Verbs {
	return func(c seedclient.Client) rules.Verbs {
		if c.Extension {
			return extensions
		}

		return ^rules.Verbs(0)
	}
}

// ofSeed is a selector for the objects of a seed by a field.
func ofSeed(field string) func(seedclient.Client) []rules.Field {
	return func(c seedclient.Client) []rules.Field { return []rules.Field{{Name: field, Value: c.Seed}} }
}

// seedLabel is a selector for the objects of a seed by a label.
func seedLabel(c seedclient.Client) string { return gardencorev1beta1.LabelPrefixSeedName + c.Seed }

// table returns the rules by resource. Seeds cannot use other resources (GAC-SAR-1 to 19).
func table() map[schema.GroupResource]rule {
	all := map[schema.GroupResource]rule{}
	in := func(group string, some map[string]rule) {
		for resource, r := range some {
			all[schema.GroupResource{Group: group, Resource: resource}] = r
		}
	}
	in(gardencorev1beta1.GroupName, coreRules())
	in(gardenappliancev1alpha1.GroupName, map[string]rule{
		// A report adds to the timelines of objects of the seed only, see package timeline of the registry.
		"timelinereports": {Always: rules.Create, Limit: gardenlets(rules.Read)},
	})
	in(gardenoperationsv1alpha1.GroupName, map[string]rule{
		"bastions": {Kind: graph.Bastion, Always: rules.Create, Path: rules.Read | rules.Write, Parts: []string{partStatus}, Fields: ofSeed(fieldSeed)},
	})
	in(gardensecurityv1alpha1.GroupName, map[string]rule{
		"credentialsbindings": {Kind: graph.CredentialsBinding, Path: rules.Read},
		"workloadidentities":  {Kind: graph.WorkloadIdentity, Path: rules.Read | rules.Patch, Check: identityToken},
	})
	in(gardenseedmanagementv1alpha1.GroupName, map[string]rule{
		// Both say which gardenlet runs, with all rights in its seed: an extension that writes them takes its place.
		"managedseeds": {
			Kind: graph.ManagedSeed, Path: rules.Read | rules.Write, Parts: []string{partStatus}, Label: seedLabel, Limit: gardenlets(rules.Read), Check: ownManagedSeed,
		},
		"gardenlets": {
			Kind: graph.Gardenlet, Always: rules.Create, Path: rules.Read | rules.Write, Parts: []string{partStatus}, Limit: gardenlets(rules.Read), Check: gardenNamespaceOnly,
		},
	})
	in(corev1.GroupName, map[string]rule{
		"configmaps":      {Kind: graph.ConfigMap, Always: rules.Create, Path: rules.Read, Check: configMaps},
		"events":          {Always: rules.Create | rules.Patch},
		"namespaces":      {Kind: graph.Namespace, Path: rules.Read},
		"secrets":         {Kind: graph.Secret, Always: rules.Create, Path: rules.Get | rules.Write | rules.Delete, Check: secrets},
		"serviceaccounts": {Kind: graph.ServiceAccount, Always: rules.Create, Path: rules.Get | rules.Write, Limit: gardenlets(rules.Read), Check: serviceAccounts},
	})
	in(eventsv1.GroupName, map[string]rule{"events": {Always: rules.Create | rules.Patch}})
	in(coordinationv1.GroupName, map[string]rule{
		"leases": {Kind: graph.Lease, Always: rules.Create, Path: rules.Read | rules.Write, Check: leases},
	})
	in(certificatesv1.GroupName, map[string]rule{
		"certificatesigningrequests": {
			Kind: graph.CertificateSigningRequest, Always: rules.Create, Path: rules.Read, AlwaysPart: partSeedClient, Limit: gardenlets(rules.Read),
		},
	})
	in(rbacv1.GroupName, map[string]rule{
		"clusterrolebindings": {
			Kind: graph.ClusterRoleBinding, Always: rules.Create, Path: rules.Get | rules.Write, Limit: gardenlets(rules.Read), Check: clusterRoleBindings,
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
			Kind: graph.BackupBucket, Always: rules.Create | rules.List | rules.Watch, Path: rules.Get | rules.Write | rules.Delete, Parts: statusAndFinalizers,
		},
		"backupentries": {
			Kind: graph.BackupEntry, Always: rules.Create | rules.List | rules.Watch, Path: rules.Get | rules.Write | rules.Delete, Parts: status,
		},
		"cloudprofiles":         {Kind: graph.CloudProfile, Path: rules.Read},
		"controllerdeployments": {Kind: graph.ControllerDeployment, Path: rules.Read},
		"controllerinstallations": {
			Kind: graph.ControllerInstallation, Path: rules.Read | rules.Write, Parts: status, Fields: ofSeed(gardencorev1beta1.FieldSeedRefName),
		},
		"controllerregistrations": {Kind: graph.ControllerRegistration, Always: rules.Read},
		"exposureclasses":         {Kind: graph.ExposureClass, Path: rules.Read},
		"internalsecrets": {
			Kind: graph.InternalSecret, Always: rules.Create, Path: rules.Read | rules.Write | rules.Delete, Check: internalSecrets,
		},
		"namespacedcloudprofiles": {Kind: graph.NamespacedCloudProfile, Path: rules.Read},
		"projects":                {Kind: graph.Project, Path: rules.Read},
		"secretbindings":          {Kind: graph.SecretBinding, Path: rules.Read},
		"seeds": {
			Kind: graph.Seed, Always: rules.Create, Path: rules.Read | rules.Write | rules.Delete, Parts: status, Label: seedLabel,
		},
		"shoots": {
			Kind: graph.Shoot, Path: rules.Read | rules.Write, Parts: statusAndFinalizers, Label: seedLabel, Check: ownShoot,
		},
		// They have all keys of the shoots of the seed.
		"shootstates": {Kind: graph.ShootState, Always: rules.Create, Path: rules.Read | rules.Write | rules.Delete, Limit: gardenlets(0)},
	}
}
