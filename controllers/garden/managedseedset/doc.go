// SPDX-License-Identifier: Apache-2.0

// Package managedseedset holds ManagedSeedSets by a finalizer and says which generation it has seen (GCM-MSS-1, in part).
// Nothing is made of their templates yet: package apis/unserved tells whoever creates one.
package managedseedset
