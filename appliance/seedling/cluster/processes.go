// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"
)

// The parts of a cluster, each of which is one process, in the order in which they start.
const (
	partRuntime           = "containerd"
	partEtcd              = "etcd"
	partAPIServer         = "kube-apiserver"
	partControllerManager = "kube-controller-manager"
	partScheduler         = "kube-scheduler"
	partKubelet           = "kubelet"
	partProxy             = "kube-proxy"
	partAddons            = "addons"
	partDNS               = "coredns"
)

// Ports that can be reached only from this machine.
const (
	etcdPeerPort          = 7380
	etcdMetricsPort       = 7381
	controllerManagerPort = 7257
	schedulerPort         = 7259
	kubeletHealthPort     = 7248
	proxyHealthPort       = 7256
	proxyMetricsPort      = 7249
	addonsHealthPort      = 7260
	dnsHealthPort         = 7261
)

// Ports on the address of the node, besides that of the API server.
const (
	dnsPort     = 7253
	kubeletPort = 10250
)

// part is one process of the cluster with its health check.
type part struct {
	name string
	// program is the file to run; if empty, it is this binary, and the first argument selects the program.
	program string
	args    []string
	// healthy returns nil if the part works.
	healthy func(ctx context.Context) error
	// patience is how long the part may take to become healthy.
	patience time.Duration
}

func (c *Cluster) parts() []part {
	return []part{c.runtime(), c.etcd(), c.apiServer(), c.controllerManager(), c.scheduler(), c.kubelet(), c.proxy(), c.addons(), c.dns()}
}

func (c *Cluster) runtime() part {
	return part{
		name:     partRuntime,
		program:  "containerd",
		args:     []string{"--config", c.config.state("containerd.toml")},
		healthy:  c.runtimeReady,
		patience: 30 * time.Second,
	}
}

// etcd serves its clients on a unix socket. It has no peers, but requires a port for them. Its data need not survive a
// power failure, so it does not wait for the disk.
func (c *Cluster) etcd() part {
	peer := "https://" + local(etcdPeerPort)
	return part{
		name: partEtcd,
		args: []string{
			"etcd",
			"--name=" + c.config.NodeName,
			"--data-dir=" + c.config.state("etcd"),
			"--listen-client-urls=" + c.etcdURL(),
			"--advertise-client-urls=" + peer, // not used by any client, but a socket is not accepted here
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=" + c.config.NodeName + "=" + peer,
			"--peer-cert-file=" + c.config.pki("etcd-peer.crt"),
			"--peer-key-file=" + c.config.pki("etcd-peer.key"),
			"--peer-trusted-ca-file=" + c.config.pki("ca.crt"),
			"--peer-client-cert-auth",
			"--peer-cert-allowed-cn=" + etcdPeerName, // the authority of the cluster signs other clients as well
			"--listen-metrics-urls=http://" + local(etcdMetricsPort),
			"--unsafe-no-fsync",
			"--log-level=warn",
			"--auto-compaction-retention=10m",
		},
		healthy:  c.get("http://" + local(etcdMetricsPort) + "/readyz"),
		patience: 30 * time.Second,
	}
}

func (c *Cluster) etcdURL() string { return "unix://" + c.config.run("etcd", "client.sock") }

