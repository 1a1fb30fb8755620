// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig judges kubeconfigs that users hand in. A client that uses such a kubeconfig as it is would read files,
// run programs or act as another user, as it says.
package kubeconfig

import (
	"slices"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// Key is the key of a kubeconfig in a Secret.
	Key = "kubeconfig"
	// Valid says which credentials are allowed.
	Valid = "a user may have client-certificate-data, client-key-data, token, username and password only"
)

// UnsafeUser returns the names of the fields of a user that are not allowed, sorted (GAC-KCFG-3).
func UnsafeUser(u *clientcmdapi.AuthInfo) []string {
	return set(map[string]bool{
		"client-certificate": u.ClientCertificate != "",
		"client-key":         u.ClientKey != "",
		"tokenFile":          u.TokenFile != "",
		"act-as":             u.Impersonate != "" || u.ImpersonateUID != "" || len(u.ImpersonateUserExtra) > 0,
		"act-as-groups":      len(u.ImpersonateGroups) > 0,
		"auth-provider":      u.AuthProvider != nil,
		"exec":               u.Exec != nil,
	})
}

// UnsafeCluster returns the names of the fields of a cluster that are not allowed for who connects to it, sorted.
func UnsafeCluster(c *clientcmdapi.Cluster) []string {
	return set(map[string]bool{
		"certificate-authority": c.CertificateAuthority != "",
		"proxy-url":             c.ProxyURL != "",
	})
}

func set(fields map[string]bool) []string {
	var names []string
	for name, is := range fields {
		if is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
