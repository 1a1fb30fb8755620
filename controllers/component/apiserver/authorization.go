// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	fieldAuthorization = "structuredAuthorization.configMapName"
	authorizersKey     = "authorizers"

	// ownAuthorizers is the number of those that every server has.
	ownAuthorizers = 2

	typeNode, typeRBAC, typeWebhook = "Node", "RBAC", "Webhook"
	// connectionOfOwner is what an owner has to write, because he cannot know where the kubeconfig will be.
	connectionOfOwner = "InClusterConfig"
)

// authorizationConfiguration has the authorizers that every server has, and after them the webhooks of the owner. So a webhook that does
// not answer stops nobody who has a role. It is nil if the owner has none.
func authorizationConfiguration(f facts.Shoot) (map[string]any, error) {
	if f.Handed.Authorization == "" {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	config, err := document(fieldAuthorization, f.Handed.Authorization, configGroup, "AuthorizationConfiguration")
	if err != nil {
		return nil, err
	}
	webhooks, err := listIn(fieldAuthorization, config, authorizersKey)
	if err != nil {
		return nil, err
	}
	all := []any{map[string]any{"type": typeNode, "name": "node"}, map[string]any{"type": typeRBAC, "name": "rbac"}}
	seen := map[string]struct{}{"node": {}, "rbac": {}}
	for i, webhook := range webhooks {
		name, _ := webhook["name"].(string)
		if _, found := seen[name]; found || name == "" {
			return nil, ConfigurationProblem(fieldAuthorization, "authorizers[%d].name must be a name that no other authorizer has, and neither node nor rbac", i)
		}
		seen[name] = struct{}{}
		if err := connect(webhook, i, f.Handed.Authorizers[name]); err != nil {
			return nil, err
		}
		all = append(all, webhook)
	}
	config[authorizersKey] = all
	return config, nil
}

// connect tells an authorizer where its kubeconfig is. A path that the owner names would be one in the pod of the server.
func connect(authorizer map[string]any, index int, kubeconfig []byte) error {
	webhook, _ := authorizer["webhook"].(map[string]any)
	if authorizer["type"] != typeWebhook || webhook == nil {
		return ConfigurationProblem(fieldAuthorization, "authorizers[%d].type must be %s; the server has the others already", index, typeWebhook)
	}
	connection, _ := webhook["connectionInfo"].(map[string]any)
	if connection["type"] != connectionOfOwner || len(connection) != 1 {
		return ConfigurationProblem(fieldAuthorization, "authorizers[%d].webhook.connectionInfo must have the type %s and nothing else; the kubeconfig comes from a Secret", index, connectionOfOwner)
	}
	if kubeconfig == nil {
		return ConfigurationProblem("structuredAuthorization.kubeconfigs", "there is no kubeconfig for authorizer %q of the configuration; name the Secret with it", authorizer["name"])
	}
	webhook["connectionInfo"] = map[string]any{"type": "KubeConfigFile", "kubeConfigFile": component.File(kubeconfigFolder, authorizerKey(index))}
	return nil
}

// authorizerKey is the key of the kubeconfig of an authorizer, by its place in the configuration of the owner.
func authorizerKey(index int) string {
	return fmt.Sprintf("authorizer-%d.yaml", index)
}

func authorizationFlag(f facts.Shoot) string {
	if f.Handed.Authorization == "" {
		return "--authorization-mode=" + typeNode + "," + typeRBAC
	}
	return "--authorization-config=" + component.File(configFolder, authorizationKey)
}
