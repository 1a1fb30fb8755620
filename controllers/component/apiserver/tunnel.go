// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// What both ends of the tunnel know. The agents are the component of package tunnel.
const (
	// TunnelPort is where the load balancer takes in the agents of the tunnel.
	TunnelPort = 8132
	// TunnelUser is the server of the tunnel as the API server sees it. It may have tokens reviewed, and nothing else.
	TunnelUser = "system:konnectivity-server"
	// TunnelAgent is the service account of the agents, in kube-system.
	TunnelAgent = "konnectivity-agent"
	// TunnelAudience is what the tokens of the agents are for: the API server itself does not accept them.
	TunnelAudience = "system:konnectivity-server"
)

const (
	tunnelName  = "konnectivity-server"
	tunnelImage = "konnectivity-server"
	// tunnelProgram is where upstream images have it.
	tunnelProgram    = "/proxy-server"
	tunnelHealthPort = 8134
	tunnelKeepAlive  = "30s"

	nameTunnelServing = "konnectivity-server"
	nameTunnelClient  = "konnectivity-server-client"

	tunnelFiles   = "tunnel-files"
	tunnelSocket  = "tunnel-socket"
	socketDir     = "/run/tunnel"
	socketFile    = socketDir + "/server.socket"
	tunnelServing = "server"

	egressKey = "egress-selector-configuration.yaml"
)

// egressConfiguration sends what is in the cluster of the shoot through the tunnel: kubelets, pods, Services. Everything else, such as
// stores and webhooks with a URL, is reached directly. A shoot without nodes has no tunnel, and nobody listens at the socket: there, the
// addresses of nodes, pods and endpoints that its owner has written lead nowhere. Without this, its API server would be a proxy to whatever
// its pod can reach.
func egressConfiguration() map[string]any {
	return map[string]any{
		"apiVersion": "apiserver.k8s.io/v1beta1",
		"kind":       "EgressSelectorConfiguration",
		"egressSelections": []any{map[string]any{
			"name": "cluster",
			"connection": map[string]any{
				"proxyProtocol": "HTTPConnect",
				"transport":     map[string]any{"uds": map[string]any{"udsName": socketFile}},
			},
		}},
	}
}

// tunnelRequests asks for a certificate with the names of the API server, because the agents come to the same address, and for one to have
// their tokens reviewed with.
func tunnelRequests(serving secrets.CertificateSpec) []component.Request {
	serving.Name, serving.CommonName = nameTunnelServing, tunnelName
	return append([]component.Request{component.Certificate(gardencorev1beta1.SecretCACluster, serving)}, ClientRequests(nameTunnelClient, TunnelUser)...)
}

// withTunnel puts the server of the tunnel beside the API server, and returns the kubeconfig with which it asks whether an agent's token
// is good. The server is there before the API server and goes after it, so that no connection is cut before its time.
func withTunnel(pod *component.Pod, f facts.Shoot, in *component.Inputs) (*corev1.ConfigMap, error) {
	access, err := accessAt(f, in, nameTunnelClient, fmt.Sprintf("https://localhost:%d", Port))
	if err != nil {
		return nil, err
	}
	socket := corev1.VolumeMount{Name: tunnelSocket, MountPath: socketDir}
	pod.Container.VolumeMounts = append(pod.Container.VolumeMounts, socket)
	pod.Volumes = append(
		pod.Volumes,
		corev1.Volume{Name: tunnelSocket, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
		component.FilesVolume(tunnelFiles, append(access.Files, in.CertificateFiles(nameTunnelServing, tunnelServing))...),
	)
	pod.Sidecars = append(pod.Sidecars, corev1.Container{
		Name:          tunnelName,
		Image:         in.Image(tunnelImage),
		Command:       []string{tunnelProgram},
		Args:          tunnelArgs(in.Replicas),
		Ports:         []corev1.ContainerPort{{Name: "tunnel", ContainerPort: TunnelPort, Protocol: corev1.ProtocolTCP}},
		LivenessProbe: component.HTTPProbe(corev1.URISchemeHTTP, tunnelHealthPort, "/healthz"),
		Resources:     component.Requests("10m", "30Mi"),
		VolumeMounts:  []corev1.VolumeMount{{Name: tunnelFiles, MountPath: component.FilesDir, ReadOnly: true}, socket},
	})
	return access.Kubeconfig, nil
}

// tunnelArgs are the flags of the server. It tells agents how many servers there are: each agent connects to all of them, because an API
// server only reaches what is connected to its own.
func tunnelArgs(servers int32) []string {
	return []string{
		"--mode=http-connect",
		"--uds-name=" + socketFile,
		"--server-port=0",
		fmt.Sprintf("--server-count=%d", max(servers, 1)),
		fmt.Sprintf("--agent-port=%d", TunnelPort),
		"--cluster-cert=" + component.File(tunnelServing, secrets.DataKeyCertificate),
		"--cluster-key=" + component.File(tunnelServing, secrets.DataKeyPrivateKey),
		"--kubeconfig=" + KubeconfigFile,
		"--agent-namespace=" + metav1.NamespaceSystem,
		"--agent-service-account=" + TunnelAgent,
		"--authentication-audience=" + TunnelAudience,
		"--keepalive-time=" + tunnelKeepAlive,
		fmt.Sprintf("--health-port=%d", tunnelHealthPort),
		"--admin-bind-address=127.0.0.1",
	}
}
