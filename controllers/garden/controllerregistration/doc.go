// SPDX-License-Identifier: Apache-2.0

// Package controllerregistration decides which extensions run on which seed, and keeps one ControllerInstallation for each
// (GCM-CR-1 to GCM-CR-9). An extension is installed where a Shoot, or the Seed itself, needs what it offers, or where its
// policy asks for it; it goes when nobody needs it any more. While a needed extension is offered by nobody, nothing changes,
// unless it is one for backups: a seed whose backups nobody offers to make is without them, and everything else goes on.
//
// The package also says what keeps ControllerRegistrations and Seeds alive while installations reference them (GCM-CRFIN-1,
// GCM-CRFIN-2).
package controllerregistration
