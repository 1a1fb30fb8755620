// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// admissionPlugins checks the admission plugins of an API server: its version has them, and those that every cluster needs
// are not disabled (API-VALSHOOT-16).
func admissionPlugins(all []gardencorev1beta1.AdmissionPlugin, kubernetes string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i := range all {
		names = append(names, all[i].Name)
		errs = append(errs, admissionPlugin(&all[i], minorOf(kubernetes), path.Index(i))...)
	}
	return append(errs, duplicates(names, path.Index)...)
}

func admissionPlugin(p *gardencorev1beta1.AdmissionPlugin, minor int, path *field.Path) field.ErrorList {
	if p.Name == "" {
		return field.ErrorList{field.Required(path.Child("name"), "must name an admission plugin")}
	}
	facts, known := pluginNamed(p.Name)
	if !known {
		if minor > newestKnownMinor {
			return nil
		}
		return field.ErrorList{field.Invalid(path.Child("name"), p.Name, "is not an admission plugin of Kubernetes")}
	}
	if why := facts.lacking(minor); minor >= 0 && why != "" {
		return field.ErrorList{field.Forbidden(path.Child("name"), why)}
	}
	var errs field.ErrorList
	if deref(p.Disabled) && facts.required {
		errs = append(errs, field.Forbidden(path, "a cluster needs "+p.Name))
	}
	if p.KubeconfigSecretName != nil {
		here := path.Child("kubeconfigSecretName")
		errs = append(errs, required(*p.KubeconfigSecretName, here, "the Secret with the kubeconfig")...)
		if !facts.takesKubeconfig {
			errs = append(errs, field.Forbidden(here, p.Name+" takes no kubeconfig"))
		}
	}
	if p.Config == nil || len(p.Config.Raw) == 0 {
		return errs
	}
	here := path.Child("config")
	if !facts.takesConfig {
		errs = append(errs, field.Forbidden(here, p.Name+" takes no configuration"))
	}
	if p.Name == "PodSecurity" {
		errs = append(errs, podSecurity(p.Config.Raw, here)...)
	}
	return errs
}

// podSecurity checks the configuration of PodSecurity. An API server does not start with an invalid one.
func podSecurity(raw []byte, path *field.Path) field.ErrorList {
	const (
		group = "pod-security.admission.config.k8s.io/"
		kind  = "PodSecurityConfiguration"
	)
	var config struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Defaults   map[string]string `json:"defaults"`
		Exemptions struct {
			Usernames      []string `json:"usernames"`
			RuntimeClasses []string `json:"runtimeClasses"`
			Namespaces     []string `json:"namespaces"`
		} `json:"exemptions"`
	}
	// Nearly always it is JSON, and the parser of YAML takes many times as long.
	err := json.Unmarshal(raw, &config)
	if err != nil {
		err = yaml.Unmarshal(raw, &config)
	}
	if err != nil {
		return field.ErrorList{field.Invalid(path, string(raw), "cannot be decoded: "+err.Error())}
	}
	version, ofGroup := strings.CutPrefix(config.APIVersion, group)
	if !ofGroup || config.Kind != kind || !slices.Contains([]string{"v1", "v1beta1", "v1alpha1"}, version) {
		return field.ErrorList{field.Invalid(path, string(raw), "must be a "+kind+" of "+group+"v1")}
	}
	return nil
}
