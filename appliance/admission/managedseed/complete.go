// SPDX-License-Identifier: Apache-2.0

package managedseed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	// ingressPrefix and the domain of a shoot make the domain of the seed's ingress.
	ingressPrefix = "ingress."
	nginx         = "nginx"
)

// complete sets fields without a value that are derived from the Shoot (API-MS-2).
func complete(seed *gardencorev1beta1.SeedSpec, s *shoot, service *gardencorev1beta1.SeedDNSProvider) {
	set(&seed.Provider.Type, s.Spec.Provider.Type)
	set(&seed.Provider.Region, s.Spec.Region)
	if len(seed.Provider.Zones) == 0 {
		seed.Provider.Zones = query.Zones(&s.Spec)
	}
	if seed.Backup != nil {
		set(&seed.Backup.Provider, s.Spec.Provider.Type)
	}
	if seed.DNS.Provider == nil {
		seed.DNS.Provider = service
	}
	if seed.Ingress == nil {
		seed.Ingress = &gardencorev1beta1.Ingress{}
	}
	set(&seed.Ingress.Domain, ingressPrefix+domain(s))
	set(&seed.Ingress.Controller.Kind, nginx)
	if n := s.Spec.Networking; n != nil {
		setFrom(&seed.Networks.Pods, n.Pods)
		setFrom(&seed.Networks.Services, n.Services)
		if seed.Networks.Nodes == nil && n.Nodes != nil {
			seed.Networks.Nodes = new(*n.Nodes)
		}
	}
	if seed.Settings == nil {
		seed.Settings = &gardencorev1beta1.SeedSettings{}
	}
	if seed.Settings.VerticalPodAutoscaler == nil {
		seed.Settings.VerticalPodAutoscaler = &gardencorev1beta1.SeedSettingVerticalPodAutoscaler{Enabled: false}
	}
}

func set(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

func setFrom(field, value *string) {
	if value != nil {
		set(field, *value)
	}
}

// dnsService returns the DNS service that hosts the domain of a shoot: its own one, or that of the default domain; nil if
// neither is known.
func dnsService(ctx context.Context, v world.View, s *shoot) (*gardencorev1beta1.SeedDNSProvider, error) {
	i := slices.IndexFunc(s.Spec.DNS.Providers, func(p gardencorev1beta1.DNSProvider) bool {
		return p.Primary != nil && *p.Primary && p.Type != nil && *p.Type != gardencorev1beta1.DNSProviderUnmanaged
	})
	if i >= 0 {
		p := s.Spec.DNS.Providers[i]
		ref := credentials(p, s.Namespace)
		if ref == nil {
			var err error
			if ref, err = bound(ctx, v, s); err != nil {
				return nil, err
			}
		}
		return &gardencorev1beta1.SeedDNSProvider{Type: *p.Type, CredentialsRef: ref}, nil
	}
	defaults := labels.SelectorFromSet(labels.Set{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleDefaultDomain})
	secrets, err := v.Secrets(ctx, gardencorev1beta1.NamespaceGarden, defaults)
	if err != nil {
		return nil, fmt.Errorf("list default domains: %w", err)
	}
	for i := range secrets {
		provider, above := secrets[i].Annotations[gardencorev1beta1.AnnotationDNSProvider], secrets[i].Annotations[gardencorev1beta1.AnnotationDNSDomain]
		if provider != "" && above != "" && strings.HasSuffix(domain(s), "."+above) {
			return &gardencorev1beta1.SeedDNSProvider{Type: provider, CredentialsRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "Secret", Namespace: secrets[i].Namespace, Name: secrets[i].Name,
			}}, nil
		}
	}
	return nil, nil //nolint:nilnil // A DNS service is optional.
}

// bound returns the credentials of a shoot's binding, which a DNS provider without its own credentials uses as well; nil if
// they are not known yet.
func bound(ctx context.Context, v world.View, s *shoot) (*corev1.ObjectReference, error) {
	if name := s.Spec.SecretBindingName; name != nil {
		binding, err := v.SecretBinding(ctx, s.Namespace, *name)
		if err != nil {
			return nil, world.Missing(err, "spec.secretBindingName of the shoot", "SecretBinding", *name)
		}
		return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: binding.SecretRef.Namespace, Name: binding.SecretRef.Name}, nil
	}
	name := s.Spec.CredentialsBindingName
	if name == nil {
		return nil, nil //nolint:nilnil // Static validation rejects missing credentials.
	}
	binding, err := world.Get[gardensecurityv1alpha1.CredentialsBinding](ctx, v, world.Place{
		Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings", Namespace: s.Namespace, Name: *name,
	})
	if err != nil {
		return nil, world.Missing(err, "spec.credentialsBindingName of the shoot", "CredentialsBinding", *name)
	}
	return binding.CredentialsRef.DeepCopy(), nil
}

func credentials(p gardencorev1beta1.DNSProvider, namespace string) *corev1.ObjectReference {
	switch {
	case p.CredentialsRef != nil:
		return &corev1.ObjectReference{
			APIVersion: p.CredentialsRef.APIVersion, Kind: p.CredentialsRef.Kind, Namespace: namespace, Name: p.CredentialsRef.Name,
		}
	case p.SecretName != nil:
		return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: *p.SecretName}
	default:
		return nil
	}
}
