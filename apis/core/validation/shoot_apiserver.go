// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
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
	maxLogVerbosity       = 10
)

// kubeAPIServer holds API-VALSHOOT-16 and 22.
func kubeAPIServer(a *gardencorev1beta1.KubeAPIServerConfig, kubernetes string, path *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	errs := featureGates(a.FeatureGates, kubernetes, path.Child("featureGates"))
	errs = append(errs, admissionPlugins(a.AdmissionPlugins, kubernetes, path.Child("admissionPlugins"))...)
	errs = append(errs, between(a.EventTTL, 0, maxEventTTL, path.Child("eventTTL"))...)
	if r := a.Requests; r != nil {
		here := path.Child("requests")
		errs = append(errs, numberBetween(r.MaxNonMutatingInflight, 0, maxNonMutatingInFight, here.Child("maxNonMutatingInflight"))...)
		errs = append(errs, numberBetween(r.MaxMutatingInflight, 0, maxMutatingInFlight, here.Child("maxMutatingInflight"))...)
	}
	if l := a.Logging; l != nil {
		errs = append(errs, numberBetween(l.Verbosity, 0, maxLogVerbosity, path.Child("logging", "verbosity"))...)
		errs = append(errs, numberBetween(l.HTTPAccessVerbosity, 0, maxLogVerbosity, path.Child("logging", "httpAccessVerbosity"))...)
	}
	errs = append(errs, serviceAccounts(a.ServiceAccountConfig, path.Child("serviceAccountConfig"))...)
	if c := a.AuditConfig; c != nil && c.AuditPolicy != nil && c.AuditPolicy.ConfigMapRef != nil {
		here := path.Child("auditConfig", "auditPolicy", "configMapRef", "name")
		errs = append(errs, required(c.AuditPolicy.ConfigMapRef.Name, here, "the ConfigMap with the audit policy")...)
	}
	errs = append(errs, watchCacheSizes(a.WatchCacheSizes, path.Child("watchCacheSizes"))...)
	errs = append(errs, encryptionConfig(a.EncryptionConfig, path.Child("encryptionConfig"))...)
	errs = append(errs, structured(a, path)...)
	errs = append(errs, notNegative(a.DefaultNotReadyTolerationSeconds, path.Child("defaultNotReadyTolerationSeconds"))...)
	errs = append(errs, notNegative(a.DefaultUnreachableTolerationSeconds, path.Child("defaultUnreachableTolerationSeconds"))...)
	return append(errs, openIDConnect(a.OIDCConfig, path.Child("oidcConfig"))...)
}

func admissionPlugins(all []gardencorev1beta1.AdmissionPlugin, kubernetes string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, p := range all {
		here := path.Index(i)
		names = append(names, p.Name)
		if p.Name == "" {
			errs = append(errs, field.Required(here.Child("name"), "must name an admission plugin"))
			continue
		}
		errs = append(errs, admissionPlugin(p.Name, deref(p.Disabled), kubernetes, here.Child("name"))...)
		if p.KubeconfigSecretName != nil {
			errs = append(errs, required(*p.KubeconfigSecretName, here.Child("kubeconfigSecretName"), "the Secret with the kubeconfig")...)
		}
	}
	return append(errs, duplicates(names, path.Index)...)
}

func serviceAccounts(c *gardencorev1beta1.ServiceAccountConfig, path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	if c.MaxTokenExpiration != nil && c.MaxTokenExpiration.Duration != 0 {
		errs = append(errs, between(c.MaxTokenExpiration, minTokenExpiration, maxTokenExpiration, path.Child("maxTokenExpiration"))...)
	}
	if c.Issuer != nil && *c.Issuer == "" {
		errs = append(errs, field.Required(path.Child("issuer"), "leave it out or name an issuer"))
	}
	for i, issuer := range c.AcceptedIssuers {
		here := path.Child("acceptedIssuers").Index(i)
		errs = append(errs, required(issuer, here, "an issuer")...)
		if c.Issuer != nil && issuer == *c.Issuer {
			errs = append(errs, field.Invalid(here, issuer, "is the issuer itself, which is accepted anyway"))
		}
	}
	return append(errs, duplicates(c.AcceptedIssuers, path.Child("acceptedIssuers").Index)...)
}

