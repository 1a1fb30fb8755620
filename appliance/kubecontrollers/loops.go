// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/bootstrap"
	"k8s.io/kubernetes/pkg/controller/certificates/cleaner"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/certificates/signer"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	tokens "k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/terrarium-garden/terrarium/appliance/apiserver/tokenkeys"
)

// Workers of the loops. A garden has fewer objects than a cluster with pods, so most loops need one.
const (
	namespaceWorkers = 5
	ownerWorkers     = 5
	signerWorkers    = 2
	quotaWorkers     = 2
	otherWorkers     = 1
)

// loop is one controller of the library. run returns when ctx has ended and its workers are done.
type loop struct {
	name string
	run  func(ctx context.Context)
}

// maker creates one or more loops. The library binds event recorders to ctx.
type maker func(ctx context.Context, c Config, from *clients) ([]loop, error)

// makers returns the makers of all loops.
func makers() []maker {
	return []maker{
		namespaceLoop,
		garbageCollectorLoops,
		quotaLoops,
		serviceAccountLoop,
		serviceAccountTokenLoop,
		rootCALoop,
		signerLoops,
		requestCleanerLoop,
		tokenCleanerLoop,
		roleAggregationLoop,
	}
}

func namespaceLoop(ctx context.Context, c Config, from *clients) ([]loop, error) {
	l := namespace.NewNamespaceController(ctx, from.kube, from.metadata, from.discovery.ServerPreferredNamespacedResources,
		from.informers.Core().V1().Namespaces(), c.Resync, corev1.FinalizerKubernetes)

	return []loop{{"namespace", func(ctx context.Context) { l.Run(ctx, namespaceWorkers) }}}, nil
}

// garbageCollectorLoops delete objects whose owners no longer exist.
func garbageCollectorLoops(ctx context.Context, c Config, from *clients) ([]loop, error) {
	l, err := garbagecollector.NewGarbageCollector(ctx, from.kube, from.metadata, from.mapper,
		garbagecollector.DefaultIgnoredResources(), from.both, from.started)
	if err != nil {
		return nil, fmt.Errorf("make garbage collector: %w", err)
	}

	return []loop{
		{"garbage-collector", func(ctx context.Context) { l.Run(ctx, ownerWorkers, c.Discovery) }},
		{"garbage-collector-discovery", func(ctx context.Context) { l.Sync(ctx, from.discovery, c.Discovery) }},
	}, nil
}

func serviceAccountLoop(ctx context.Context, _ Config, from *clients) ([]loop, error) {
	l, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), from.informers.Core().V1().ServiceAccounts(), //nolint:forbidigo // The library asks for this logger.
		from.informers.Core().V1().Namespaces(), from.kube, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, fmt.Errorf("make service account loop: %w", err)
	}

	return []loop{{"service-account", func(ctx context.Context) { l.Run(ctx, otherWorkers) }}}, nil
}

// serviceAccountTokenLoop writes the tokens into Secrets of type service-account-token.
func serviceAccountTokenLoop(ctx context.Context, c Config, from *clients) ([]loop, error) {
	return publishing(c, "service-account-token", func(bundle []byte) (runnable, error) {
		return serviceaccount.NewTokensController(klog.FromContext(ctx), from.informers.Core().V1().ServiceAccounts(), //nolint:forbidigo // The library asks for this logger.
			from.informers.Core().V1().Secrets(), from.kube, serviceaccount.TokensControllerOptions{
				TokenGenerator: tokenkeys.NewSigner(tokens.LegacyIssuer, c.Identity.ServiceAccount.Keys),
				RootCA:         bundle,
			})
	})
}

// rootCALoop maintains the ConfigMap kube-root-ca.crt in every namespace.
func rootCALoop(_ context.Context, c Config, from *clients) ([]loop, error) {
	return publishing(c, "root-ca-publisher", func(bundle []byte) (runnable, error) {
		return rootcacertpublisher.NewPublisher(from.informers.Core().V1().ConfigMaps(), from.informers.Core().V1().Namespaces(), from.kube, bundle)
	})
}

// signerLoops sign approved requests for client certificates with the client CA. There are no signers for kubelets, because a
// garden has none, and requests for them must not be signed.
func signerLoops(ctx context.Context, c Config, from *clients) ([]loop, error) {
	l, err := signer.NewKubeAPIServerClientCSRSigningController(ctx, from.kube,
		from.informers.Certificates().V1().CertificateSigningRequests(),
		c.Identity.Authorities.ClientSignerFile(), c.Identity.Authorities.ClientSignerFile(), c.CertificateLifetime)
	if err != nil {
		return nil, fmt.Errorf("make signer of client certificates: %w", err)
	}

	return []loop{{"client-certificate-signer", func(ctx context.Context) { l.Run(ctx, signerWorkers) }}}, nil
}

// requestCleanerLoop deletes old certificate signing requests.
func requestCleanerLoop(_ context.Context, _ Config, from *clients) ([]loop, error) {
	l := cleaner.NewCSRCleanerController(from.kube.CertificatesV1().CertificateSigningRequests(),
		from.informers.Certificates().V1().CertificateSigningRequests())

	return []loop{{"certificate-request-cleaner", func(ctx context.Context) { l.Run(ctx, otherWorkers) }}}, nil
}

// tokenCleanerLoop deletes expired bootstrap tokens.
func tokenCleanerLoop(_ context.Context, _ Config, from *clients) ([]loop, error) {
	l, err := bootstrap.NewTokenCleaner(from.kube, from.informers.Core().V1().Secrets(),
		bootstrap.DefaultTokenCleanerOptions())
	if err != nil {
		return nil, fmt.Errorf("make bootstrap token cleaner: %w", err)
	}

	return []loop{{"bootstrap-token-cleaner", l.Run}}, nil
}

func roleAggregationLoop(_ context.Context, _ Config, from *clients) ([]loop, error) {
	l := clusterroleaggregation.NewClusterRoleAggregation(from.informers.Rbac().V1().ClusterRoles(), from.kube.RbacV1())

	return []loop{{"cluster-role-aggregation", func(ctx context.Context) { l.Run(ctx, otherWorkers) }}}, nil
}
