// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package machine

import "github.com/terrarium-garden/terrarium/appliance/doctor"

// Disk is known on Linux only.
func Disk(string) *doctor.Disk { return nil }

func synchronized() (known, is bool) { return false, false }
