// SPDX-License-Identifier: Apache-2.0

// Package machine holds what runs inside a worker machine of a local shoot: machine-init, the first process of the machine's
// container. It prepares mounts and control groups, starts the machine's own containerd, imports the image archives, runs the user
// data, and keeps the units running until the machine is told to stop.
//
// Whoever builds the machine image puts Script at Path, executable, on a root file system with containerd, runc, ctr, nftables,
// iptables and iproute2, the kubelet at /usr/local/bin/kubelet and the CNI plugins in /opt/cni/bin.
package machine
