// SPDX-License-Identifier: Apache-2.0

package shootconfig

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// NewAuthentication returns the plugin for authenticators.
func NewAuthentication(w *world.World) admission.Interface {
	own := newTurn()
	return document{
		what: "authentication configuration", key: "config.yaml", reason: "AuthenticationConfiguration",
		path: inServer("structuredAuthentication", "configMapName"),
		name: func(s *gardencorev1beta1.KubeAPIServerConfig) string {
			if s.StructuredAuthentication == nil {
				return ""
			}
			return s.StructuredAuthentication.ConfigMapName
		},
		read: func(ctx context.Context, content string) (fits, error) { return authentication(ctx, own, content) },
		other: func(now, before *gardencorev1beta1.KubeAPIServerConfig) bool {
			return !equality.Semantic.DeepEqual(issuers(now), issuers(before)) ||
				!equality.Semantic.DeepEqual(now.EnableAnonymousAuthentication, before.EnableAnonymousAuthentication)
		},
	}.rule(w)
}

func authentication(ctx context.Context, t turn, content string) (fits, error) {
	kinds := runtime.NewScheme()
	install.Install(kinds)
	config := &apiserver.AuthenticationConfiguration{}
	decoder := serializer.NewCodecFactory(kinds, serializer.EnableStrict).UniversalDecoder()
	if err := runtime.DecodeInto(decoder, []byte(content), config); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var expressions []string
	for i := range config.JWT {
		expressions = append(expressions, expressionsOf(&config.JWT[i])...)
	}
	var errs []error
	if err := t.compiling(ctx, expressions, func() {
		errs = append(errs, validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), config, nil).ToAggregate())
	}); err != nil {
		return nil, err
	}
	for i, jwt := range config.JWT {
		if managed(jwt.Issuer.URL) {
			errs = append(errs, fmt.Errorf("jwt[%d].issuer.url: %q is an issuer that the garden manages for shoots", i, jwt.Issuer.URL))
		}
	}
	return func(s *gardencorev1beta1.KubeAPIServerConfig) error { return authenticates(config, s) }, errors.Join(errs...)
}

// authenticates returns an error if the configuration contradicts that of a shoot.
func authenticates(config *apiserver.AuthenticationConfiguration, s *gardencorev1beta1.KubeAPIServerConfig) error {
	var errs []error
	own := issuers(s)
	for i, jwt := range config.JWT {
		if slices.Contains(own, jwt.Issuer.URL) {
			errs = append(errs, fmt.Errorf("jwt[%d].issuer.url: %q is an issuer of the shoot's own service accounts", i, jwt.Issuer.URL))
		}
	}
	if config.Anonymous != nil && s.EnableAnonymousAuthentication != nil {
		errs = append(errs, fmt.Errorf("anonymous: the shoot already sets %s; set only one of them",
			inServer("enableAnonymousAuthentication")))
	}
	return errors.Join(errs...)
}

// expressionsOf returns the expressions of an authenticator.
func expressionsOf(jwt *apiserver.JWTAuthenticator) []string {
	mappings := &jwt.ClaimMappings
	all := []string{mappings.Username.Expression, mappings.Groups.Expression, mappings.UID.Expression}
	for _, extra := range mappings.Extra {
		all = append(all, extra.ValueExpression)
	}
	for _, rule := range jwt.ClaimValidationRules {
		all = append(all, rule.Expression)
	}
	for _, rule := range jwt.UserValidationRules {
		all = append(all, rule.Expression)
	}
	return slices.DeleteFunc(all, func(e string) bool { return e == "" })
}

// issuers returns the issuers of the shoot's own service accounts, which must not be trusted twice.
func issuers(s *gardencorev1beta1.KubeAPIServerConfig) []string {
	if s.ServiceAccountConfig == nil {
		return nil
	}
	all := append([]string{}, s.ServiceAccountConfig.AcceptedIssuers...)
	if s.ServiceAccountConfig.Issuer != nil {
		all = append(all, *s.ServiceAccountConfig.Issuer)
	}
	return all
}

// managed reports whether an issuer is one that a garden serves for a shoot, at any host name.
func managed(issuer string) bool {
	parsed, err := url.Parse(issuer)
	if err != nil {
		return false
	}
	is, err := path.Match("/projects/*/shoots/*/issuer", parsed.Path)
	return err == nil && is
}
