// SPDX-License-Identifier: Apache-2.0

// Package quota deletes Shoots whose time is over (GCM-SHOOTQUOTA-1 to GCM-SHOOTQUOTA-3). How long a Shoot may exist is said by
// the Quotas of its binding, and when it will be deleted by an annotation. Users may extend that time within what admission
// allows, which is why the annotation counts once it is there.
package quota
