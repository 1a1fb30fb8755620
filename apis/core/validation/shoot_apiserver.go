// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	maxEventTTL           = day
	minTokenExpiration    = 30 * day
	maxTokenExpiration    = 90 * day
	maxNonMutatingInFight = 5000
	maxMutatingInFlight   = 2500
)

// kubeAPIServer checks the settings of the API server: lifetimes, limits, issuers, audit policy, plugins, feature gates and
// encryption (API-VALSHOOT-16, 22).
func kubeAPIServer(a *gardencorev1beta1.KubeAPIServerConfig, c cluster, path *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	errs := featureGates(a.FeatureGates, c.version, path.Child("featureGates"))
	errs = append(errs, runtimeConfig(a.RuntimeConfig, c.version, c.workerless, path.Child("runtimeConfig"))...)
	errs = append(errs, admissionPlugins(a.AdmissionPlugins, c.version, path.Child("admissionPlugins"))...)
	errs = append(errs, between(a.EventTTL, 0, maxEventTTL, path.Child("eventTTL"))...)
	if r := a.Requests; r != nil {
		here := path.Child("requests")
		errs = append(errs, numberBetween(r.MaxNonMutatingInflight, 0, maxNonMutatingInFight, here.Child("maxNonMutatingInflight"))...)
		errs = append(errs, numberBetween(r.MaxMutatingInflight, 0, maxMutatingInFlight, here.Child("maxMutatingInflight"))...)
	}
	if l := a.Logging; l != nil {
		errs = append(errs, notNegative(l.Verbosity, path.Child("logging", "verbosity"))...)
		errs = append(errs, notNegative(l.HTTPAccessVerbosity, path.Child("logging", "httpAccessVerbosity"))...)
	}
	errs = append(errs, serviceAccounts(a.ServiceAccountConfig, path.Child("serviceAccountConfig"))...)
	errs = append(errs, audiences(a.APIAudiences, path.Child("apiAudiences"))...)
	if c := a.AuditConfig; c != nil && c.AuditPolicy != nil && c.AuditPolicy.ConfigMapRef != nil {
		errs = append(errs, configMap(c.AuditPolicy.ConfigMapRef, path.Child("auditConfig", "auditPolicy", "configMapRef"))...)
	}
	errs = append(errs, watchCacheSizes(a.WatchCacheSizes, c.version, path.Child("watchCacheSizes"))...)
	errs = append(errs, encryptionConfig(a.EncryptionConfig, path.Child("encryptionConfig"))...)
	errs = append(errs, structured(a, path)...)
	errs = append(errs, notNegative(a.DefaultNotReadyTolerationSeconds, path.Child("defaultNotReadyTolerationSeconds"))...)
	errs = append(errs, notNegative(a.DefaultUnreachableTolerationSeconds, path.Child("defaultUnreachableTolerationSeconds"))...)
	least := map[string]resource.Quantity{cpu: resource.MustParse("20m"), memory: resource.MustParse("200M")}
	errs = append(errs, controlPlaneAutoscaling(a.Autoscaling, least, path.Child("autoscaling"))...)
	if a.EnableAnonymousAuthentication != nil && beyond(c.version, lastWithAnonymousSwitch) {
		errs = append(errs, gone(lastWithAnonymousSwitch, path.Child("enableAnonymousAuthentication")))
	}
	if a.TLSMinVersion != nil {
		errs = append(errs, oneOf(*a.TLSMinVersion, path.Child("tlsMinVersion"), "VersionTLS12", "VersionTLS13")...)
	}
	return append(errs, openIDConnect(a.OIDCConfig, path.Child("oidcConfig"))...)
}

func serviceAccounts(c *gardencorev1beta1.ServiceAccountConfig, path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	if e := c.MaxTokenExpiration; e != nil {
		here := path.Child("maxTokenExpiration")
		switch {
		case e.Duration < 0:
			errs = append(errs, field.Invalid(here, e.Duration.String(), "must not be negative"))
		case e.Duration > 0 && e.Duration < minTokenExpiration:
			errs = append(errs, field.Forbidden(here, "must be at least 720h"))
		case e.Duration > maxTokenExpiration:
			errs = append(errs, field.Forbidden(here, "must be at most 2160h"))
		}
	}
	if c.Issuer != nil {
		errs = append(errs, issuer(*c.Issuer, path.Child("issuer"))...)
	}
	for i, accepted := range c.AcceptedIssuers {
		here := path.Child("acceptedIssuers").Index(i)
		errs = append(errs, issuer(accepted, here)...)
		if c.Issuer != nil && accepted == *c.Issuer {
			errs = append(errs, field.Invalid(here, accepted, "is the issuer itself, which is accepted anyway"))
		}
	}
	return append(errs, duplicates(c.AcceptedIssuers, path.Child("acceptedIssuers").Index)...)
}

