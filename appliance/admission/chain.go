// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	"k8s.io/apiserver/pkg/admission"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/backupbucketvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/bastion"
	"github.com/terrarium-garden/terrarium/appliance/admission/controllerregistrationresources"
	"github.com/terrarium-garden/terrarium/appliance/admission/customverbauthorizer"
	"github.com/terrarium-garden/terrarium/appliance/admission/deletionconfirmation"
	"github.com/terrarium-garden/terrarium/appliance/admission/extensionlabels"
	"github.com/terrarium-garden/terrarium/appliance/admission/extensionvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/finalizerremoval"
	"github.com/terrarium-garden/terrarium/appliance/admission/internaldomainsecret"
	"github.com/terrarium-garden/terrarium/appliance/admission/jointoken"
	"github.com/terrarium-garden/terrarium/appliance/admission/kubeconfigsecret"
	"github.com/terrarium-garden/terrarium/appliance/admission/managedseed"
	"github.com/terrarium-garden/terrarium/appliance/admission/managedseedshoot"
	"github.com/terrarium-garden/terrarium/appliance/admission/namespacedcloudprofilevalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/namespacedeletion"
	"github.com/terrarium-garden/terrarium/appliance/admission/openidconnectpreset"
	"github.com/terrarium-garden/terrarium/appliance/admission/ownerlimit"
	"github.com/terrarium-garden/terrarium/appliance/admission/plant"
	"github.com/terrarium-garden/terrarium/appliance/admission/pluginsecret"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectlimit"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectmutator"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/providersecretlabels"
	"github.com/terrarium-garden/terrarium/appliance/admission/requestlimit"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcesize"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedlimit"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedmutator"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootconfig"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootdns"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootdnsrewriting"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootexposureclass"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootmanagedseed"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootmutator"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootnodelocaldnsenabledbydefault"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootquotavalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootresourcereservation"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootrestriction"
	"github.com/terrarium-garden/terrarium/appliance/admission/shoottolerationrestriction"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootvpaenabledbydefault"
	"github.com/terrarium-garden/terrarium/appliance/admission/tokensecret"
	"github.com/terrarium-garden/terrarium/appliance/admission/unserved"
	"github.com/terrarium-garden/terrarium/appliance/admission/updaterestriction"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// Rule is an admission plugin.
type Rule struct {
	// Name is shown in errors and metrics.
	Name string
	// New returns the plugin, which sees the garden through a world.
	New func(w *world.World) admission.Interface
	// Off plugins run only if the configuration enables them (API-ADM-2).
	Off bool
}

// Projects is what the configuration says about projects.
type Projects struct {
	// Quotas are those of projects.
	Quotas []gardenconfigv1alpha1.QuotaConfiguration
	// MaxPerUser is how many projects a user can create; 0 is no limit.
	MaxPerUser int
}

// GardenRules returns all plugins for garden kinds, as configured, in the order in which they run. The API server runs their
// mutating parts first, in the same order (API-ADM-1).
func GardenRules(c *gardenconfigv1alpha1.AdmissionConfiguration, p Projects) []Rule {
	return []Rule{
		{Name: "Unserved", New: unserved.New},
		{Name: "ResourceReferenceManager", New: resourcereference.New},
		{Name: "ExtensionValidator", New: extensionvalidator.New},
		{Name: "ExtensionLabels", New: extensionlabels.New},
		{Name: "ShootTolerationRestriction", New: shoottolerationrestriction.New(c.ShootTolerationRestriction)},
		{Name: "ShootExposureClass", New: shootexposureclass.New},
		{Name: "ShootDNS", New: shootdns.New},
		{Name: "ShootManagedSeed", New: shootmanagedseed.New},
		{Name: "ShootNodeLocalDNSEnabledByDefault", New: shootnodelocaldnsenabledbydefault.New, Off: true},
		{Name: "ShootDNSRewriting", New: shootdnsrewriting.New(c.ShootDNSRewriting), Off: true},
		{Name: "ShootMutator", New: shootmutator.New},
		{Name: "ShootValidator", New: shootvalidator.New},
		// It claims what a shoot may use, so it comes after the rule that refuses most shoots.
		{Name: "ShootQuotaValidator", New: shootquotavalidator.New},
		{Name: "SeedValidator", New: seedvalidator.New},
		{Name: "SeedMutator", New: seedmutator.New},
		{Name: "ControllerRegistrationResources", New: controllerregistrationresources.New},
		{Name: "NamespacedCloudProfileValidator", New: namespacedcloudprofilevalidator.New},
		{Name: "Plant", New: plant.New},
		{Name: "ProjectMutator", New: projectmutator.New},
		{Name: "DeletionConfirmation", New: deletionconfirmation.New},
		{Name: "FinalizerRemoval", New: finalizerremoval.New},
		{Name: "OpenIDConnectPreset", New: openidconnectpreset.New},
		{Name: "ClusterOpenIDConnectPreset", New: openidconnectpreset.NewCluster},
		{Name: "CustomVerbAuthorizer", New: customverbauthorizer.New(p.Quotas)},
		{Name: "ShootVPAEnabledByDefault", New: shootvpaenabledbydefault.New},
		{Name: "ShootResourceReservation", New: shootresourcereservation.New(c.ShootResourceReservation)},
		{Name: "ManagedSeed", New: managedseed.New},
		{Name: "ManagedSeedShoot", New: managedseedshoot.New},
		{Name: "Bastion", New: bastion.New},
		{Name: "BackupBucketValidator", New: backupbucketvalidator.New},
		{Name: "SeedRestriction", New: seedrestriction.New},
		{Name: "ShootRestriction", New: shootrestriction.New},
		{Name: "ProviderSecretLabels", New: providersecretlabels.New},
		{Name: "AuditPolicyValidator", New: shootconfig.NewAuditPolicy},
		{Name: "AuthenticationConfigurationValidator", New: shootconfig.NewAuthentication},
		{Name: "AuthorizationConfigurationValidator", New: shootconfig.NewAuthorization},
		{Name: "OwnerLimit", New: ownerlimit.New},
		{Name: "ResourceSizeValidator", New: resourcesize.New(c.ResourceSize)},
		{Name: "SeedLimit", New: seedlimit.New},
		// They claim a place and the namespace of a project, so they come after all rules that could refuse the project.
		{Name: "ProjectLimit", New: projectlimit.New(p.MaxPerUser)},
		{Name: "ProjectValidator", New: projectvalidator.New},
	}
}

