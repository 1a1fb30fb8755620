// SPDX-License-Identifier: Apache-2.0

// Package project keeps Projects: a namespace of the garden with its members.
package project
