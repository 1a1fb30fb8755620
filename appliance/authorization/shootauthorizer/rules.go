// SPDX-License-Identifier: Apache-2.0

package shootauthorizer

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

const (
	partStatus      = "status"
	partShootClient = "shootclient"
)

// rule is a rule, request a request, of the gardenlet of a shoot.
type (
	rule    = rules.Rule[shootclient.Client]
	request = rules.Request[shootclient.Client]
)

// table returns the rules by resource. No gardenlet of a shoot can use other resources. The resources with verbs other than reading are those of
// the admission plugin shootrestriction, which judges each of these requests (GAC-SHOOTR-1).
func table() map[schema.GroupResource]rule {
	all := map[schema.GroupResource]rule{}
	in := func(group string, some map[string]rule) {
		for resource, r := range some {
			all[schema.GroupResource{Group: group, Resource: resource}] = r
		}
	}
	in(gardencorev1beta1.GroupName, ownRules())
	in(gardencorev1beta1.GroupName, map[string]rule{
		"cloudprofiles":           {Kind: graph.CloudProfile, Path: rules.Read},
		"controllerdeployments":   {Kind: graph.ControllerDeployment, Path: rules.Get},
		"controllerregistrations": {Kind: graph.ControllerRegistration, Path: rules.Read},
		"exposureclasses":         {Kind: graph.ExposureClass, Path: rules.Read},
		"namespacedcloudprofiles": {Kind: graph.NamespacedCloudProfile, Path: rules.Read, Check: atHome},
		"projects":                {Kind: graph.Project, Path: rules.Read},
		"secretbindings":          {Kind: graph.SecretBinding, Path: rules.Read, Check: atHome},
	})
	in(gardenoperationsv1alpha1.GroupName, map[string]rule{
		"bastions": {
			Kind: graph.Bastion, Path: rules.Read | rules.Write, Parts: []string{partStatus}, Fields: bastions, Check: atHome,
		},
	})
	in(gardensecurityv1alpha1.GroupName, map[string]rule{
		"credentialsbindings": {Kind: graph.CredentialsBinding, Path: rules.Read, Check: atHome},
		// It gets no tokens of identities, with which it would act for them.
		"workloadidentities": {Kind: graph.WorkloadIdentity, Path: rules.Get, Check: atHome},
	})
	in(corev1.GroupName, map[string]rule{
		"configmaps": {Kind: graph.ConfigMap, Path: rules.Get, Check: named(graph.ConfigMap)},
		"events":     {Always: rules.Create | rules.Patch, Check: atHome},
		"namespaces": {Kind: graph.Namespace, Path: rules.Read},
		"secrets":    {Kind: graph.Secret, Path: rules.Get, Check: named(graph.Secret)},
	})
	in(eventsv1.GroupName, map[string]rule{"events": {Always: rules.Create | rules.Patch, Check: atHome}})
	in(coordinationv1.GroupName, map[string]rule{"leases": {Check: lease}})
	in(certificatesv1.GroupName, map[string]rule{
		"certificatesigningrequests": {
			Kind: graph.CertificateSigningRequest, Always: rules.Create, AlwaysPart: partShootClient, Path: rules.Read,
		},
	})

	return all
}

// ownRules returns the rules for the objects of the garden that are about a shoot.
func ownRules() map[string]rule {
	status := []string{partStatus}

	return map[string]rule{
		"backupbuckets": {Kind: graph.BackupBucket, Path: rules.Read | rules.Write, Parts: status, Fields: referring},
		"backupentries": {Kind: graph.BackupEntry, Path: rules.Read | rules.Write, Parts: status, Fields: referring, Check: atHome},
		"controllerinstallations": {
			Kind: graph.ControllerInstallation, Path: rules.Read | rules.Write, Parts: status, Fields: referring,
		},
		"internalsecrets": {Check: named(graph.InternalSecret)},
		"shoots":          {Kind: graph.Shoot, Path: rules.Read | rules.Write, Parts: status, Check: atHome},
		"shootstates":     {Check: state},
	}
}

// referring selects what refers to the shoot.
func referring(c shootclient.Client) []rules.Field {
	return []rules.Field{
		{Name: gardencorev1beta1.FieldShootRefNamespace, Value: c.Namespace},
		{Name: gardencorev1beta1.FieldShootRefName, Value: c.Name},
	}
}

// bastions selects the Bastions of the shoot, in its namespace.
func bastions(c shootclient.Client) []rules.Field {
	return []rules.Field{{Name: gardenoperationsv1alpha1.FieldBastionShootName, Value: c.Name}}
}
