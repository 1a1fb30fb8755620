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
		rowsOf[gardenseedmanagementv1alpha1.Gardenlet](gardenseedmanagementv1alpha1.GroupName, gardenletRows()...),
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

// gardenletRows are about what the chart of the gardenlet has no values for, and what only an operator of seeds could do.
func gardenletRows() []Row {
	const asInChart = "it is as in the chart of the gardenlet"
	rows := []Row{
		{Field: "spec.kubeconfigSecretRef", Severity: Warn, Instead: "nobody brings the first gardenlet to a seed: join it"},
		{
			Field: "spec.deployment.helm.ociRepository.pullSecretRef", Severity: Warn,
			Instead: "the gardenlet is not updated by it, because the registry has to need no credentials",
		},
		{
			Field: "spec.deployment.helm.ociRepository.caBundleSecretRef", Severity: Warn,
			Instead: "the gardenlet is not updated by it, because the registry has to be one that the system trusts",
		},
		{
			Field: "spec.deployment.componentImageVectorOverwrite", Severity: Warn,
			Instead: "components of the gardenlet deploy the images that are theirs",
		},
		{Field: "spec.deployment.image.pullPolicy", Severity: Note, Instead: asInChart},
		{Field: "spec.deployment.revisionHistoryLimit", Severity: Note, Instead: asInChart},
		{Field: "spec.deployment.enableHealthProbes", Severity: Note, Instead: asInChart},
	}
	for _, field := range []string{
		"serviceAccountName", "podLabels", "podAnnotations", "additionalVolumes", "additionalVolumeMounts", "env", "tolerations",
	} {
		rows = append(rows, Row{Field: "spec.deployment." + field, Severity: Warn, Instead: asInChart})
	}
	return rows
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
