// SPDX-License-Identifier: Apache-2.0

// Package local is the extension `provider-local`: it makes the worker machines, the pod network and the name records of shoots
// that run on a seedling, so that a garden can be tried without any cloud. It acts on the extension objects of type `local` in
// the seed, and on nothing else.
//
// # Machines
//
// A worker machine is a privileged pod of the seed that runs containerd and a kubelet (package machine). Its name is the name of
// the Node, its address is the address of the pod. Packages: infrastructure, controlplane, network, operatingsystemconfig, worker,
// containerruntime and dnsrecord each hold the actor of one kind; engine holds the part of the contract that is the same for all of them.
//
// # What an OperatingSystemConfig of type local may say
//
// Both purposes are turned into one shell script under the key `cloud_config` of the Secret `osc-result-<name>`, named in
// status.cloudConfig.secretRef. The Worker pools name that Secret in userDataSecretRef. A machine runs the script at every start,
// before any unit.
//
//   - spec.files are written with their permissions (0644 when none are given). Content comes inline (plain or encoding b64) or
//     from a Secret in the namespace of the object (secretRef); imageRef is refused.
//   - The text <<BOOTSTRAP_TOKEN>> in a file with transmitUnencoded stands for a bootstrap token of the shoot. It is made for each machine
//     when the machine is made, so the script itself stays the same: a pool is rolled when its script changes, hence nothing that
//     changes by itself (no token, no time) belongs in the files.
//   - spec.units: the content is kept in /etc/systemd/system/<name>, drop-ins in /etc/systemd/system/<name>.d. There is no systemd
//     in a machine: of a unit that is not disabled or stopped, Environment, EnvironmentFile, ExecStartPre and ExecStart are written as a shell
//     script to /etc/machine/units/<name>.sh, run at start, and again whenever it ends. containerd.service is the machine's own and is passed over.
//   - The command lines see MACHINE_NAME (host name = Node name), MACHINE_IP, and the kubelet's KUBELET_EXTRA_ARGS: flags
//     that only the machine knows (node address, cgroup driver and root, drop-in folder of its configuration). They are appended to the
//     ExecStart of kubelet.service where it does not name them already.
//
// A kubelet therefore needs: the file /var/lib/kubelet/config/kubelet (KubeletConfiguration), a bootstrap kubeconfig with the token above, the
// CA, and a unit kubelet.service with ExecStart=/usr/local/bin/kubelet --config=… --bootstrap-kubeconfig=… --kubeconfig=/var/lib/kubelet/….
// /var/lib/kubelet outlives a restart of the machine; everything else of the root file system does not, except /var/lib/containerd.
package local