// issuer checks the URL of an issuer of tokens, which must have the form that OpenID Connect requires.
func issuer(value string, path *field.Path) field.ErrorList {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "":
		return field.ErrorList{field.Invalid(path, value, "must be a URL with https and a host")}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return field.ErrorList{field.Invalid(path, value, "must have neither user, query nor fragment")}
	default:
		return nil
	}
}

// audiences checks the audiences of tokens. They are passed to the API server as one list separated by commas.
func audiences(all []string, path *field.Path) field.ErrorList {
	errs := duplicates(all, path.Index)
	for i, one := range all {
		if strings.Contains(one, ",") {
			errs = append(errs, field.Invalid(path.Index(i), one, "must not contain a comma"))
		}
	}
	return errs
}

func watchCacheSizes(w *gardencorev1beta1.WatchCacheSizes, kubernetes string, path *field.Path) field.ErrorList {
	if w == nil {
		return nil
	}
	var errs field.ErrorList
	if w.Default != nil && beyond(kubernetes, lastWithDefaultCacheSize) {
		errs = append(errs, gone(lastWithDefaultCacheSize, path.Child("default")))
	} else {
		errs = append(errs, notNegative(w.Default, path.Child("default"))...)
	}
	for i, r := range w.Resources {
		here := path.Child("resources").Index(i)
		errs = append(errs, required(r.Resource, here.Child("resource"), "a resource")...)
		errs = append(errs, partOfList(r.Resource, ",. #", here.Child("resource"))...)
		errs = append(errs, partOfList(deref(r.APIGroup), ", #", here.Child("apiGroup"))...)
		errs = append(errs, notNegative(&r.Size, here.Child("size"))...)
	}
	return errs
}

// partOfList checks a name that is passed to the API server in a list, whose separators it must not contain.
func partOfList(name, separators string, path *field.Path) field.ErrorList {
	if name == strings.ToLower(name) && !strings.ContainsAny(name, separators) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("must be lower case, without any of %q", separators))}
}

// encryptionConfig checks the resources to encrypt: they are in lower case, without wildcards, secrets and duplicates
// (API-VALSHOOT-22).
func encryptionConfig(e *gardencorev1beta1.EncryptionConfig, path *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	if e.Provider.Type != nil {
		errs = append(errs, oneOf(*e.Provider.Type, path.Child("provider", "type"), gardencorev1beta1.EncryptionProviderTypeAescbc,
			gardencorev1beta1.EncryptionProviderTypeAesgcm, gardencorev1beta1.EncryptionProviderTypeSecretbox)...)
	}
	names := make([]string, 0, len(e.Resources))
	for i, r := range e.Resources {
		here := path.Child("resources").Index(i)
		name := strings.TrimSuffix(r, ".")
		names = append(names, name)
		if name == "secrets" {
			errs = append(errs, field.Forbidden(here, "secrets are always encrypted"))
		}
		if why := unencryptable(r); why != "" {
			errs = append(errs, field.Invalid(here, r, why))
		}
	}
	return append(errs, duplicates(names, path.Child("resources").Index)...)
}

// unencryptable returns the reason why a resource cannot be encrypted, or an empty string.
func unencryptable(r string) string {
	_, group, _ := strings.Cut(r, ".")
	switch {
	case r == "" || r != strings.ToLower(r):
		return "must be a resource in lower case with its group, such as configmaps or deployments.apps"
	case strings.HasSuffix(r, "."):
		return "must not end in a dot"
	case strings.Contains(r, "*"):
		return "must name one resource, without wildcards"
	case group == "events.k8s.io":
		return "is stored as events: name these"
	case group == "extensions":
		return "is of a group that is no more"
	case r == "apiserveripinfo" || r == "serviceipallocations" || r == "servicenodeportallocations":
		return "is not a resource of the API"
	default:
		return ""
	}
}

