// SPDX-License-Identifier: Apache-2.0

// Package timeline serves the timelines of shoots, seeds, backup entries and managed seeds. The recorder derives entries from the
// changes that the API server writes; gardenlets add the tasks of their flows by reports. A user who can
// read an object can read its timeline.
package timeline
