// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

const (
	maxGoAwayChance       = 0.02
	minKubeconfigLifetime = time.Hour
	maxKubeconfigLifetime = 1 << 32 * time.Second
)

// gardener checks the garden's own components (OPER-API-8, OPER-WH-14 to 16).
func gardener(v *gardenoperatorv1alpha1.VirtualCluster, path *field.Path) field.ErrorList {
	g := &v.Gardener
	var errs field.ErrorList
	if g.APIServer != nil {
		errs = append(errs, gardenerAPIServer(v, path.Child("gardenerAPIServer"))...)
	}
	if c := g.AdmissionController; c != nil {
		here := path.Child("gardenerAdmissionController")
		errs = append(errs, logLevel(c.LogLevel, here)...)
		errs = append(errs, resourceLimits(c.ResourceAdmissionConfiguration, here.Child("resourceAdmissionConfiguration"))...)
	}
	if c := g.ControllerManager; c != nil {
		here := path.Child("gardenerControllerManager")
		errs = append(errs, logLevel(c.LogLevel, here)...)
		errs = append(errs, gates(c.FeatureGates, here.Child("featureGates"), "DisableNginxIngressInShoot")...)
		for i, q := range c.DefaultProjectQuotas {
			errs = append(errs, check.Selector(q.ProjectSelector, here.Child("defaultProjectQuotas").Index(i).Child("projectSelector"))...)
		}
	}
	if s := g.Scheduler; s != nil {
		here := path.Child("gardenerScheduler")
		errs = append(errs, logLevel(s.LogLevel, here)...)
		errs = append(errs, gates(s.FeatureGates, here.Child("featureGates"))...)
		if s.Strategy != nil {
			errs = append(errs, check.OneOf(*s.Strategy, here.Child("strategy"), "SameRegion", "MinimalDistance")...)
		}
	}
	if g.Dashboard != nil {
		errs = append(errs, dashboard(v, path.Child("gardenerDashboard"))...)
	}
	if m := g.ResourceManager; m != nil {
		errs = append(errs, check.Unique(m.AdditionalTargetNamespaces, path.Child("gardenerResourceManager", "additionalTargetNamespaces"))...)
	}
	return errs
}

func logLevel(level *string, path *field.Path) field.ErrorList {
	if level == nil {
		return nil
	}
	return check.OneOf(*level, path.Child("logLevel"), "info", "debug", "error")
}

// gates rejects a feature gate that a component does not have (OPER-WH-15).
func gates(all map[string]bool, path *field.Path, known ...string) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(known, name) {
			errs = append(errs, field.NotSupported(path.Key(name), name, known))
		}
	}
	return errs
}

func gardenerAPIServer(v *gardenoperatorv1alpha1.VirtualCluster, path *field.Path) field.ErrorList {
	a := v.Gardener.APIServer
	errs := gates(a.FeatureGates, path.Child("featureGates"))
	errs = append(errs, plugins(a.AdmissionPlugins, path.Child("admissionPlugins"))...)
	if c := a.AuditConfig; c != nil && c.AuditPolicy != nil && c.AuditPolicy.ConfigMapRef != nil {
		here := path.Child("auditConfig", "auditPolicy", "configMapRef", "name")
		errs = append(errs, check.Required(c.AuditPolicy.ConfigMapRef.Name, here, "the ConfigMap with the audit policy")...)
	}
	errs = append(errs, auditWebhook(a.AuditWebhook, path.Child("auditWebhook"))...)
	if r := a.Requests; r != nil {
		errs = append(errs, check.NotNegative(r.MaxMutatingInflight, path.Child("requests", "maxMutatingInflight"))...)
		errs = append(errs, check.NotNegative(r.MaxNonMutatingInflight, path.Child("requests", "maxNonMutatingInflight"))...)
	}
	if l := a.Logging; l != nil {
		errs = append(errs, check.NotNegative(l.Verbosity, path.Child("logging", "verbosity"))...)
		errs = append(errs, check.NotNegative(l.HTTPAccessVerbosity, path.Child("logging", "httpAccessVerbosity"))...)
	}
	errs = append(errs, caches(a.WatchCacheSizes, path.Child("watchCacheSizes"))...)
	if c := a.GoAwayChance; c != nil && (*c < 0 || *c > maxGoAwayChance) {
		errs = append(errs, field.Invalid(path.Child("goAwayChance"), *c, fmt.Sprintf("must be between 0 and %g", maxGoAwayChance)))
	}
	if d := a.ShootAdminKubeconfigMaxExpiration; d != nil && (d.Duration < minKubeconfigLifetime || d.Duration > maxKubeconfigLifetime) {
		errs = append(errs, field.Invalid(path.Child("shootAdminKubeconfigMaxExpiration"), d.Duration.String(),
			fmt.Sprintf("must be between %s and %s", minKubeconfigLifetime, maxKubeconfigLifetime)))
	}
	return append(errs, encryption(v, path.Child("encryptionConfig"))...)
}

