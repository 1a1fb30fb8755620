// SPDX-License-Identifier: Apache-2.0

package shootconfig

import (
	"errors"
	"fmt"
	"net/url"
	"path"

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
	return document{
		what: "authentication configuration", key: "config.yaml", reason: "AuthenticationConfiguration",
		path: inServer("structuredAuthentication", "configMapName"),
		name: func(s *gardencorev1beta1.KubeAPIServerConfig) string {
			if s.StructuredAuthentication == nil {
				return ""
			}
			return s.StructuredAuthentication.ConfigMapName
		},
		wrong: authentication,
		other: func(now, before *gardencorev1beta1.KubeAPIServerConfig) bool {
			return !equality.Semantic.DeepEqual(issuers(now), issuers(before)) ||
				!equality.Semantic.DeepEqual(now.EnableAnonymousAuthentication, before.EnableAnonymousAuthentication)
		},
	}.rule(w)
}

func authentication(content string, s *gardencorev1beta1.KubeAPIServerConfig) error {
	kinds := runtime.NewScheme()
	install.Install(kinds)
	config := &apiserver.AuthenticationConfiguration{}
	decoder := serializer.NewCodecFactory(kinds, serializer.EnableStrict).UniversalDecoder()
	if err := runtime.DecodeInto(decoder, []byte(content), config); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	errs := []error{
		validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), config, issuers(s)).ToAggregate(),
	}
	for i, jwt := range config.JWT {
		if managed(jwt.Issuer.URL) {
			errs = append(errs, fmt.Errorf("jwt[%d].issuer.url: %q is an issuer that the garden manages for shoots", i, jwt.Issuer.URL))
		}
	}
	if config.Anonymous != nil && s.EnableAnonymousAuthentication != nil {
		errs = append(errs, fmt.Errorf("anonymous: the shoot already sets %s; set only one of them",
			inServer("enableAnonymousAuthentication")))
	}
	return errors.Join(errs...)
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
