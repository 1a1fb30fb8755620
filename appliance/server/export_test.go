// SPDX-License-Identifier: Apache-2.0

package server

// GardenControllers is gardenControllers.
var GardenControllers = gardenControllers
