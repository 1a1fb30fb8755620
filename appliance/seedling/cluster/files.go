// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	proxyv1alpha1 "k8s.io/kube-proxy/config/v1alpha1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// ProgramsTag is the tag of the images of the pause and hello programs.
const ProgramsTag = "v1"

func (c *Cluster) runtimePaths() node.RuntimePaths {
	return node.RuntimePaths{
		Root:       c.config.state("containerd"),
		State:      c.config.run("containerd"),
		ShimState:  c.config.run("runc"),
		Socket:     c.config.runtimeSocket(),
		CNIConfDir: c.config.state("cni", "conf"),
		CNIBinDir:  c.config.state("cni", "bin"),
	}
}

// writeFiles writes the configuration of every part. It changes only files of the cluster.
func (c *Cluster) writeFiles() error {
	for _, dir := range []string{c.config.state("cni", "conf"), c.config.state("cni", "bin"), c.config.ImagesDir(), c.config.ZonesDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // Pods see some of these folders.
			return fmt.Errorf("make folder: %w", err)
		}
	}
	// Access to these folders allows to change the data of an etcd, or to connect to it.
	for _, dir := range []string{c.config.VolumesDir(), c.config.run("etcd")} {
		if err := closedFolder(dir); err != nil {
			return err
		}
	}
	mayRaise, err := node.MayRaiseLimits()
	if err != nil {
		return err
	}
	containerd := node.RuntimeConfig(c.runtimePaths(), images.NameOf(images.Pause, ProgramsTag), !mayRaise)
	if err := durable.Replace(c.config.state("containerd.toml"), []byte(containerd), 0o600); err != nil {
		return err
	}
	mtu, err := node.SmallestMTU()
	if err != nil {
		return err
	}
	network, err := node.PodNetwork{
		Name: c.config.Group, Bridge: c.config.Bridge, Range: c.config.NodeCIDR, MTU: mtu, DataDir: c.config.run("cni"),
	}.Configuration()
	if err != nil {
		return err
	}
	if err := durable.Replace(c.config.state("cni", "conf", "10-seedling.conflist"), network, 0o644); err != nil {
		return err
	}
	if err := c.writeDNS(); err != nil {
		return err
	}
	if err := c.writeYAML("kubelet.yaml", c.kubeletConfiguration()); err != nil {
		return err
	}
	return c.writeYAML("kube-proxy.yaml", c.proxyConfiguration())
}

func (c *Cluster) writeYAML(file string, object any) error {
	content, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode %s: %w", file, err)
	}
	return durable.Replace(c.config.state(file), content, 0o600)
}

func (c *Cluster) kubeletConfiguration() kubeletv1beta1.KubeletConfiguration {
	return kubeletv1beta1.KubeletConfiguration{
		TypeMeta:       metav1.TypeMeta{APIVersion: kubeletv1beta1.SchemeGroupVersion.String(), Kind: "KubeletConfiguration"},
		Address:        c.config.NodeIP.String(),
		Port:           kubeletPort,
		HealthzPort:    new(int32(kubeletHealthPort)),
		Authentication: kubeletv1beta1.KubeletAuthentication{X509: kubeletv1beta1.KubeletX509Authentication{ClientCAFile: c.config.pki("ca.crt")}, Anonymous: kubeletv1beta1.KubeletAnonymousAuthentication{Enabled: new(false)}},
		TLSCertFile:    c.config.pki("kubelet.crt"), TLSPrivateKeyFile: c.config.pki("kubelet.key"),
		ContainerRuntimeEndpoint: "unix://" + c.config.runtimeSocket(),
		CgroupDriver:             "cgroupfs",
		CgroupRoot:               "/" + c.config.Group,
		FailCgroupV1:             new(false),
		FailSwapOn:               new(false),
		MaxPods:                  250,
		PodLogsDir:               c.config.state("logs", "pods"),
		VolumePluginDir:          c.config.state("kubelet", "volume-plugins"),
		StaticPodPath:            "",
		ClusterDNS:               []string{c.config.dnsIP().String()},
		ClusterDomain:            clusterDomain,
		ResolverConfig:           new(c.config.state("resolv.conf")),
		OOMScoreAdj:              new(int32(0)),
		// A full disk must not delete images or pods, because images cannot be pulled again from a registry.
		ImageGCHighThresholdPercent:    new(int32(100)),
		EvictionHard:                   map[string]string{"imagefs.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.inodesFree": "0%"},
		SyncFrequency:                  metav1.Duration{Duration: 10 * time.Second},
		NodeStatusReportFrequency:      metav1.Duration{Duration: time.Minute},
		NodeStatusUpdateFrequency:      metav1.Duration{Duration: 5 * time.Second},
		RegisterNode:                   new(true),
		SerializeImagePulls:            new(false),
		EnableProfilingHandler:         new(false),
		EnableControllerAttachDetach:   new(false),
		VolumeStatsAggPeriod:           metav1.Duration{Duration: -1},
		ShutdownGracePeriod:            metav1.Duration{},
		LocalStorageCapacityIsolation:  new(true),
		RegistryPullQPS:                new(int32(0)),
		EventRecordQPS:                 new(int32(0)),
		KubeAPIQPS:                     new(int32(100)),
		KubeAPIBurst:                   200,
		EnableDebuggingHandlers:        new(true),
		MakeIPTablesUtilChains:         new(false), // kube-proxy has its own tables; these would not be removed
		StreamingConnectionIdleTimeout: metav1.Duration{Duration: time.Hour},
	}
}

