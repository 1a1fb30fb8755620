// SPDX-License-Identifier: Apache-2.0

// Package command holds the commands of the seedling binary, one per file.
package command
