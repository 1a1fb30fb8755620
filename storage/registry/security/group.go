// SPDX-License-Identifier: Apache-2.0

// Package security keeps the kinds of security.gardener.cloud, one folder per kind.
package security

import (
	"maps"

	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/security/credentialsbinding"
	"github.com/terrarium-garden/terrarium/storage/registry/security/workloadidentity"
)

// Group builds the storage of security.gardener.cloud; core has the stores of the core group. A new kind is one line.
func Group(o kind.Options, tokens workloadidentity.TokenSigner, core map[string]rest.Storage) (*genericapiserver.APIGroupInfo, error) {
	others := map[string]rest.Storage{}
	maps.Copy(others, core)
	return kind.NewGroup(o, gardensecurityv1alpha1.GroupVersion,
		func(o kind.Options) (map[string]rest.Storage, error) {
			bindings, err := credentialsbinding.Storage(o)
			maps.Copy(others, bindings)
			return bindings, err
		},
		func(o kind.Options) (map[string]rest.Storage, error) {
			return workloadidentity.Storage(o, tokens, others)
		},
	)
}