func (c *Cluster) proxyConfiguration() proxyv1alpha1.KubeProxyConfiguration {
	unchanged := new(int32(0))
	return proxyv1alpha1.KubeProxyConfiguration{
		TypeMeta:           metav1.TypeMeta{APIVersion: proxyv1alpha1.SchemeGroupVersion.String(), Kind: "KubeProxyConfiguration"},
		Mode:               "nftables",
		ClusterCIDR:        c.config.PodCIDR.String(),
		BindAddress:        c.config.NodeIP.String(),
		HealthzBindAddress: local(proxyHealthPort),
		MetricsBindAddress: local(proxyMetricsPort),
		OOMScoreAdj:        unchanged,
		Conntrack: proxyv1alpha1.KubeProxyConntrackConfiguration{
			MaxPerCore: unchanged, Min: unchanged, TCPEstablishedTimeout: new(metav1.Duration{}), TCPCloseWaitTimeout: new(metav1.Duration{}),
		},
		ClientConnection: clientConnection(c.config.kubeconfig(proxyUser)),
		ConfigSyncPeriod: metav1.Duration{Duration: 15 * time.Minute},
		NFTables: proxyv1alpha1.KubeProxyNFTablesConfiguration{
			MasqueradeAll: !node.HasSetting(bridgeFilter),
			MinSyncPeriod: metav1.Duration{Duration: 100 * time.Millisecond},
			SyncPeriod:    metav1.Duration{Duration: 30 * time.Second},
		},
	}
}

// place puts an external file into a folder of the cluster: as a hard link if both are on the same file system, otherwise
// as a copy. An existing file is replaced.
func place(source, target string, mode fs.FileMode) error {
	if err := os.RemoveAll(target + ".new"); err != nil {
		return fmt.Errorf("remove old file: %w", err)
	}
	if err := os.Link(source, target+".new"); err != nil {
		if err := copyFile(source, target+".new", mode); err != nil {
			return err
		}
	}
	if err := os.Rename(target+".new", target); err != nil {
		return fmt.Errorf("put file in place: %w", err)
	}
	return nil
}

func copyFile(source, target string, mode fs.FileMode) error {
	from, err := os.Open(source) //nolint:gosec // The caller names the path.
	if err != nil {
		return fmt.Errorf("open file: %w", err)
	}
	defer from.Close() //nolint:errcheck // It was only read.
	to, err := os.OpenFile(filepath.Clean(target), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("copy file %q: %w", source, err)
	}
	return nil
}

// closedFolder creates a folder that only its owner can enter, and closes an existing one.
func closedFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // A folder needs the execute bit.
		return fmt.Errorf("close folder: %w", err)
	}
	return nil
}