// KubeRules returns all plugins for Kubernetes' own kinds and for custom resources, as configured, in the order in which
// they run. They get the server's internal types and convert them with world.Objects.
func KubeRules(c *gardenconfigv1alpha1.AdmissionConfiguration) []Rule {
	return []Rule{
		{Name: "SeedRestriction", New: seedrestriction.New},
		{Name: "ShootRestriction", New: shootrestriction.New},
		{Name: "ProviderSecretLabels", New: providersecretlabels.New},
		{Name: "UpdateRestriction", New: updaterestriction.New},
		{Name: "JoinTokenValidator", New: jointoken.New},
		{Name: "ServiceAccountTokenSecret", New: tokensecret.New},
		{Name: "NamespaceDeletionValidator", New: namespacedeletion.New},
		{Name: "KubeconfigSecretValidator", New: kubeconfigsecret.New},
		{Name: "AdmissionPluginSecretValidator", New: pluginsecret.New},
		{Name: "InternalDomainSecretValidator", New: internaldomainsecret.New},
		{Name: "AuditPolicyValidator", New: shootconfig.NewAuditPolicy},
		{Name: "AuthenticationConfigurationValidator", New: shootconfig.NewAuthentication},
		{Name: "AuthorizationConfigurationValidator", New: shootconfig.NewAuthorization},
		{Name: "OwnerLimit", New: ownerlimit.New},
		{Name: "ResourceSizeValidator", New: resourcesize.New(c.ResourceSize)},
		{Name: "SeedLimit", New: seedlimit.New},
		{Name: "CertificateRequestLimit", New: requestlimit.New},
	}
}

// Asked returns the plugins that are enabled in a configuration: those that it enables, and those that are enabled by
// default and that it does not disable.
func Asked(rules []Rule, c *gardenconfigv1alpha1.AdmissionConfiguration) []Rule {
	asked := make([]Rule, 0, len(rules))
	for _, r := range rules {
		if slices.Contains(c.Enable, r.Name) || !r.Off && !slices.Contains(c.Disable, r.Name) {
			asked = append(asked, r)
		}
	}
	return asked
}

// Names returns the names of all plugins that can be enabled and disabled, in alphabetical order: the garden's own, and
// those of Kubernetes that a garden does not need.
func Names() []string {
	names := KubernetesNames()
	none := &gardenconfigv1alpha1.AdmissionConfiguration{}
	for _, r := range slices.Concat(GardenRules(none, Projects{}), KubeRules(none)) {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// KubernetesNames returns the names of the plugins of Kubernetes that can be enabled and disabled.
func KubernetesNames() []string {
	return []string{
		mutatingpolicy.PluginName, mutatingwebhook.PluginName, validatingpolicy.PluginName, validatingwebhook.PluginName,
		resourcequota.PluginName,
	}
}

// KubernetesNamesOff returns the names of those that run only if the configuration enables them (API-ADM-2).
func KubernetesNamesOff() []string { return []string{mutatingpolicy.PluginName} }
