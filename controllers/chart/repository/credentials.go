// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// errCredentials has no cause, which could quote the credentials.
var errCredentials = errors.New("the pull Secret is no configuration of docker: it must be JSON with credentials by registry in auths, as kubectl create secret docker-registry writes it")

// credentialsFor returns the credentials for a repository from a .dockerconfigjson. Its keys are registries, perhaps with the beginning
// of a path; the longest that fits counts.
func credentialsFor(config []byte, repository name.Repository) (authn.Authenticator, error) {
	if config == nil {
		return authn.Anonymous, nil
	}
	var docker struct {
		Auths map[string]authn.AuthConfig `json:"auths"`
	}
	if json.Unmarshal(config, &docker) != nil {
		return nil, errCredentials
	}
	longest, found := "", ""
	for _, key := range slices.Sorted(maps.Keys(docker.Auths)) {
		if place := placeOf(key); len(place) > len(longest) && strings.HasPrefix(repository.Name()+"/", place+"/") {
			longest, found = place, key
		}
	}
	if found == "" {
		return nil, fmt.Errorf("the pull Secret has no credentials for registry %q", repository.RegistryStr())
	}
	return authn.FromConfig(docker.Auths[found]), nil
}

// placeOf returns the registry, with the beginning of a path if there is one, that a key is for. Docker itself writes URLs of the API.
func placeOf(key string) string {
	_, place, ok := strings.Cut(key, "://")
	if !ok {
		place = key
	}
	place = strings.TrimSuffix(place, "/")
	for _, version := range []string{"/v1", "/v2"} {
		place = strings.TrimSuffix(place, version)
	}
	host, path, deeper := strings.Cut(place, "/")
	switch host {
	case "docker.io", "registry-1.docker.io":
		host = name.DefaultRegistry
	}
	if deeper {
		return host + "/" + path
	}
	return host
}
