// SPDX-License-Identifier: Apache-2.0

// Package operatingsystemconfig turns OperatingSystemConfigs of type local with the purpose provision into user data for machines: one
// shell script under the key `cloud_config` of the Secret `osc-result-<name>`, named in status.cloudConfig.secretRef. The Worker
// pools name that Secret in userDataSecretRef. A machine runs the script at every start, before any unit. For the purpose reconcile it only
// checks that a machine could run the units, and adds its own files and units in the status; the node agent of each machine applies them.
//
//   - spec.files are written with their permissions (0644 when none are given). Content is inline (plain or encoding b64), comes from a
//     Secret in the namespace of the object (secretRef), or is a file of an image (imageRef), which the machine fetches itself: from the
//     images that its containerd has, or else from the registry. They are fetched behind the other files and before the units. One that
//     cannot be fetched does not keep a machine from starting: its node agent tries again.
//   - The text <<BOOTSTRAP_TOKEN>> in a file with transmitUnencoded stands for a bootstrap token of the shoot. The token is created
//     with each machine, so the script itself stays the same.
//   - spec.units: the content is written to /etc/systemd/system/<name>, drop-ins to /etc/systemd/system/<name>.d. A machine has no
//     systemd. Environment, EnvironmentFile, ExecStartPre and ExecStart of a unit that is not disabled or stopped become a shell
//     script in /etc/machine/units/<name>.sh, which is run at start and restarted whenever it ends. containerd.service is ignored,
//     because the machine starts containerd itself. systemd-sysctl.service, which every operating system brings, stands for a script
//     that applies /etc/sysctl.d, as far as the settings are the machine's own and not those of the kernel that it shares with the seed.
//   - The user data also tell the node agent what they have written: all but the file with the bootstrap token, and files for a single host.
//     They stay those of the creation of the machine, and what is withdrawn since then is removed by the agent after each start. A file that
//     is in the configuration with the purpose provision only goes with the agent's first pass.
//   - The command lines see MACHINE_NAME (host name and Node name), MACHINE_IP, and KUBELET_EXTRA_ARGS: kubelet flags that only
//     the machine knows (node address, cgroup driver and root, drop-in folder of its configuration). They are appended to the
//     ExecStart of kubelet.service unless it contains them already.
//
// A kubelet therefore needs the file /var/lib/kubelet/config/kubelet (KubeletConfiguration), a bootstrap kubeconfig with the token
// above, the CA, and a unit kubelet.service with ExecStart=/usr/local/bin/kubelet --config=… --bootstrap-kubeconfig=…
// --kubeconfig=/var/lib/kubelet/…. Of the root file system only /var/lib/kubelet and /var/lib/containerd survive a restart of the
// machine.
package operatingsystemconfig
