// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// kindRows are rows about kinds that no controller acts upon.
func kindRows() []Row {
	return slices.Concat(
		rowsOf[gardencorev1beta1.BackupBucket](
			gardencorev1beta1.GroupName, Row{Severity: Warn, Instead: "no bucket is made, and backups are not kept in it"},
		),
		rowsOf[gardencorev1beta1.BackupEntry](gardencorev1beta1.GroupName, Row{Severity: Warn, Instead: "no backups are made"}),
		rowsOf[gardencorev1beta1.ShootState](
			gardencorev1beta1.GroupName, Row{Severity: Warn, Instead: "no control plane is restored from it"},
		),
		rowsOf[gardenseedmanagementv1alpha1.Gardenlet](
			gardenseedmanagementv1alpha1.GroupName, Row{Severity: Warn, Instead: "the gardenlet is not updated by it"},
		),
		rowsOf[gardenseedmanagementv1alpha1.ManagedSeed](
			gardenseedmanagementv1alpha1.GroupName, Row{Severity: Warn, Instead: "the shoot does not become a seed: join it with a gardenlet"},
		),
		rowsOf[gardenseedmanagementv1alpha1.ManagedSeedSet](
			gardenseedmanagementv1alpha1.GroupName, Row{Severity: Warn, Instead: "shoots are made of its template, and become seeds when each is joined with a gardenlet"},
			Row{Field: "spec.updateStrategy", Severity: Note, Instead: "changed templates are for new replicas only"},
			Row{Field: "spec.revisionHistoryLimit", Severity: Note, Instead: "no revisions are kept"},
		),
	)
}

// fieldRows are rows about fields of kinds other than Shoot and Seed.
func fieldRows() []Row {
	return slices.Concat(
		rowsOf[gardencorev1beta1.ControllerRegistration](
			gardencorev1beta1.GroupName,
			Row{
				Field: "spec.resources[].kind", Only: "other than those of ordinary shoots", Severity: Warn,
				Instead: "the extension is installed where it is needed, but gets no object of this kind to act upon",
				when:    value(func(name string) bool { kind, _ := extensions.Named(name); return !kind.OfShoots }),
			},
			Row{Field: "spec.resources[].lifecycle.migrate", Severity: Note, Instead: "control planes are not moved between seeds"},
			Row{Field: "spec.resources[].continuousEndpointUpdate", Severity: Warn, Instead: "nothing is updated between two operations"},
		),
	)
}
