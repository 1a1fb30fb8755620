// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	bundleKey = gardencorev1beta1.DataKeyCertificateBundle

	clientCAFolder        = "ca-client"
	frontProxyCAFolder    = "ca-front-proxy"
	etcdCAFolder          = "ca-etcd"
	servingFolder         = "server"
	etcdFolder            = "etcd"
	kubeletFolder         = "kubelet"
	kubeletCAFolder       = "ca-kubelet"
	frontProxyFolder      = "front-proxy"
	serviceAccountFolder  = "service-account"
	serviceAccountsFolder = "service-accounts"
	encryptionFolder      = "encryption"
	configFolder          = "config"

	defaultTolerationSeconds = 300
)

// VerifyKubelets begins the flag with which the server verifies the serving certificates of kubelets.
const VerifyKubelets = "--kubelet-certificate-authority="

// args are the flags of the server: first what every shoot has, then what the owner asks for.
func args(f facts.Shoot, in *component.Inputs) []string {
	flags := []string{
		fmt.Sprintf("--secure-port=%d", Port),
		"--tls-min-version=" + oldestTLS(f),
		"--tls-cert-file=" + component.File(servingFolder, secrets.DataKeyCertificate),
		"--tls-private-key-file=" + component.File(servingFolder, secrets.DataKeyPrivateKey),

		"--etcd-servers=" + etcd.URL(f.Namespace, gardencorev1beta1.ETCDRoleMain),
		"--etcd-servers-overrides=/events#" + etcd.URL(f.Namespace, gardencorev1beta1.ETCDRoleEvents),
		"--etcd-cafile=" + component.File(etcdCAFolder, bundleKey),
		"--etcd-certfile=" + component.File(etcdFolder, secrets.DataKeyCertificate),
		"--etcd-keyfile=" + component.File(etcdFolder, secrets.DataKeyPrivateKey),
		"--etcd-compaction-interval=5m0s",
		"--encryption-provider-config=" + component.File(encryptionFolder, encryptionKey),

		"--client-ca-file=" + component.File(clientCAFolder, bundleKey),
		"--authentication-config=" + component.File(configFolder, authenticationKey),
		"--enable-bootstrap-token-auth=true",
		authorizationFlag(f),
		"--admission-control-config-file=" + component.File(configFolder, admissionKey),

		"--service-account-signing-key-file=" + component.File(serviceAccountFolder, secrets.DataKeyRSA),
		"--service-account-key-file=" + component.File(serviceAccountsFolder, secrets.DataKeyRSABundle),
		"--service-cluster-ip-range=" + strings.Join(f.ServiceNetworks(), ","),

		"--requestheader-client-ca-file=" + component.File(frontProxyCAFolder, bundleKey),
		"--requestheader-allowed-names=" + frontProxyUser,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + component.File(frontProxyFolder, secrets.DataKeyCertificate),
		"--proxy-client-key-file=" + component.File(frontProxyFolder, secrets.DataKeyPrivateKey),
		// Addresses of Services are only known to the nodes of the shoot.
		"--enable-aggregator-routing=true",

		"--kubelet-client-certificate=" + component.File(kubeletFolder, secrets.DataKeyCertificate),
		"--kubelet-client-key=" + component.File(kubeletFolder, secrets.DataKeyPrivateKey),
		"--kubelet-preferred-address-types=InternalIP,Hostname,ExternalIP",

		"--audit-policy-file=" + component.File(configFolder, auditKey),
		"--audit-log-path=/tmp/audit/audit.log",
		"--audit-log-maxsize=100",
		"--audit-log-maxbackup=5",

		"--allow-privileged=true",
		"--profiling=false",
		"--shutdown-delay-duration=5s",
		// Without it, the server keeps its watches until the pod is killed after half a minute, and nothing is left to end by itself.
		"--shutdown-watch-termination-grace-period=5s",
	}
	if balancer := in.Address(Exposure).LoadBalancer; facts.IsIP(balancer) {
		flags = append(flags, "--advertise-address="+balancer)
	}
	if names := f.Hosts.Names(); len(names) > 0 {
		flags = append(flags, "--external-hostname="+names[0])
	}
	if f.KubeletsSigned {
		flags = append(flags, VerifyKubelets+component.File(kubeletCAFolder, bundleKey))
	}
	flags = append(flags, "--egress-selector-config-file="+component.File(configFolder, egressKey))
	settings := settingsOf(f)
	return slices.Concat(
		flags, issuerFlags(f.Hosts.Issuer(), settings), admissionFlags(pluginsOf(f)), limitFlags(settings), ownerFlags(settings),
	)
}

