// SPDX-License-Identifier: Apache-2.0

package kubeproxy

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
)

const (
	// stateDir is a folder of the node, which stays when a pod goes.
	stateDir = "/var/lib/kube-proxy"
	modeFile = stateDir + "/mode"
)

// cleanup runs a command if the mode in a file is not the present one, which it then writes there. Its arguments are the file, the mode and
// the command. If the command fails, the next start runs it again: a node with old rules is better than one without Services. It calls
// no other program, because images have few.
const cleanup = `file=$1 mode=$2 was=
shift 2
if [ -r "$file" ]; then read -r was <"$file"; fi
if [ -n "$was" ] && [ "$was" != "$mode" ] && ! "$@"; then
  echo "the rules of mode $was could not all be removed; the next start tries again" >&2
  exit 0
fi
echo "$mode" >"$file" || exit 0
`

func modeOf(settings *gardencorev1beta1.KubeProxyConfig) string {
	return strings.ToLower(string(ptr.Deref(settings.Mode, gardencorev1beta1.ProxyModeIPTables)))
}

// withCleanup has the rules of the mode before removed from a node. The proxy itself removes them only between nftables and the other
// two modes, so a pod in mode nftables does nothing and needs no shell.
func withCleanup(pod corev1.PodSpec, settings *gardencorev1beta1.KubeProxyConfig) corev1.PodSpec {
	if ptr.Deref(settings.Mode, "") == gardencorev1beta1.ProxyModeNFTables {
		return pod
	}
	proxy := &pod.Containers[0]
	pod.InitContainers = []corev1.Container{{
		Name:            "cleanup",
		Image:           proxy.Image,
		ImagePullPolicy: proxy.ImagePullPolicy,
		Command: []string{
			"/bin/sh", "-c", cleanup, "cleanup", modeFile, modeOf(settings),
			component.BinDir + name, "--cleanup", "--config=" + configDir + "/" + configKey,
		},
		Resources:                proxy.Resources,
		SecurityContext:          proxy.SecurityContext.DeepCopy(),
		TerminationMessagePolicy: proxy.TerminationMessagePolicy,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: configDir, ReadOnly: true},
			{Name: "modules", MountPath: "/lib/modules", ReadOnly: true},
			{Name: "run", MountPath: "/run"},
			{Name: "state", MountPath: stateDir},
		},
	}}
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name: "state", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: stateDir, Type: new(corev1.HostPathDirectoryOrCreate)}},
	})

	return pod
}