func watchCacheSizes(w *gardencorev1beta1.WatchCacheSizes, path *field.Path) field.ErrorList {
	if w == nil {
		return nil
	}
	errs := notNegative(w.Default, path.Child("default"))
	for i, r := range w.Resources {
		here := path.Child("resources").Index(i)
		errs = append(errs, required(r.Resource, here.Child("resource"), "a resource")...)
		errs = append(errs, notNegative(&r.Size, here.Child("size"))...)
	}
	return errs
}

// encryptionConfig holds what API-VALSHOOT-22 says of the section alone.
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
		switch {
		case strings.Contains(r, "*"):
			errs = append(errs, field.Invalid(here, r, "must name one resource, without wildcards"))
		case name == "secrets":
			errs = append(errs, field.Forbidden(here, "secrets are encrypted always"))
		case len(validation.IsDNS1123Subdomain(name)) > 0:
			errs = append(errs, field.Invalid(here, r, "must be a resource in lower case with its group, such as configmaps or deployments.apps"))
		}
	}
	return append(errs, duplicates(names, path.Child("resources").Index)...)
}

// encryptionUpdate holds what API-VALSHOOT-22 says of changes: one at a time, each rolled out before the next.
func encryptionUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec", "kubernetes", "kubeAPIServer", "encryptionConfig")
	resources := !slices.Equal(query.EncryptionWanted(&s.Spec), query.EncryptionWanted(&old.Spec))
	provider := encryptionProvider(&s.Spec) != encryptionProvider(&old.Spec)
	if !resources && !provider {
		return nil
	}
	var errs field.ErrorList
	if resources && provider {
		errs = append(errs, field.Forbidden(path, "the provider and the resources can not change together"))
	}
	phase := query.RotationPhases(old).ETCDEncryptionKey
	if phase != "" && phase != gardencorev1beta1.CredentialsRotationPhaseCompleted {
		errs = append(errs, field.Forbidden(path, "can not change while the rotation of the encryption key is "+string(phase)))
	}
	if query.EncryptionPending(old) {
		errs = append(errs, field.Forbidden(path, "can not change while a former change is being rolled out"))
	}
	if sleeping(old) {
		errs = append(errs, field.Forbidden(path, "can not change while the shoot is hibernated"))
	}
	return errs
}

func encryptionProvider(s *gardencorev1beta1.ShootSpec) gardencorev1beta1.EncryptionProviderType {
	if a := s.Kubernetes.KubeAPIServer; a != nil && a.EncryptionConfig != nil && a.EncryptionConfig.Provider.Type != nil {
		return *a.EncryptionConfig.Provider.Type
	}
	return gardencorev1beta1.EncryptionProviderTypeAescbc
}

// structured checks the references to structured authentication and authorization.
func structured(a *gardencorev1beta1.KubeAPIServerConfig, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := a.StructuredAuthentication; s != nil {
		here := path.Child("structuredAuthentication")
		errs = append(errs, required(s.ConfigMapName, here.Child("configMapName"), "the ConfigMap with the configuration")...)
		if a.OIDCConfig != nil {
			errs = append(errs, field.Forbidden(path.Child("oidcConfig"), "has no place beside structuredAuthentication"))
		}
	}
	if s := a.StructuredAuthorization; s != nil {
		here := path.Child("structuredAuthorization")
		errs = append(errs, required(s.ConfigMapName, here.Child("configMapName"), "the ConfigMap with the configuration")...)
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
		errs = append(errs, field.Required(path, "issuerURL and clientID come together"))
	}
	return append(errs, caBundle(o.CABundle, path.Child("caBundle"))...)
}

// between checks the length of a span of time that is given.
func between(value *metav1.Duration, least, most time.Duration, path *field.Path) field.ErrorList {
	if value == nil || value.Duration >= least && value.Duration <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value.Duration.String(), "must be between "+least.String()+" and "+most.String())}
}
