// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the stores of shoots and of their subresources status, binding, adminkubeconfig and viewerkubeconfig.
// The last two read the client CA of a shoot from internalSecrets.
func Storage(o kind.Options, s Settings, internalSecrets rest.Getter) (map[string]rest.Storage, error) {
	main, status, err := kind.NewStore(o, warning(rules(), o.Clock, s.CredentialsRotationInterval))
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"shoots":                  main,
		"shoots/status":           status,
		"shoots/binding":          kind.NewPart(main, bindingRules()),
		"shoots/adminkubeconfig":  newKubeconfigs(admin(), o.Clock, s, main.Store, internalSecrets),
		"shoots/viewerkubeconfig": newKubeconfigs(viewer(), o.Clock, s, main.Store, internalSecrets),
	}, nil
}
