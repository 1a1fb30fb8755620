// SPDX-License-Identifier: Apache-2.0

// Package exposureclass keeps an ExposureClass alive for as long as a Shoot uses it (GCM-EXPOSURECLASS-1).
package exposureclass
