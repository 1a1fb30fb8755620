// SPDX-License-Identifier: Apache-2.0

// Package exposureclass keeps ExposureClasses: ways in which the API servers of shoots can be reached.
package exposureclass
