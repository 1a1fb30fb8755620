// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	bundleKey = gardencorev1beta1.DataKeyCertificateBundle

	clientCAFolder         = "ca-client"
	frontProxyCAFolder     = "ca-front-proxy"
	etcdCAFolder           = "ca-etcd"
	servingFolder          = "server"
	etcdFolder             = "etcd"
	kubeletFolder          = "kubelet"
	frontProxyFolder       = "front-proxy"
	serviceAccountFolder   = "service-account"
	serviceAccountsFolder  = "service-accounts"
	encryptionFolder       = "encryption"
	configFolder           = "config"
	defaultNotReadySeconds = 300
)

// args are the flags of the server: first what every shoot has, then what the owner asks for.
func args(v Values) []string {
	flags := []string{
		fmt.Sprintf("--secure-port=%d", Port),
		"--tls-min-version=VersionTLS12",
		"--tls-cert-file=" + component.File(servingFolder, secrets.DataKeyCertificate),
		"--tls-private-key-file=" + component.File(servingFolder, secrets.DataKeyPrivateKey),

		"--etcd-servers=" + v.ETCDMain,
		"--etcd-servers-overrides=/events#" + v.ETCDEvents,
		"--etcd-cafile=" + component.File(etcdCAFolder, bundleKey),
		"--etcd-certfile=" + component.File(etcdFolder, secrets.DataKeyCertificate),
		"--etcd-keyfile=" + component.File(etcdFolder, secrets.DataKeyPrivateKey),
		"--encryption-provider-config=" + component.File(encryptionFolder, encryptionKey),

		"--client-ca-file=" + component.File(clientCAFolder, bundleKey),
		"--authentication-config=" + component.File(configFolder, authenticationKey),
		"--enable-bootstrap-token-auth=true",
		"--authorization-mode=Node,RBAC",
		"--admission-control-config-file=" + component.File(configFolder, admissionKey),

		"--service-account-signing-key-file=" + component.File(serviceAccountFolder, secrets.DataKeyRSA),
		"--service-account-key-file=" + component.File(serviceAccountsFolder, secrets.DataKeyRSABundle),
		"--service-cluster-ip-range=" + strings.Join(v.ServiceNetworks, ","),

		"--requestheader-client-ca-file=" + component.File(frontProxyCAFolder, bundleKey),
		"--requestheader-allowed-names=" + FrontProxyUser,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + component.File(frontProxyFolder, secrets.DataKeyCertificate),
		"--proxy-client-key-file=" + component.File(frontProxyFolder, secrets.DataKeyPrivateKey),

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
	}
	if v.AdvertiseAddress != "" {
		flags = append(flags, "--advertise-address="+v.AdvertiseAddress)
	}
	if v.ExternalHostname != "" {
		flags = append(flags, "--external-hostname="+v.ExternalHostname)
	}
	settings := v.Settings
	if settings == nil {
		settings = &gardencorev1beta1.KubeAPIServerConfig{}
	}
	return slices.Concat(flags, issuerFlags(v.Issuer, settings), admissionFlags(settings), limitFlags(settings), ownerFlags(settings))
}

// issuerFlags name the issuer of tokens: the first one signs, all are accepted.
func issuerFlags(issuer string, s *gardencorev1beta1.KubeAPIServerConfig) []string {
	issuers := []string{issuer}
	audiences := s.APIAudiences
	if len(audiences) == 0 {
		audiences = []string{"kubernetes", "gardener"}
	}
	var flags []string
	if c := s.ServiceAccountConfig; c != nil {
		if c.Issuer != nil && *c.Issuer != "" {
			issuers = append([]string{*c.Issuer}, issuers...)
		}
		issuers = append(issuers, c.AcceptedIssuers...)
		if c.ExtendTokenExpiration != nil {
			flags = append(flags, fmt.Sprintf("--service-account-extend-token-expiration=%t", *c.ExtendTokenExpiration))
		}
		if c.MaxTokenExpiration != nil {
			flags = append(flags, "--service-account-max-token-expiration="+c.MaxTokenExpiration.Duration.String())
		}
	}
	seen := map[string]struct{}{}
	for _, i := range issuers {
		if _, found := seen[i]; !found {
			seen[i] = struct{}{}
			flags = append(flags, "--service-account-issuer="+i)
		}
	}
	// Tokens that name no audience are for the server itself, under any of its names.
	return append(flags, "--api-audiences="+strings.Join(audiences, ","))
}

func admissionFlags(s *gardencorev1beta1.KubeAPIServerConfig) []string {
	enabled := []string{"NodeRestriction"}
	var off []string
	for _, p := range s.AdmissionPlugins {
		if disabled(p) {
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
	var flags []string
	if r := s.Requests; r != nil {
		if r.MaxNonMutatingInflight != nil {
			flags = append(flags, fmt.Sprintf("--max-requests-inflight=%d", *r.MaxNonMutatingInflight))
		}
		if r.MaxMutatingInflight != nil {
			flags = append(flags, fmt.Sprintf("--max-mutating-requests-inflight=%d", *r.MaxMutatingInflight))
		}
	}
	notReady, unreachable := int64(defaultNotReadySeconds), int64(defaultNotReadySeconds)
	if s.DefaultNotReadyTolerationSeconds != nil {
		notReady = *s.DefaultNotReadyTolerationSeconds
	}
	if s.DefaultUnreachableTolerationSeconds != nil {
		unreachable = *s.DefaultUnreachableTolerationSeconds
	}
	return append(
		flags,
		fmt.Sprintf("--default-not-ready-toleration-seconds=%d", notReady),
		fmt.Sprintf("--default-unreachable-toleration-seconds=%d", unreachable),
	)
}

func ownerFlags(s *gardencorev1beta1.KubeAPIServerConfig) []string {
	var flags []string
	if gates := component.FeatureGates(s.FeatureGates); gates != "" {
		flags = append(flags, "--feature-gates="+gates)
	}
	if len(s.RuntimeConfig) > 0 {
		parts := make([]string, 0, len(s.RuntimeConfig))
		for _, name := range slices.Sorted(maps.Keys(s.RuntimeConfig)) {
			parts = append(parts, fmt.Sprintf("%s=%t", name, s.RuntimeConfig[name]))
		}
		flags = append(flags, "--runtime-config="+strings.Join(parts, ","))
	}
	if s.EventTTL != nil {
		flags = append(flags, "--event-ttl="+s.EventTTL.Duration.String())
	}
	if s.Logging != nil && s.Logging.Verbosity != nil {
		flags = append(flags, fmt.Sprintf("--v=%d", *s.Logging.Verbosity))
	}
	if w := s.WatchCacheSizes; w != nil {
		var sizes []string
		for _, r := range w.Resources {
			name := r.Resource
			if r.APIGroup != nil && *r.APIGroup != "" {
				name += "." + *r.APIGroup
			}
			sizes = append(sizes, fmt.Sprintf("%s#%d", name, r.Size))
		}
		if len(sizes) > 0 {
			flags = append(flags, "--watch-cache-sizes="+strings.Join(sizes, ","))
		}
	}
	return flags
}