// encryptionUpdate checks changes of the encryption: one at a time, and only after the last one has been rolled out. A
// change that the gardenlet refuses to roll out can always be reverted (API-VALSHOOT-22).
func encryptionUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec", "kubernetes", "kubeAPIServer", "encryptionConfig")
	resources := !slices.Equal(query.EncryptionWanted(&s.Spec), query.EncryptionWanted(&old.Spec))
	provider := query.EncryptionAtRest(&s.Spec).Provider != query.EncryptionAtRest(&old.Spec).Provider
	back := query.Refused(old) && query.EncryptionDiffers(&old.Spec, &old.Status) && !query.EncryptionDiffers(&s.Spec, &old.Status)
	if !resources && !provider || back {
		return nil
	}
	var errs field.ErrorList
	if resources && provider {
		errs = append(errs, field.Forbidden(path, "the provider and the resources cannot change together"))
	}
	here := path.Child("resources")
	if !resources {
		here = path.Child("provider", "type")
	}
	phase := query.RotationPhases(old).ETCDEncryptionKey
	if phase != "" && phase != gardencorev1beta1.CredentialsRotationPhaseCompleted {
		errs = append(errs, field.Forbidden(here, "cannot change while the rotation of the encryption key is "+string(phase)))
	}
	if query.EncryptionPending(old) {
		errs = append(errs, field.Forbidden(here, "cannot change while an earlier change is being rolled out"))
	} else if !resources && query.EncryptedResourcesDiffer(&old.Spec, &old.Status) {
		errs = append(errs, field.Forbidden(here, "cannot change while other resources are to be encrypted than are, which was refused: take them back first"))
	}
	if sleeping(old) {
		errs = append(errs, field.Forbidden(here, "cannot change while the shoot is hibernated"))
	}
	return errs
}

// structured checks the references to structured authentication and authorization.
func structured(a *gardencorev1beta1.KubeAPIServerConfig, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := a.StructuredAuthentication; s != nil {
		here := path.Child("structuredAuthentication")
		errs = append(errs, configured(s.ConfigMapName, a.FeatureGates, "StructuredAuthenticationConfiguration", here)...)
		if a.OIDCConfig != nil {
			errs = append(errs, field.Forbidden(path.Child("oidcConfig"), "cannot be set together with structuredAuthentication"))
		}
	}
	if s := a.StructuredAuthorization; s != nil {
		here := path.Child("structuredAuthorization")
		errs = append(errs, configured(s.ConfigMapName, a.FeatureGates, "StructuredAuthorizationConfiguration", here)...)
		if s.ConfigMapName != "" && len(s.Kubeconfigs) == 0 {
			errs = append(errs, field.Required(here.Child("kubeconfigs"), "must name the kubeconfigs of the authorizers"))
		}
		names := make([]string, 0, len(s.Kubeconfigs))
		for i, k := range s.Kubeconfigs {
			at := here.Child("kubeconfigs").Index(i)
			errs = append(errs, required(k.AuthorizerName, at.Child("authorizerName"), "an authorizer of the configuration")...)
			errs = append(errs, required(k.SecretName, at.Child("secretName"), "the Secret with the kubeconfig")...)
			names = append(names, k.AuthorizerName)
		}
		errs = append(errs, duplicates(names, here.Child("kubeconfigs").Index)...)
	}
	return errs
}

// configured checks that a configuration is named and that the feature gate for it is not disabled.
func configured(configMap string, gates map[string]bool, gate string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if on, given := gates[gate]; given && !on {
		errs = append(errs, field.Forbidden(path, "requires the feature gate "+gate+", which is disabled"))
	}
	here := path.Child("configMapName")
	if configMap == "" {
		return append(errs, field.Forbidden(here, "must name the ConfigMap with the configuration"))
	}
	return append(errs, subdomain(configMap, here, "the ConfigMap with the configuration")...)
}

// configMap checks the reference to an audit policy. The ConfigMap is always read from the namespace of the shoot, even if
// another one is given.
func configMap(ref *corev1.ObjectReference, path *field.Path) field.ErrorList {
	const what = "the ConfigMap with the audit policy"
	errs := required(ref.Name, path.Child("name"), what)
	if ref.Name != "" {
		errs = subdomain(ref.Name, path.Child("name"), what)
	}
	if ref.Namespace != "" {
		errs = append(errs, label(ref.Namespace, path.Child("namespace"))...)
	}
	return errs
}

func openIDConnect(o *gardencorev1beta1.OIDCConfig, path *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	var errs field.ErrorList
	if o.IssuerURL != nil {
		if u, err := url.Parse(*o.IssuerURL); err != nil || u.Scheme != "https" || u.Host == "" {
			errs = append(errs, field.Invalid(path.Child("issuerURL"), *o.IssuerURL, "must be a URL with https"))
		}
	}
	if (o.IssuerURL == nil) != (deref(o.ClientID) == "") {
		errs = append(errs, field.Required(path, "issuerURL and clientID must be set together"))
	}
	return append(errs, CABundle(o.CABundle, path.Child("caBundle"))...)
}

// between checks that an optional duration is within bounds.
func between(value *metav1.Duration, least, most time.Duration, path *field.Path) field.ErrorList {
	if value == nil || value.Duration >= least && value.Duration <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value.Duration.String(), "must be between "+least.String()+" and "+most.String())}
}
