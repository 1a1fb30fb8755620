// SPDX-License-Identifier: Apache-2.0

// Package priorityclass renders the priority classes that the control planes in a seed use. They outlive every shoot.
package priorityclass
