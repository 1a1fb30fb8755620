// SPDX-License-Identifier: Apache-2.0

// Package warning returns warnings about valid objects of core.gardener.cloud: deprecated fields, and credentials that
// should be rotated. Its functions are pure: they get the time and all objects as arguments.
package warning
