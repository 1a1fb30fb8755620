// SPDX-License-Identifier: Apache-2.0

// Package security keeps the kinds of security.gardener.cloud, one folder a kind.
package security

import (
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/security/credentialsbinding"
	"github.com/terrarium-garden/terrarium/storage/registry/security/workloadidentity"
)

// Group builds the storage of security.gardener.cloud. A new kind is one line.
func Group(o kind.Options) (*genericapiserver.APIGroupInfo, error) {
	return kind.NewGroup(o, gardensecurityv1alpha1.GroupVersion,
		credentialsbinding.Storage,
		workloadidentity.Storage,
	)
}
