// SPDX-License-Identifier: Apache-2.0

package shootconfig

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/load"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// NewAuthorization returns the plugin for authorizers.
func NewAuthorization(w *world.World) admission.Interface {
	own := newTurn()
	return document{
		what: "authorization configuration", key: "config.yaml", reason: "AuthorizationConfiguration",
		path: inServer("structuredAuthorization", "configMapName"),
		name: func(s *gardencorev1beta1.KubeAPIServerConfig) string {
			if s.StructuredAuthorization == nil {
				return ""
			}
			return s.StructuredAuthorization.ConfigMapName
		},
		read: func(ctx context.Context, content string) (fits, error) { return authorization(ctx, own, content) },
		other: func(now, before *gardencorev1beta1.KubeAPIServerConfig) bool {
			return !equality.Semantic.DeepEqual(now.StructuredAuthorization, before.StructuredAuthorization)
		},
	}.rule(w)
}

func authorization(ctx context.Context, t turn, content string) (fits, error) {
	config, err := load.LoadFromData([]byte(content))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var expressions []string
	for _, authorizer := range config.Authorizers {
		if authorizer.Webhook == nil {
			continue
		}
		for _, condition := range authorizer.Webhook.MatchConditions {
			expressions = append(expressions, condition.Expression)
		}
	}
	var errs []error
	if err := t.compiling(ctx, expressions, func() {
		webhook := sets.New(string(apiserver.TypeWebhook))
		errs = append(errs, validation.ValidateAuthorizationConfiguration(authorizationcel.NewDefaultCompiler(), nil, config, webhook, webhook).ToAggregate())
	}); err != nil {
		return nil, err
	}
	for i, authorizer := range config.Authorizers {
		if authorizer.Type != apiserver.TypeWebhook {
			errs = append(errs, fmt.Errorf("authorizers[%d].type: only %s can be added; the others exist already", i, apiserver.TypeWebhook))
			continue
		}
		if c := authorizer.Webhook; c != nil && c.ConnectionInfo.Type != apiserver.AuthorizationWebhookConnectionInfoTypeInCluster {
			errs = append(errs, fmt.Errorf("authorizers[%d].webhook.connectionInfo.type: must be %s; the kubeconfig is taken from a Secret",
				i, apiserver.AuthorizationWebhookConnectionInfoTypeInCluster))
		}
	}
	return func(s *gardencorev1beta1.KubeAPIServerConfig) error {
		return errors.Join(kubeconfigs(config.Authorizers, s)...)
	}, errors.Join(errs...)
}

// kubeconfigs checks that the Shoot names a Secret for each authorizer, and no others.
func kubeconfigs(all []apiserver.AuthorizerConfiguration, s *gardencorev1beta1.KubeAPIServerConfig) []error {
	var errs []error
	var given []gardencorev1beta1.AuthorizerKubeconfigReference
	if s.StructuredAuthorization != nil {
		given = s.StructuredAuthorization.Kubeconfigs
	}
	for i, authorizer := range all {
		if !slices.ContainsFunc(given, func(k gardencorev1beta1.AuthorizerKubeconfigReference) bool {
			return k.AuthorizerName == authorizer.Name
		}) {
			errs = append(errs, fmt.Errorf("authorizers[%d]: %s has no Secret with a kubeconfig for %q",
				i, inServer("structuredAuthorization", "kubeconfigs"), authorizer.Name))
		}
	}
	for i, k := range given {
		if !slices.ContainsFunc(all, func(a apiserver.AuthorizerConfiguration) bool { return a.Name == k.AuthorizerName }) {
			errs = append(errs, fmt.Errorf("%s[%d]: there is no authorizer %q in the configuration",
				inServer("structuredAuthorization", "kubeconfigs"), i, k.AuthorizerName))
		}
	}
	return errs
}