func (c *Cluster) apiServer() part {
	return part{
		name: partAPIServer,
		args: []string{
			"kube-apiserver",
			"--advertise-address=" + c.config.NodeIP.String(),
			"--bind-address=" + c.config.NodeIP.String(),
			"--secure-port=" + strconv.Itoa(c.config.APIPort),
			"--etcd-servers=" + c.etcdURL(),
			"--service-cluster-ip-range=" + c.config.ServiceCIDR.String(),
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--client-ca-file=" + c.config.pki("ca.crt"),
			"--tls-cert-file=" + c.config.pki("apiserver.crt"),
			"--tls-private-key-file=" + c.config.pki("apiserver.key"),
			"--kubelet-certificate-authority=" + c.config.pki("ca.crt"),
			"--kubelet-client-certificate=" + c.config.pki("apiserver-kubelet-client.crt"),
			"--kubelet-client-key=" + c.config.pki("apiserver-kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--proxy-client-cert-file=" + c.config.pki("front-proxy-client.crt"),
			"--proxy-client-key-file=" + c.config.pki("front-proxy-client.key"),
			"--requestheader-client-ca-file=" + c.config.pki("front-proxy-ca.crt"),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + c.config.pki("service-account.pub"),
			"--service-account-signing-key-file=" + c.config.pki("service-account.key"),
			"--cert-dir=" + c.config.run("kube-apiserver"),
			"--profiling=false",
		},
		healthy:  c.get(c.config.Server() + "/readyz"),
		patience: time.Minute,
	}
}

func (c *Cluster) controllerManager() part {
	kubeconfig := c.config.kubeconfig(controllerManagerUser)
	return part{
		name: partControllerManager,
		args: append(c.localServing(controllerManagerPort),
			"--kubeconfig="+kubeconfig,
			"--authentication-kubeconfig="+kubeconfig,
			"--authorization-kubeconfig="+kubeconfig,
			"--leader-elect=false",
			"--cluster-name="+c.config.NodeName,
			"--allocate-node-cidrs=true",
			"--cluster-cidr="+c.config.PodCIDR.String(),
			"--node-cidr-mask-size="+strconv.Itoa(c.config.NodeCIDR.Bits()),
			"--service-cluster-ip-range="+c.config.ServiceCIDR.String(),
			"--cluster-signing-cert-file="+c.config.pki("ca.crt"),
			"--cluster-signing-key-file="+c.config.pki("ca.key"),
			"--root-ca-file="+c.config.pki("ca.crt"),
			"--service-account-private-key-file="+c.config.pki("service-account.key"),
			"--use-service-account-credentials=true",
			// Each of its loops requests its own token at the start; with the default limits this takes four seconds.
			"--kube-api-qps=200",
			"--kube-api-burst=400",
			"--profiling=false",
		),
		healthy:  c.get("https://" + local(controllerManagerPort) + "/healthz"),
		patience: 30 * time.Second,
	}.as("kube-controller-manager")
}

func (c *Cluster) scheduler() part {
	kubeconfig := c.config.kubeconfig(schedulerUser)
	return part{
		name: partScheduler,
		args: append(c.localServing(schedulerPort),
			"--kubeconfig="+kubeconfig,
			"--authentication-kubeconfig="+kubeconfig,
			"--authorization-kubeconfig="+kubeconfig,
			"--leader-elect=false",
			"--profiling=false",
		),
		healthy:  c.get("https://" + local(schedulerPort) + "/healthz"),
		patience: 30 * time.Second,
	}.as("kube-scheduler")
}

// localServing returns the flags of a part that listens only for health checks and metrics.
func (c *Cluster) localServing(port int) []string {
	return []string{
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + c.config.pki("local.crt"),
		"--tls-private-key-file=" + c.config.pki("local.key"),
	}
}

func (c *Cluster) kubelet() part {
	return part{
		name: partKubelet,
		args: []string{
			"--config=" + c.config.state("kubelet.yaml"),
			"--kubeconfig=" + c.config.kubeconfig(kubeletUser),
			"--root-dir=" + c.config.state("kubelet"),
			"--cert-dir=" + c.config.state("kubelet", "pki"),
			"--hostname-override=" + c.config.NodeName,
			"--node-ip=" + c.config.NodeIP.String(),
		},
		healthy:  c.get("http://" + local(kubeletHealthPort) + "/healthz"),
		patience: 30 * time.Second,
	}.as("kubelet")
}

func (c *Cluster) proxy() part {
	return part{
		name:     partProxy,
		args:     []string{"--config=" + c.config.state("kube-proxy.yaml"), "--hostname-override=" + c.config.NodeName},
		healthy:  c.get("http://" + local(proxyHealthPort) + "/livez"),
		patience: 30 * time.Second,
	}.as("kube-proxy")
}

func (c *Cluster) addons() part {
	return part{
		name: partAddons,
		args: []string{
			"--state-dir=" + c.config.StateDir,
			"--listen=" + netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), addonsHealthPort).String(),
		},
		healthy:  c.get(fmt.Sprintf("http://%s/healthz", local(addonsHealthPort))),
		patience: 30 * time.Second,
	}.as("addons")
}

func (c *Cluster) dns() part {
	return part{
		name:     partDNS,
		args:     []string{"-conf", c.config.state("Corefile")},
		healthy:  c.get(fmt.Sprintf("http://%s/ready", local(dnsHealthPort))),
		patience: 30 * time.Second,
	}.as("coredns")
}

// as prepends the name of the program in the binary to the arguments.
func (p part) as(applet string) part {
	p.args = append([]string{applet}, p.args...)
	return p
}
