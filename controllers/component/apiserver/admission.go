// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	pluginImages     = "ImagePolicyWebhook"
	pluginMutating   = "MutatingAdmissionWebhook"
	pluginValidating = "ValidatingAdmissionWebhook"

	fieldKubeconfigFile = "kubeConfigFile"
	fieldImagePolicy    = "imagePolicy"
	fieldManifests      = "staticManifestsDir"
)

// takesKubeconfig reports whether an admission plugin asks servers, for which it needs a kubeconfig.
func takesKubeconfig(plugin string) bool {
	return plugin == pluginImages || plugin == pluginMutating || plugin == pluginValidating
}

// pluginKey is the key of the kubeconfig of a plugin.
func pluginKey(plugin string) string {
	return "admission-" + strings.ToLower(plugin) + ".yaml"
}

// admissionConfiguration carries the owner's configuration of admission plugins.
func admissionConfiguration(f facts.Shoot) (map[string]any, error) {
	plugins := []any{}
	for _, p := range pluginsOf(f) {
		config, err := pluginConfiguration(f, p)
		if err != nil {
			return nil, err
		}
		if config != nil {
			plugins = append(plugins, map[string]any{"name": p.Name, "configuration": config})
		}
	}
	return map[string]any{
		"apiVersion": configGroup + "/v1",
		"kind":       "AdmissionConfiguration",
		"plugins":    plugins,
	}, nil
}

// pluginsOf are the plugins that the owner has something to say about. A deletion goes on without a plugin whose kubeconfig is lost: the
// server does not start with it.
func pluginsOf(f facts.Shoot) []gardencorev1beta1.AdmissionPlugin {
	return slices.DeleteFunc(slices.Clone(settingsOf(f).AdmissionPlugins), func(p gardencorev1beta1.AdmissionPlugin) bool {
		return p.Name == pluginImages && f.Deleting() && f.Handed.Plugins[p.Name] == nil
	})
}

// pluginConfiguration is the configuration of one plugin, or nil if it has none. Files that the owner names would be those of the pod of
// the server, so the only file is the kubeconfig from the Secret.
func pluginConfiguration(f facts.Shoot, p gardencorev1beta1.AdmissionPlugin) (any, error) {
	if ptr.Deref(p.Disabled, false) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	given := p.Config != nil && len(p.Config.Raw) > 0
	if !given && f.Handed.Plugins[p.Name] == nil {
		if p.Name == pluginImages {
			return nil, withoutKubeconfig(p.Name)
		}
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	var config any = defaultConfiguration(p.Name)
	if given {
		config = nil
		if err := json.Unmarshal(p.Config.Raw, &config); err != nil {
			return nil, ConfigurationProblem(fieldPlugins, "the config of plugin %q is not valid JSON; correct it", p.Name)
		}
	}
	fields, isObject := config.(map[string]any)
	if takesKubeconfig(p.Name) && !isObject {
		return nil, ConfigurationProblem(fieldPlugins, "the config of plugin %q must be an object", p.Name)
	}
	if !isObject {
		return config, nil
	}
	if len(named(fields, fieldManifests)) > 0 {
		return nil, ConfigurationProblem(fieldPlugins, "the config of plugin %q must not have %s: owners of clusters have no files where the API server runs", p.Name, fieldManifests)
	}
	if !takesKubeconfig(p.Name) {
		return fields, nil
	}
	return fields, useKubeconfig(f, p.Name, fields)
}

// defaultConfiguration is that of a plugin of which the owner only gives the kubeconfig.
func defaultConfiguration(plugin string) map[string]any {
	if plugin == pluginImages {
		return map[string]any{fieldImagePolicy: map[string]any{}}
	}
	return map[string]any{"apiVersion": configGroup + "/v1", "kind": "WebhookAdmissionConfiguration"}
}

// useKubeconfig puts the path of the kubeconfig into the configuration of a plugin, and takes out any other.
func useKubeconfig(f facts.Shoot, plugin string, config map[string]any) error {
	at := config
	if plugin == pluginImages {
		policy := map[string]any{}
		for _, key := range named(config, fieldImagePolicy) {
			given, ok := config[key].(map[string]any)
			if !ok {
				return ConfigurationProblem(fieldPlugins, "%s of plugin %q must be an object", fieldImagePolicy, plugin)
			}
			delete(config, key)
			policy = given
		}
		config[fieldImagePolicy], at = policy, policy
	}
	for _, key := range named(at, fieldKubeconfigFile) {
		delete(at, key)
	}
	switch {
	case f.Handed.Plugins[plugin] != nil:
		at[fieldKubeconfigFile] = component.File(kubeconfigFolder, pluginKey(plugin))
	case plugin == pluginImages:
		return withoutKubeconfig(plugin)
	}
	return nil
}

func withoutKubeconfig(plugin string) error {
	return ConfigurationProblem(fieldPlugins, "plugin %q needs a kubeconfig: put it into a Secret of the project and set kubeconfigSecretName", plugin)
}

// named lists the keys that plugins read as a field, in whatever case they are: some do not look at the case.
func named(fields map[string]any, field string) []string {
	var keys []string
	for key := range fields {
		if strings.EqualFold(key, field) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
