// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	corevalidation "github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// The least memory that can be set as the minimum of a store (OPER-API-8).
const (
	minMemoryMain   = "300M"
	minMemoryEvents = "60M"
)

// virtualCluster checks the settings of the garden's API (OPER-API-3, 8, OPER-WH-13, 15).
func virtualCluster(v *gardenoperatorv1alpha1.VirtualCluster, path *field.Path) field.ErrorList {
	window := &gardencorev1beta1.Maintenance{TimeWindow: &v.Maintenance.TimeWindow}
	errs := corevalidation.ValidateMaintenance(window, path.Child("maintenance"))
	if v.ETCD != nil {
		errs = append(errs, etcd(v.ETCD, path.Child("etcd"))...)
	}
	errs = append(errs, kubernetes(v, path.Child("kubernetes"))...)
	return append(errs, gardener(v, path.Child("gardener"))...)
}

func etcd(e *gardenoperatorv1alpha1.ETCD, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m := e.Main; m != nil {
		errs = append(errs, minAllowed(m.Autoscaling, minMemoryMain, path.Child("main", "autoscaling", "minAllowed"))...)
		errs = append(errs, storage(m.Storage, path.Child("main", "storage"))...)
		if b := m.Backup; b != nil {
			here := path.Child("main", "backup")
			errs = append(errs, check.Required(b.Provider, here.Child("provider"), "where backups are kept")...)
			errs = append(errs, check.Required(b.SecretRef.Name, here.Child("secretRef", "name"), "the Secret with the credentials")...)
			errs = append(errs, check.NotEmpty(b.BucketName, here.Child("bucketName"))...)
		}
	}
	if e.Events != nil {
		errs = append(errs, minAllowed(e.Events.Autoscaling, minMemoryEvents, path.Child("events", "autoscaling", "minAllowed"))...)
		errs = append(errs, storage(e.Events.Storage, path.Child("events", "storage"))...)
	}
	return errs
}

func minAllowed(a *gardencorev1beta1.ControlPlaneAutoscaling, memory string, path *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(a.MinAllowed)) {
		amount := a.MinAllowed[name]
		here := path.Key(name)
		switch {
		case name != "cpu" && name != "memory":
			errs = append(errs, field.NotSupported(here, name, []string{"cpu", "memory"}))
		case amount.Sign() < 0:
			errs = append(errs, field.Invalid(here, amount.String(), "must not be negative"))
		case name == "memory" && amount.Cmp(resource.MustParse(memory)) < 0:
			errs = append(errs, field.Invalid(here, amount.String(), "must be at least "+memory))
		}
	}
	return errs
}

func storage(s *gardenoperatorv1alpha1.Storage, path *field.Path) field.ErrorList {
	if s == nil || s.Capacity == nil || s.Capacity.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("capacity"), s.Capacity.String(), "must be positive")}
}

func kubernetes(v *gardenoperatorv1alpha1.VirtualCluster, path *field.Path) field.ErrorList {
	k := &v.Kubernetes
	var errs field.ErrorList
	if k.Version != "" {
		if _, err := version.ParseSemantic(k.Version); err != nil {
			errs = append(errs, field.Invalid(path.Child("version"), k.Version, "must be a complete version, such as 1.36.3"))
		}
	}
	if m := k.KubeControllerManager; m != nil {
		here := path.Child("kubeControllerManager")
		errs = append(errs, corevalidation.ValidateKubeControllerManager(&m.KubeControllerManagerConfig, k.Version, here)...)
		if d := m.CertificateSigningDuration; d != nil && d.Duration <= 0 {
			errs = append(errs, field.Invalid(here.Child("certificateSigningDuration"), d.Duration.String(), "must be positive"))
		}
	}
	a := k.KubeAPIServer
	if a == nil {
		return errs
	}
	here := path.Child("kubeAPIServer")
	errs = append(errs, corevalidation.ValidateKubeAPIServer(&a.KubeAPIServerConfig, k.Version, here)...)
	errs = append(errs, auditWebhook(a.AuditWebhook, here.Child("auditWebhook"))...)
	if w := a.Authentication; w != nil && w.Webhook != nil {
		webhook := here.Child("authentication", "webhook")
		errs = append(errs, check.Required(w.Webhook.KubeconfigSecretName, webhook.Child("kubeconfigSecretName"), "the Secret with the kubeconfig")...)
		if w.Webhook.Version != nil {
			errs = append(errs, check.OneOf(*w.Webhook.Version, webhook.Child("version"), "v1alpha1", "v1beta1", "v1")...)
		}
	}
	for i, r := range a.ResourcesToStoreInETCDEvents {
		errs = append(errs, check.Required(r.Group, here.Child("resourcesToStoreInETCDEvents").Index(i).Child("group"), "the group of the resource")...)
		errs = append(errs, check.Required(r.Resource, here.Child("resourcesToStoreInETCDEvents").Index(i).Child("resource"), "the resource")...)
	}
	return append(errs, sni(a.SNI, v.DNS.Domains, here.Child("sni"))...)
}

func auditWebhook(w *gardenoperatorv1alpha1.AuditWebhook, path *field.Path) field.ErrorList {
	if w == nil {
		return nil
	}
	errs := check.Required(w.KubeconfigSecretName, path.Child("kubeconfigSecretName"), "the Secret with the kubeconfig")
	if w.BatchMaxSize != nil && *w.BatchMaxSize < 1 {
		errs = append(errs, field.Invalid(path.Child("batchMaxSize"), *w.BatchMaxSize, "must be at least 1"))
	}
	if w.Version != nil {
		errs = append(errs, check.OneOf(*w.Version, path.Child("version"), "audit.k8s.io/v1")...)
	}
	return errs
}

// sni checks that the certificates for further domains do not replace the one that the garden's own components trust
// (OPER-WH-15).
func sni(s *gardenoperatorv1alpha1.SNI, domains []gardenoperatorv1alpha1.DNSDomain, path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := check.NotEmpty(s.SecretName, path.Child("secretName"))
	if len(domains) == 0 {
		return errs
	}
	own := "api." + domains[0].Name
	for i, pattern := range s.DomainPatterns {
		if covers(pattern, own) {
			errs = append(errs, field.Invalid(path.Child("domainPatterns").Index(i), pattern, "must not cover "+own))
		}
	}
	return errs
}

// covers reports whether a pattern, whose first label may be *, matches a name.
func covers(pattern, name string) bool {
	if pattern == name {
		return true
	}
	rest, star := strings.CutPrefix(pattern, "*.")
	_, tail, _ := strings.Cut(name, ".")
	return star && rest == tail
}
