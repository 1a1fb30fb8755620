// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"
	certapproval "k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	certsigning "k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	certsubject "k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// admissionHook is the name under which the library registers the start of an admission chain.
const admissionHook = "start-apiserver-admission-initializer"

// kubeAdmissionOff is every rule of a cluster but those that make sense without pods and nodes.
func kubeAdmissionOff() sets.Set[string] {
	on := sets.New(
		lifecycle.PluginName,
		mutatingpolicy.PluginName,
		mutatingwebhook.PluginName,
		validatingpolicy.PluginName,
		validatingwebhook.PluginName,
		resourcequota.PluginName,
		certapproval.PluginName,
		certsigning.PluginName,
		certsubject.PluginName,
	)

	return sets.New(kubeoptions.AllOrderedPlugins...).Difference(on)
}

// applyGardenAdmission gives the garden server its own chain: the namespace's life first, then the garden's rules, then
// what users add by webhooks and policies, then quotas.
func (c *completed) applyGardenAdmission(into *genericapiserver.Config, parts *kubeParts) error {
	view, err := world.New(into.LoopbackClientConfig, into.Authorization.Authorizer, c.Clock)
	if err != nil {
		return fmt.Errorf("build admission chain of the garden: %w", err)
	}
	o := serveroptions.NewAdmissionOptions()
	resourcequota.Register(o.Plugins)
	order := []string{lifecycle.PluginName}
	for _, rule := range c.Admission {
		o.Plugins.Register(rule.Name, func(io.Reader) (admission.Interface, error) { return rule.New(view), nil })
		order = append(order, rule.Name)
	}
	o.RecommendedPluginOrder = append(order, mutatingpolicy.PluginName, mutatingwebhook.PluginName,
		validatingpolicy.PluginName, validatingwebhook.PluginName, resourcequota.PluginName)

	kubeClient, err := kubernetes.NewForConfig(into.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("make client for admission: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(into.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("make dynamic client for admission: %w", err)
	}
	if err := o.ApplyTo(into, parts.config.VersionedInformers, kubeClient, dynamicClient, into.FeatureGate,
		into.EffectiveVersion, parts.initializers...); err != nil {
		return fmt.Errorf("build admission chain of the garden: %w", err)
	}

	// The kube server has registered a hook of the same name already.
	into.PostStartHooks["start-garden-admission-initializer"] = into.PostStartHooks[admissionHook]
	delete(into.PostStartHooks, admissionHook)

	return nil
}
