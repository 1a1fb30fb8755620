// SPDX-License-Identifier: Apache-2.0

// Package admission tries the rules about requests on a whole garden: that they are asked by the server that a request is
// for, see what is stored, and follow the configuration.
package admission
