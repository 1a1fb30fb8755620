// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/kubernetes/pkg/controlplane/apiserver/options"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"
	certapproval "k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	certsigning "k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	certsubject "k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"

	admissionrules "github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/admission/objectcreation"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// admissionHook is the name of the hook with which the library starts an admission chain.
const admissionHook = "start-apiserver-admission-initializer"

// kubeAdmissionOff returns all plugins of a cluster except those that are useful without pods and nodes.
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

// applyKubeAdmission adds the garden's plugins to the chain of the kube server, before the webhooks and policies of users.
func (c Config) applyKubeAdmission(o *serveroptions.AdmissionOptions, view *world.World) {
	o.DefaultOffPlugins = kubeAdmissionOff().Insert(c.libraryRulesOff()...)
	o.Decorators = append(o.Decorators, recounting(c.Clock))
	names := register(o.Plugins, always(c.KubeAdmission), view)
	at := slices.Index(o.RecommendedPluginOrder, mutatingpolicy.PluginName)
	o.RecommendedPluginOrder = slices.Concat(o.RecommendedPluginOrder[:at], names, o.RecommendedPluginOrder[at:])
}

// libraryRulesOff returns the disabled ones of Kubernetes' optional plugins: those that the configuration disables, and
// those that are disabled by default and that it does not enable (API-ADM-2).
func (c Config) libraryRulesOff() []string {
	return slices.DeleteFunc(admissionrules.KubernetesNames(), func(name string) bool {
		off := slices.Contains(admissionrules.KubernetesNamesOff(), name) || slices.Contains(c.AdmissionOff, name)

		return !off || slices.Contains(c.AdmissionOn, name)
	})
}

// always puts the plugin before others that no configuration disables and that they all rely on.
func always(rules []admissionrules.Rule) []admissionrules.Rule {
	return append([]admissionrules.Rule{{Name: objectcreation.Name, New: objectcreation.New}}, rules...)
}

// register registers plugins in a chain and returns their names.
func register(into *admission.Plugins, rules []admissionrules.Rule, view *world.World) []string {
	names := make([]string, 0, len(rules))
	for _, rule := range rules {
		into.Register(rule.Name, func(io.Reader) (admission.Interface, error) { return rule.New(view), nil })
		names = append(names, rule.Name)
	}
	return names
}

// seeWorld is what all rules see of the garden: its kinds in their stores, everything else through the server's own port and
// what it keeps at hand.
func (c *completed) seeWorld(
	generic *genericapiserver.Config, known informers.SharedInformerFactory, kinds *gardenKinds,
) (*world.World, error) {
	counter, err := rejections()
	if err != nil {
		return nil, err
	}
	view, err := world.New(world.Access{
		Clock: c.Clock, Log: c.Log, Config: generic.LoopbackClientConfig, Authorizer: generic.Authorization.Authorizer,
		Informers: known, Groups: kinds.groups, Rejections: counter, Holdings: kinds.holdings,
	})
	if err != nil {
		return nil, fmt.Errorf("connect admission to the garden: %w", err)
	}
	return view, nil
}

// rejections returns the counter of rejected requests of this process.
func rejections() (*prometheus.CounterVec, error) {
	counter := world.NewRejections()
	err := legacyregistry.Registerer().Register(counter)
	if err == nil {
		return counter, nil
	}
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if counter, ok = there.ExistingCollector.(*prometheus.CounterVec); ok {
			return counter, nil
		}
	}
	return nil, fmt.Errorf("register metrics of admission: %w", err)
}

// gardenAdmission is the admission chain of the garden server.
func (c Config) gardenAdmission(view *world.World) *serveroptions.AdmissionOptions {
	o := serveroptions.NewAdmissionOptions()
	resourcequota.Register(o.Plugins)
	o.Decorators = append(o.Decorators, recounting(c.Clock))
	o.DefaultOffPlugins = sets.New(c.libraryRulesOff()...)
	order := append([]string{lifecycle.PluginName}, register(o.Plugins, always(c.GardenAdmission), view)...)
	o.RecommendedPluginOrder = append(order, mutatingpolicy.PluginName, mutatingwebhook.PluginName,
		validatingpolicy.PluginName, validatingwebhook.PluginName, resourcequota.PluginName)

	return o
}

// Asked returns the names of the enabled plugins for objects of the garden, and of those for all other objects, in the order
// in which they run (API-ADM-1).
func (c Config) Asked() (garden, kube []string) {
	library := options.NewOptions().Admission.GenericAdmission
	c.applyKubeAdmission(library, nil)

	return asked(c.gardenAdmission(nil)), asked(library)
}

func asked(o *serveroptions.AdmissionOptions) []string {
	return slices.DeleteFunc(slices.Clone(o.RecommendedPluginOrder), o.DefaultOffPlugins.Has)
}

// applyGardenAdmission sets the admission chain of the garden server: first the namespace lifecycle, then the garden's
// plugins, then the webhooks and policies of users, then quotas.
func (c *completed) applyGardenAdmission(into *genericapiserver.Config, parts *kubeParts) error {
	o := c.gardenAdmission(parts.world)
	kubeClient, err := kubernetes.NewForConfig(into.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("create client for admission: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(into.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("create dynamic client for admission: %w", err)
	}
	if err := o.ApplyTo(into, parts.config.VersionedInformers, kubeClient, dynamicClient, into.FeatureGate,
		into.EffectiveVersion, parts.initializers...); err != nil {
		return fmt.Errorf("build admission chain of the garden: %w", err)
	}

	// The kube server has already registered a hook of the same name.
	into.PostStartHooks["start-garden-admission-initializer"] = into.PostStartHooks[admissionHook]
	delete(into.PostStartHooks, admissionHook)

	return nil
}
