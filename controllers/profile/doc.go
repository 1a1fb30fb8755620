// SPDX-License-Identifier: Apache-2.0

// Package profile finds the cloud profile of a shoot, be it one of the garden or one of the shoot's project.
package profile
