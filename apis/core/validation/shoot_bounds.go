// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// The lengths of the lists of a shoot are limited, far above what users need, because each entry is checked while the
// request waits, and some need lookups.
const (
	maxEntries   = 1000
	maxSchedules = 1000
)

// bounds rejects lists with too many entries.
func bounds(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []struct {
		entries int
		path    []string
	}{
		{len(s.AccessRestrictions), []string{"accessRestrictions"}},
		{len(s.Extensions), []string{"extensions"}},
		{len(s.Resources), []string{"resources"}},
		{len(s.Tolerations), []string{"tolerations"}},
		{len(s.Provider.Workers), []string{"provider", "workers"}},
		{dnsProviders(s.DNS), []string{"dns", "providers"}},
		{plugins(s.Kubernetes.KubeAPIServer), []string{"kubernetes", "kubeAPIServer", "admissionPlugins"}},
		{kubeconfigs(s.Kubernetes.KubeAPIServer), []string{"kubernetes", "kubeAPIServer", "structuredAuthorization", "kubeconfigs"}},
	} {
		if list.entries > maxEntries {
			errs = append(errs, field.TooMany(path.Child(list.path[0], list.path[1:]...), list.entries, maxEntries))
		}
	}
	return errs
}

func dnsProviders(d *gardencorev1beta1.DNS) int {
	if d == nil {
		return 0
	}
	return len(d.Providers)
}

func plugins(a *gardencorev1beta1.KubeAPIServerConfig) int {
	if a == nil {
		return 0
	}
	return len(a.AdmissionPlugins)
}

func kubeconfigs(a *gardencorev1beta1.KubeAPIServerConfig) int {
	if a == nil || a.StructuredAuthorization == nil {
		return 0
	}
	return len(a.StructuredAuthorization.Kubeconfigs)
}