func caches(w *gardencorev1beta1.WatchCacheSizes, path *field.Path) field.ErrorList {
	if w == nil {
		return nil
	}
	errs := check.NotNegative(w.Default, path.Child("default"))
	for i, r := range w.Resources {
		here := path.Child("resources").Index(i)
		errs = append(errs, check.Required(r.Resource, here.Child("resource"), "the resource")...)
		errs = append(errs, check.NotNegative(&r.Size, here.Child("size"))...)
	}
	return errs
}

// encryption checks the resources that the garden's API server encrypts in addition to those that are always encrypted
// (OPER-WH-14).
func encryption(v *gardenoperatorv1alpha1.VirtualCluster, path *field.Path) field.ErrorList {
	e := v.Gardener.APIServer.EncryptionConfig
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	for i, r := range e.Resources {
		here := path.Child("resources").Index(i)
		switch {
		case strings.Contains(r, "*"):
			errs = append(errs, field.Invalid(here, r, "must name one resource, without wildcards"))
		case r != strings.ToLower(r):
			errs = append(errs, field.Invalid(here, r, "must be in lower case"))
		case slices.Contains(alwaysEncryptedGardenKinds(), r):
			errs = append(errs, field.Forbidden(here, r+" are always encrypted"))
		case !slices.ContainsFunc(encryptableGroups(), func(group string) bool { return strings.HasSuffix(r, "."+group) }):
			errs = append(errs, field.Invalid(here, r, "must be a resource with a group of the garden: one of "+strings.Join(encryptableGroups(), ", ")))
		}
	}
	errs = append(errs, check.Unique(e.Resources, path.Child("resources"))...)
	kube := v.Kubernetes.KubeAPIServer
	if kube != nil && kube.EncryptionConfig != nil && kube.EncryptionConfig.Provider.Type != nil && e.Provider.Type != nil &&
		*kube.EncryptionConfig.Provider.Type != *e.Provider.Type {
		errs = append(errs, field.Invalid(path.Child("provider", "type"), *e.Provider.Type,
			"must be that of spec.virtualCluster.kubernetes.kubeAPIServer: "+string(*kube.EncryptionConfig.Provider.Type)))
	}
	return errs
}

func encryptableGroups() []string {
	return []string{
		"authentication.gardener.cloud", "core.gardener.cloud", "operations.gardener.cloud", "security.gardener.cloud",
		"settings.gardener.cloud", "seedmanagement.gardener.cloud",
	}
}

// plugins checks the names of admission plugins of the garden (OPER-WH-15).
func plugins(all []gardencorev1beta1.AdmissionPlugin, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, p := range all {
		errs = append(errs, check.OneOf(p.Name, path.Index(i).Child("name"), pluginNames()...)...)
		names = append(names, p.Name)
	}
	return append(errs, unique(names, path, "name")...)
}

// pluginNames returns the admission plugins of a garden, including those of every API server (API-ADM-1).
func pluginNames() []string {
	return []string{
		"BackupBucketValidator", "Bastion", "ClusterOpenIDConnectPreset", "ControllerRegistrationResources", "CustomVerbAuthorizer",
		"DeletionConfirmation", "ExtensionLabels", "ExtensionValidator", "FinalizerRemoval", "ManagedSeed", "ManagedSeedShoot",
		"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceLifecycle", "NamespacedCloudProfileValidator",
		"OpenIDConnectPreset", "Plant", "ProjectMutator", "ProjectValidator", "ResourceQuota", "ResourceReferenceManager", "SeedMutator",
		"SeedValidator", "ShootDNS", "ShootDNSRewriting", "ShootExposureClass", "ShootManagedSeed", "ShootMutator",
		"ShootNodeLocalDNSEnabledByDefault", "ShootQuotaValidator", "ShootResourceReservation", "ShootTolerationRestriction",
		"ShootVPAEnabledByDefault", "ShootValidator", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
	}
}

// resourceLimits checks that each limit limits something, and that each exempt subject is complete (GAC-SIZE-9).
func resourceLimits(c *gardenoperatorv1alpha1.ResourceAdmissionConfiguration, path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	if c.OperationMode != nil {
		errs = append(errs, check.OneOf(*c.OperationMode, path.Child("operationMode"), "block", "log")...)
	}
	for i, l := range c.Limits {
		here := path.Child("limits").Index(i)
		if len(l.Resources) == 0 {
			errs = append(errs, field.Required(here.Child("resources"), "must name at least one resource"))
		}
		if l.Size == nil && l.Count == nil {
			errs = append(errs, field.Required(here, "must limit the size, the count or both"))
		}
		errs = append(errs, check.NotNegative(l.Count, here.Child("count"))...)
		if l.Size != nil && l.Size.Sign() <= 0 {
			errs = append(errs, field.Invalid(here.Child("size"), l.Size.String(), "must be greater than 0, or no object could be written"))
		}
	}
	for i, s := range c.UnrestrictedSubjects {
		here := path.Child("unrestrictedSubjects").Index(i)
		errs = append(errs, check.OneOf(s.Kind, here.Child("kind"), "User", "Group", "ServiceAccount")...)
		errs = append(errs, check.Required(s.Name, here.Child("name"), "the subject")...)
		if s.Kind == rbacv1.ServiceAccountKind {
			errs = append(errs, check.Required(s.Namespace, here.Child("namespace"), "the namespace of the service account")...)
		}
	}
	return errs
}
