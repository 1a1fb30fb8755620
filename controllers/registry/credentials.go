// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// ErrCredentials has no cause, which could quote the credentials.
var ErrCredentials = errors.New("is no configuration of docker: it must be JSON with credentials by registry in auths, as kubectl create secret docker-registry writes it")

// Credentials returns the credentials for a repository from a .dockerconfigjson, and whether there are any. Its keys are registries,
// perhaps with the beginning of a path; the longest that fits counts.
func Credentials(config []byte, repository name.Repository) (authn.Authenticator, bool, error) {
	var docker struct {
		Auths map[string]authn.AuthConfig `json:"auths"`
	}
	if json.Unmarshal(config, &docker) != nil {
		return nil, false, ErrCredentials
	}
	longest, found := "", ""
	for _, key := range slices.Sorted(maps.Keys(docker.Auths)) {
		if place := placeOf(key); len(place) > len(longest) && strings.HasPrefix(repository.Name()+"/", place+"/") {
			longest, found = place, key
		}
	}
	if found == "" {
		return authn.Anonymous, false, nil
	}
	return authn.FromConfig(docker.Auths[found]), true, nil
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
