// SPDX-License-Identifier: Apache-2.0

// Package operatingsystemconfig turns OperatingSystemConfigs of type local into user data for machines: one shell script that
// writes files and units. What it accepts is said in the documentation of the parent package.
package operatingsystemconfig