// oldestTLS is the oldest version of TLS that the server accepts. An owner can ask for a newer one only.
func oldestTLS(f facts.Shoot) string {
	const newest = "VersionTLS13"
	if ptr.Deref(settingsOf(f).TLSMinVersion, "") == newest {
		return newest
	}
	return "VersionTLS12"
}

func settingsOf(f facts.Shoot) *gardencorev1beta1.KubeAPIServerConfig {
	return cmp.Or(f.Shoot.Spec.Kubernetes.KubeAPIServer, &gardencorev1beta1.KubeAPIServerConfig{})
}

// issuerFlags name the issuers of tokens: the first one is written into new tokens, all are accepted.
func issuerFlags(issuer string, s *gardencorev1beta1.KubeAPIServerConfig) []string {
	accounts := cmp.Or(s.ServiceAccountConfig, &gardencorev1beta1.ServiceAccountConfig{})
	flags := slices.Concat(
		component.Flag("service-account-extend-token-expiration", accounts.ExtendTokenExpiration),
		duration("service-account-max-token-expiration", accounts.MaxTokenExpiration),
	)
	seen := map[string]struct{}{"": {}}
	for _, i := range append([]string{ptr.Deref(accounts.Issuer, ""), issuer}, accounts.AcceptedIssuers...) {
		if _, found := seen[i]; !found {
			seen[i] = struct{}{}
			flags = append(flags, "--service-account-issuer="+i)
		}
	}
	audiences := s.APIAudiences
	if len(audiences) == 0 {
		audiences = []string{"kubernetes", "gardener"}
	}
	// Tokens that name no audience are for the server itself, under any of its names.
	return append(flags, "--api-audiences="+strings.Join(audiences, ","))
}

func admissionFlags(plugins []gardencorev1beta1.AdmissionPlugin) []string {
	enabled := []string{"NodeRestriction"}
	var off []string
	for _, p := range plugins {
		if ptr.Deref(p.Disabled, false) {
			off = append(off, p.Name)
			enabled = slices.DeleteFunc(enabled, func(name string) bool { return name == p.Name })
			continue
		}
		if !slices.Contains(enabled, p.Name) {
			enabled = append(enabled, p.Name)
		}
	}
	var flags []string
	if len(enabled) > 0 {
		flags = append(flags, "--enable-admission-plugins="+strings.Join(enabled, ","))
	}
	if len(off) > 0 {
		flags = append(flags, "--disable-admission-plugins="+strings.Join(off, ","))
	}
	return flags
}

func limitFlags(s *gardencorev1beta1.KubeAPIServerConfig) []string {
	requests := cmp.Or(s.Requests, &gardencorev1beta1.APIServerRequests{})
	return append(
		slices.Concat(
			component.Flag("max-requests-inflight", requests.MaxNonMutatingInflight),
			component.Flag("max-mutating-requests-inflight", requests.MaxMutatingInflight),
		),
		fmt.Sprintf("--default-not-ready-toleration-seconds=%d", ptr.Deref(s.DefaultNotReadyTolerationSeconds, defaultTolerationSeconds)),
		fmt.Sprintf("--default-unreachable-toleration-seconds=%d", ptr.Deref(s.DefaultUnreachableTolerationSeconds, defaultTolerationSeconds)),
	)
}

func ownerFlags(s *gardencorev1beta1.KubeAPIServerConfig) []string {
	logging := cmp.Or(s.Logging, &gardencorev1beta1.APIServerLogging{})
	flags := slices.Concat(
		component.Switches("feature-gates", s.FeatureGates),
		component.Switches("runtime-config", s.RuntimeConfig),
		duration("event-ttl", s.EventTTL),
		component.Flag("v", logging.Verbosity),
	)
	if v := logging.HTTPAccessVerbosity; v != nil {
		flags = append(flags, fmt.Sprintf("--vmodule=httplog=%d", *v))
	}
	var sizes []string
	for _, r := range cmp.Or(s.WatchCacheSizes, &gardencorev1beta1.WatchCacheSizes{}).Resources {
		name := r.Resource
		if group := ptr.Deref(r.APIGroup, ""); group != "" {
			name += "." + group
		}
		sizes = append(sizes, fmt.Sprintf("%s#%d", name, r.Size))
	}
	if len(sizes) > 0 {
		flags = append(flags, "--watch-cache-sizes="+strings.Join(sizes, ","))
	}
	return flags
}

func duration(name string, d *metav1.Duration) []string {
	if d == nil {
		return nil
	}
	return component.Flag(name, &d.Duration)
}
