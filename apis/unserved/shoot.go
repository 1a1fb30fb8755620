// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"slices"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ManagedIssuer is the field of a shoot that asks the garden to be the issuer of the tokens of its service accounts.
const ManagedIssuer = "metadata.annotations[" + gardencorev1beta1.AnnotationAuthenticationIssuer + "]"

func shootRows() []Row {
	return rowsOf[gardencorev1beta1.Shoot](
		gardencorev1beta1.GroupName,
		Row{
			Field: "spec.seedName", Only: "another seed than status.seedName", Severity: Refuse,
			Instead: "control planes are not moved between seeds, and a cluster that waits for a move is no longer looked after",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				at := s.Status.SeedName
				return at != nil && *at != "" && s.Spec.SeedName != nil && *s.Spec.SeedName != *at
			}),
		},
		Row{
			Field: "spec.controlPlane.highAvailability", Severity: Problem,
			Instead: "the control plane has one etcd member and one replica of each component, and does not survive the loss of a node",
		},
	)
}

// insideRows are rows about the components of a shoot and about its maintenance.
func insideRows() []Row {
	return rowsOf[gardencorev1beta1.Shoot](
		gardencorev1beta1.GroupName,
		Row{Field: "spec.monitoring.alerting.emailReceivers", Severity: Warn, Instead: "there is no monitoring that would send alerts"},
		Row{
			Field: "spec.kubernetes.kubeAPIServer.watchCacheSizes.default", Severity: Warn,
			Instead: "Kubernetes sizes its caches itself; its flag for that has no effect in any version that a shoot can have",
		},
		Row{
			Field: "spec.networking.ipFamilies", Only: "IPv6", Severity: Problem,
			Instead: "the node network of the control plane is set up for IPv4",
			when: value(func(f []gardencorev1beta1.IPFamily) bool {
				return slices.Contains(f, gardencorev1beta1.IPFamilyIPv6)
			}),
		},
		Row{
			Field: "spec.maintenance.autoRotation.credentials.observability", Severity: Warn,
			Instead: "there is no monitoring with a password",
		},
	)
}

// annotationRows are rows about annotations, most of which ask for operations.
func annotationRows() []Row {
	return rowsOf[gardencorev1beta1.Shoot](
		gardencorev1beta1.GroupName,
		Row{
			Field: "metadata.annotations[gardener.cloud/operation]", Only: "rotate-observability-credentials", Severity: Warn,
			Instead: "the operation is taken out of the annotation without being carried out, and an Event says so",
			when:    value(func(v string) bool { return len(Operations(v)) > 0 }),
		},
		Row{
			Field: "metadata.annotations[maintenance.gardener.cloud/operation]", Only: "rotate-observability-credentials", Severity: Warn,
			Instead: "the operation is taken up in the maintenance time window without being carried out, and an Event says so",
			when:    value(func(v string) bool { return len(Operations(v)) > 0 }),
		},
		Row{
			Field: "metadata.annotations[maintenance.gardener.cloud/operation]", Only: "maintain, retry, force-in-place-update", Severity: Warn,
			Instead: "the operation is dropped in the maintenance time window, because it has an effect only in gardener.cloud/operation",
			when:    value(func(v string) bool { return slices.ContainsFunc(query.Operations(v), onlyNow) }),
		},
		Row{
			Field: ManagedIssuer, Only: gardencorev1beta1.AuthenticationIssuerManaged, Severity: Problem,
			Instead: "tokens of service accounts have the address of the API server as their issuer, and the garden publishes no documents of it",
			when:    value(func(v string) bool { return v == gardencorev1beta1.AuthenticationIssuerManaged }),
		},
	)
}

func workerRows() []Row {
	return rowsOf[gardencorev1beta1.Shoot](
		gardencorev1beta1.GroupName,
		Row{
			Field: "spec.provider.workers[].controlPlane", Severity: Problem,
			Instead: "no seed runs the control plane, and the gardenlet of this program does not either: another gardenlet on the machines of the pool has to join",
		},
	)
}
