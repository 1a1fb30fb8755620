// SPDX-License-Identifier: Apache-2.0

// Package extensionrole binds the ClusterRoles that extensions bring for the garden to the service accounts that their
// parts on the seeds use (GCM-CREXT-1 to GCM-CREXT-3). A role says by a label selector in an annotation whom it is for; the
// binding of the same name follows as seeds come and go.
package extensionrole
