// SPDX-License-Identifier: Apache-2.0

// Package controllerregistration decides which extensions run in which cluster, and keeps one ControllerInstallation for each
// (GCM-CR-1 to GCM-CR-9). A cluster is a Seed, or a Shoot that runs its control plane on its own machines (GCM-CR-10). An extension is
// installed if a Shoot or the Seed itself needs what it offers, or if its policy says so. It is removed when nobody needs it any
// more. While nobody offers a needed extension, nothing changes. Extensions for backups are an exception: without them, the cluster
// has no backups, and everything else is installed.
package controllerregistration
