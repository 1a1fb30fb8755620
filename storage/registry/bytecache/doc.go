// SPDX-License-Identifier: Apache-2.0

// Package bytecache caches encoded objects, so that the server does not encode an unchanged object again for each response,
// and decoded objects, so that it does not decode an object from the store again.
//
// Encoding and decoding JSON uses reflection, which costs more than everything else in a read; protobuf costs less, but
// still more than a copy. UID and resource version of an object identify its content permanently, so its encoded form can be
// used again, alone or in a list. Only objects that are exactly as stored may be looked up; see Object. The cache has a
// limited size and evicts the least recently used entry first.
package bytecache
