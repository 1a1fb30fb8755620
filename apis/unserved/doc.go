// SPDX-License-Identifier: Apache-2.0

// Package unserved lists what the API accepts and no controller acts upon yet: fields, operations and whole kinds, with what
// happens instead. The API warns users who set one of them; settings that would do harm are refused or reported in the
// status. The change that implements a row deletes it. The functions are pure: they use objects only.
package unserved
