// SPDX-License-Identifier: Apache-2.0

package cloud

// Connect makes a client for a configuration.
var Connect = connect
