// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// specUpdate checks what may change in a Garden (OPER-API-5, 8, OPER-WH-4, 9 to 14).
func specUpdate(g, old *garden, path *field.Path) field.ErrorList {
	virtual := path.Child("virtualCluster")
	errs := networksUpdate(&g.Spec, &old.Spec, path)
	if highlyAvailable(&old.Spec) && !highlyAvailable(&g.Spec) {
		errs = append(errs, field.Forbidden(virtual.Child("controlPlane", "highAvailability"), "cannot be removed"))
	}
	errs = append(errs, firstDomain(g.Spec.RuntimeCluster.Ingress.Domains, old.Spec.RuntimeCluster.Ingress.Domains,
		path.Child("runtimeCluster", "ingress", "domains"))...)
	errs = append(errs, firstDomain(g.Spec.VirtualCluster.DNS.Domains, old.Spec.VirtualCluster.DNS.Domains, virtual.Child("dns", "domains"))...)
	errs = append(errs, backupUpdate(backup(&g.Spec), backup(&old.Spec), virtual.Child("etcd", "main", "backup"))...)
	if was := old.Spec.VirtualCluster.Gardener.ClusterIdentity; was != "" {
		errs = append(errs, check.Immutable(g.Spec.VirtualCluster.Gardener.ClusterIdentity, was, virtual.Child("gardener", "clusterIdentity"))...)
	}
	errs = append(errs, versionUpdate(g.Spec.VirtualCluster.Kubernetes.Version, old.Spec.VirtualCluster.Kubernetes.Version,
		virtual.Child("kubernetes", "version"))...)
	errs = append(errs, discoveryUpdate(g, old, virtual.Child("gardener", "gardenerDiscoveryServer"))...)
	return append(errs, encryptionUpdate(g, old, virtual)...)
}

func firstDomain(now, was []gardenoperatorv1alpha1.DNSDomain, path *field.Path) field.ErrorList {
	switch {
	case len(was) == 0:
		return nil
	case len(now) == 0:
		return field.ErrorList{field.Required(path, "the first domain cannot be removed")}
	default:
		return check.Immutable(now[0].Name, was[0].Name, path.Index(0).Child("name"))
	}
}

func backup(s *gardenoperatorv1alpha1.GardenSpec) *gardenoperatorv1alpha1.Backup {
	if e := s.VirtualCluster.ETCD; e != nil && e.Main != nil {
		return e.Main.Backup
	}
	return nil
}

func backupUpdate(now, was *gardenoperatorv1alpha1.Backup, path *field.Path) field.ErrorList {
	switch {
	case was == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(path, "cannot be removed: the backups would be lost")}
	}
	errs := check.Immutable(now.Provider, was.Provider, path.Child("provider"))
	errs = append(errs, check.Immutable(now.BucketName, was.BucketName, path.Child("bucketName"))...)
	return append(errs, check.Immutable(now.Region, was.Region, path.Child("region"))...)
}

// versionUpdate checks that the version is not downgraded and does not skip a minor version.
func versionUpdate(now, was string, path *field.Path) field.ErrorList {
	newer, err := version.ParseSemantic(now)
	older, oldErr := version.ParseSemantic(was)
	if oldErr != nil {
		return nil
	}
	switch {
	case now == "":
		return field.ErrorList{field.Required(path, "cannot be removed")}
	case err != nil:
		return nil
	case newer.LessThan(older):
		return field.ErrorList{field.Forbidden(path, "cannot be downgraded from "+was)}
	case newer.Major() != older.Major() || newer.Minor() > older.Minor()+1:
		return field.ErrorList{field.Forbidden(path, "cannot skip a minor version after "+was)}
	default:
		return nil
	}
}

// discoveryUpdate checks that the address at which public keys were published does not change (OPER-WH-12).
func discoveryUpdate(g, old *garden, path *field.Path) field.ErrorList {
	switch {
	case old.Spec.VirtualCluster.Gardener.DiscoveryServer == nil:
		return nil
	case g.Spec.VirtualCluster.Gardener.DiscoveryServer == nil:
		return field.ErrorList{field.Forbidden(path, "cannot be disabled: issued tokens could no longer be verified")}
	default:
		return check.Immutable(discoveryDomain(g), discoveryDomain(old), path.Child("domain", "name"))
	}
}

// discoveryDomain returns the domain of the public keys: the configured one, or discovery in the first domain of the ingress.
func discoveryDomain(g *garden) string {
	if d := g.Spec.VirtualCluster.Gardener.DiscoveryServer.Domain; d != nil {
		return d.Name
	}
	if domains := g.Spec.RuntimeCluster.Ingress.Domains; len(domains) > 0 {
		return "discovery." + domains[0].Name
	}
	return ""
}

// encryptionUpdate checks that the encryption changes only after the last change has been rolled out (OPER-WH-14).
func encryptionUpdate(g, old *garden, path *field.Path) field.ErrorList {
	if sets.New(encrypted(&g.Spec.VirtualCluster)...).Equal(sets.New(encrypted(&old.Spec.VirtualCluster)...)) &&
		providerOf(g) == providerOf(old) {
		return nil
	}
	here := path.Child("kubernetes", "kubeAPIServer", "encryptionConfig")
	phase := phaseOf(old, encryptionKey)
	if phase != "" && phase != gardencorev1beta1.CredentialsRotationPhaseCompleted {
		return field.ErrorList{field.Forbidden(here, "cannot change while the rotation of the encryption key is "+string(phase))}
	}
	if c := old.Status.Credentials; c != nil && c.EncryptionAtRest != nil && encryptionChanging(old) {
		return field.ErrorList{field.Forbidden(here, "cannot change while an earlier change is being rolled out")}
	}
	return nil
}

func providerOf(g *garden) gardencorev1beta1.EncryptionProviderType {
	a := g.Spec.VirtualCluster.Kubernetes.KubeAPIServer
	if a == nil || a.EncryptionConfig == nil || a.EncryptionConfig.Provider.Type == nil {
		return gardencorev1beta1.EncryptionProviderTypeAescbc
	}
	return *a.EncryptionConfig.Provider.Type
}
