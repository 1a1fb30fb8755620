// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/discovery"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	controlplane "k8s.io/kubernetes/pkg/controlplane/apiserver"
	admissionregistrationrest "k8s.io/kubernetes/pkg/registry/admissionregistration/rest"
	authenticationrest "k8s.io/kubernetes/pkg/registry/authentication/rest"
	authorizationrest "k8s.io/kubernetes/pkg/registry/authorization/rest"
	certificatesrest "k8s.io/kubernetes/pkg/registry/certificates/rest"
	coordinationrest "k8s.io/kubernetes/pkg/registry/coordination/rest"
	eventsrest "k8s.io/kubernetes/pkg/registry/events/rest"
	flowcontrolrest "k8s.io/kubernetes/pkg/registry/flowcontrol/rest"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/apiserver/audit"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootauthorizer"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

// kubeParts are the parts of the library that the servers of the chain share.
type kubeParts struct {
	config       *controlplane.Config
	resolver     aggregatorapiserver.ServiceResolver
	initializers []admission.PluginInitializer
	// kinds are those of the garden, world is what rules see of all.
	kinds *gardenKinds
	world *world.World
}

// kubeConfig configures the server of Kubernetes' own groups. The configurations of the other servers derive from it.
func (c *completed) kubeConfig() (*kubeParts, error) {
	parts, err := c.genericConfig()
	if err != nil {
		return nil, fmt.Errorf("configure control plane: %w", err)
	}
	generic, informers, client := parts.config, parts.informers, parts.client
	if c.Audit != nil {
		generic.AuditBackend = audit.New(c.Audit)
		if generic.AuditPolicyRuleEvaluator, err = audit.Policy(c.AuditPolicy); err != nil {
			return nil, err
		}
	}
	generic.SkipOpenAPIInstallation = true // See serveOpenAPI.
	generic.RESTOptionsGetter = c.encryption.stores.Getter(fresh.Getter(generic.RESTOptionsGetter, c.logs()))
	if err := c.seeds.apply(generic, informers, c.revoked.Authorizer()); err != nil {
		return nil, err
	}
	if c.office, err = c.revocations(generic); err != nil {
		return nil, err
	}
	kinds, err := c.gardenKinds(*generic, parts.sources)
	if err != nil {
		return nil, err
	}
	view, err := c.seeWorld(generic, informers, kinds)
	if err != nil {
		return nil, err
	}
	c.applyKubeAdmission(c.library.Admission.GenericAdmission, view)
	known, err := c.withCertificates(generic, generic.Authentication.Authenticator)
	if err != nil {
		return nil, err
	}
	generic.Authentication.Authenticator = withOpenPaths(shootauthorizer.WithIssued(c.revoked.Known(
		withNewTokens(known, client.CoreV1().Secrets(metav1.NamespaceSystem)), false)))
	// It records since when tokens without expiration are tracked. A garden has never issued any.
	generic.DisabledPostStartHooks.Insert("start-legacy-token-tracking-controller")
	for _, check := range c.ReadyChecks {
		generic.AddReadyzChecks(healthz.NamedCheck(check.Name, func(*http.Request) error { return check.Check() }))
	}

	resolver := webhook.NewDefaultServiceResolver()
	config, initializers, err := controlplane.CreateConfig(c.library, generic, informers, parts.storage, resolver, nil)
	if err != nil {
		return nil, fmt.Errorf("configure kube server: %w", err)
	}

	return &kubeParts{config: config, resolver: resolver, initializers: initializers, kinds: kinds, world: view}, nil
}

// newKube builds the server of Kubernetes' own groups, and adds their stores to the sources.
func newKube(
	config controlplane.CompletedConfig, stores sources, shut *revoked.Set, next genericapiserver.DelegationTarget,
) (*controlplane.Server, error) {
	server, err := config.New("terrarium", next)
	if err != nil {
		return nil, fmt.Errorf("build kube server: %w", err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(config.Generic.LoopbackClientConfig)
	if err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	if err := server.InstallAPIs(stores.record(kubeGroups(config, shut, client))...); err != nil {
		return nil, fmt.Errorf("install groups of Kubernetes: %w", err)
	}
	serveOpenAPI(server.GenericAPIServer, config.Generic.Config)

	if err := server.GenericAPIServer.AddPostStartHook(policyHook, ensurePolicy); err != nil {
		return nil, fmt.Errorf("add hook %q: %w", policyHook, err)
	}

	return server, nil
}

// withoutHook removes the post-start hook of a group.
type withoutHook struct {
	controlplane.RESTStorageProvider
}

// kubeGroups lists Kubernetes' own groups in the order of discovery: the generic control plane's, without storage
// migration and storage versions.
func kubeGroups(c controlplane.CompletedConfig, shut *revoked.Set, client discovery.DiscoveryInterface) []controlplane.RESTStorageProvider {
	authentication, authorization := c.Generic.Authentication, c.Generic.Authorization

	return []controlplane.RESTStorageProvider{
		c.NewCoreGenericConfig(),
		authenticationrest.RESTStorageProvider{
			Authenticator: shut.Known(authentication.Authenticator, true),
			APIAudiences:  authentication.APIAudiences,
		},
		authorizationrest.RESTStorageProvider{Authorizer: authorization.Authorizer, RuleResolver: c.Generic.RuleResolver},
		certificatesrest.RESTStorageProvider{Authorizer: authorization.Authorizer},
		leases{coordinationrest.RESTStorageProvider{}},
		// Its own hook waits for a second before it creates the roles; see policyHook.
		withoutHook{rbacrest.RESTStorageProvider{Authorizer: authorization.Authorizer}},
		flowcontrolrest.RESTStorageProvider{InformerFactory: c.Generic.SharedInformerFactory},
		admissionregistrationrest.RESTStorageProvider{Authorizer: authorization.Authorizer, DiscoveryClient: client},
		eventsrest.RESTStorageProvider{TTL: c.EventTTL},
	}
}
