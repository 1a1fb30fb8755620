// SPDX-License-Identifier: Apache-2.0

package cloud

import "net/http"

// Connect makes a client for a configuration.
var Connect = connect

// Limit bounds what servers can do.
func Limit(next http.RoundTripper) http.RoundTripper { return newLimiter(next) }
