// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// reference is a field of an object that names another one.
type reference struct {
	path, kind string
	to         world.Target
	// readable references may only be made by who may read the object.
	readable bool
}

// introduced are the references that were not there before, wherever in the object they stand.
func introduced(now, before []reference) []reference {
	return slices.DeleteFunc(now, func(r reference) bool {
		return slices.ContainsFunc(before, func(was reference) bool { return was.kind == r.kind && was.to == r.to })
	})
}

// check looks at references and reports everything that is wrong with them.
func (r *rule) check(ctx context.Context, a admission.Attributes, references []reference) error {
	if len(references) == 0 {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		errs := make([]error, 0, len(references))
		for _, ref := range references {
			errs = append(errs, one(ctx, v, a, ref))
		}
		return errors.Join(errs...)
	})
}

func one(ctx context.Context, v world.View, a admission.Attributes, ref reference) error {
	name := ref.to.Name
	if ref.to.Namespace != "" {
		name = ref.to.Namespace + "/" + name
	}
	if ref.readable {
		allowed, err := v.May(ctx, a.GetUserInfo(), "get", ref.to)
		if err != nil {
			return err
		}
		if !allowed {
			return fmt.Errorf("%s: you may not read %s %q", ref.path, ref.kind, name)
		}
	}
	_, err := v.Metadata(ctx, ref.to)
	return world.Missing(err, ref.path, ref.kind, name)
}

// ofBinding lists what a SecretBinding refers to (API-RRM-1): who binds credentials must be able to read them.
func ofBinding(b *gardencorev1beta1.SecretBinding) []reference {
	all := []reference{{
		path: "secretRef", kind: "Secret", readable: true,
		to: world.Target{Version: "v1", Resource: "secrets", Namespace: b.SecretRef.Namespace, Name: b.SecretRef.Name},
	}}
	for i, q := range b.Quotas {
		all = append(all, reference{
			path: fmt.Sprintf("quotas[%d]", i), kind: "Quota", readable: true,
			to: garden("quotas", q.Namespace, q.Name),
		})
	}
	return all
}

// ofRegistration lists how an extension is deployed (API-RRM-12).
func ofRegistration(r *gardencorev1beta1.ControllerRegistration) []reference {
	if r.Spec.Deployment == nil {
		return nil
	}
	var all []reference
	for i, ref := range r.Spec.Deployment.DeploymentRefs {
		all = append(all, reference{
			path: fmt.Sprintf("spec.deployment.deploymentRefs[%d]", i), kind: "ControllerDeployment",
			to: garden("controllerdeployments", "", ref.Name),
		})
	}
	return all
}

// ofSeed lists the objects of the garden's own namespace that a Seed uses (API-RRM-6).
func ofSeed(s *gardencorev1beta1.Seed) []reference {
	return named(s.Spec.Resources, gardencorev1beta1.NamespaceGarden, false)
}

// ofShoot lists what a Shoot refers to in its project (API-RRM-3).
func ofShoot(s *gardencorev1beta1.Shoot) []reference {
	all := named(s.Spec.Resources, s.Namespace, true)
	if name := s.Spec.CredentialsBindingName; name != nil {
		all = append(all, reference{
			path: "spec.credentialsBindingName", kind: "CredentialsBinding",
			to: world.Target{
				Group: "security.gardener.cloud", Version: "v1alpha1", Resource: "credentialsbindings",
				Namespace: s.Namespace, Name: *name,
			},
		})
	}
	if name := s.Spec.ExposureClassName; name != nil {
		all = append(all, reference{path: "spec.exposureClassName", kind: "ExposureClass", to: garden("exposureclasses", "", *name)})
	}
	if s.Spec.DNS == nil {
		return all
	}
	for i, p := range s.Spec.DNS.Providers {
		name := p.SecretName
		if p.CredentialsRef != nil && p.CredentialsRef.Kind == "Secret" {
			name = &p.CredentialsRef.Name
		}
		if name == nil {
			continue
		}
		all = append(all, reference{
			path: fmt.Sprintf("spec.dns.providers[%d]", i), kind: "Secret",
			to: world.Target{Version: "v1", Resource: "secrets", Namespace: s.Namespace, Name: *name},
		})
	}
	return all
}

// named lists objects to which a name is given, so that provider configs can refer to them.
func named(all []gardencorev1beta1.NamedResourceReference, namespace string, readable bool) []reference {
	references := make([]reference, 0, len(all))
	for i, r := range all {
		version := schema.FromAPIVersionAndKind(r.ResourceRef.APIVersion, r.ResourceRef.Kind)
		plural, _ := meta.UnsafeGuessKindToResource(version)
		references = append(references, reference{
			path: fmt.Sprintf("spec.resources[%d]", i), kind: r.ResourceRef.Kind, readable: readable,
			to: world.Target{
				Group: plural.Group, Version: plural.Version, Resource: plural.Resource,
				Namespace: namespace, Name: r.ResourceRef.Name,
			},
		})
	}
	return references
}

func garden(resource, namespace, name string) world.Target {
	return world.Target{
		Group: gardencorev1beta1.GroupName, Version: gardencorev1beta1.GroupVersion.Version, Resource: resource,
		Namespace: namespace, Name: name,
	}
}
