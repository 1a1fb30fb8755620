// SPDX-License-Identifier: Apache-2.0

// Package nodeagent is what runs on every machine of a shoot and keeps it as its OperatingSystemConfig says. It watches the Secret of its
// pool in the shoot, writes files and units that differ, restarts the units that a change concerns and no others, and says on its Node which
// configuration it has applied. What it was asked to remove is removed, and an interrupted change is finished after a restart.
//
// It has two credentials. With that of the kubelet, which the API server confines to its own Node, it requests its own and writes the
// annotation of its Node. Its own reads the Secret of its pool and renews a lease, and may do nothing else (GRM-CSR-2, GRM-WH-AUTHZ-1).
package nodeagent
