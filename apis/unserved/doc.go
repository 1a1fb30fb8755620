// SPDX-License-Identifier: Apache-2.0

// Package unserved lists what the API accepts and nobody acts upon yet: fields, operations and whole kinds, with what
// happens in their place. Whoever sets one of them is warned by the API, and what would do harm is refused or reported in
// the status. A row is deleted by the change that serves it. The package is pure: it looks at objects only.
package unserved
