// SPDX-License-Identifier: Apache-2.0

// Package managedseed checks whether the Shoot of a ManagedSeed can become a seed, and derives fields of the Seed from it
// (API-MS-1 to 3).
package managedseed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type (
	managedSeed = gardenseedmanagementv1alpha1.ManagedSeed
	shoot       = gardencorev1beta1.Shoot
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// Admit sets the fields of the Seed that are derived from its Shoot.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	m := asked(a)
	if m == nil {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		s, err := fitting(ctx, v, m, a.GetOperation() == admission.Create)
		if err != nil {
			return err
		}
		t, err := templateOf(m)
		if err != nil {
			return err
		}
		service, err := dnsService(ctx, v, s)
		if err != nil {
			return err
		}
		complete(&t.seed.Spec, s, service)
		seedLabels(m, s)
		return t.write()
	})
}

// Validate rejects a Seed that contradicts its Shoot.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	m := asked(a)
	if m == nil {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		s, err := fitting(ctx, v, m, a.GetOperation() == admission.Create)
		if err != nil {
			return err
		}
		t, err := templateOf(m)
		if err != nil {
			return err
		}
		errs := differences(&t.seed.Spec, s, t.path)
		if old, ok := a.GetOldObject().(*managedSeed); ok {
			missed, err := lost(ctx, v, old, &t.seed.Spec, t.path)
			if err != nil {
				return err
			}
			errs = append(errs, missed...)
		}
		if len(errs) > 0 {
			return &world.InvalidError{Errors: errs}
		}
		return nil
	})
}

// asked returns the ManagedSeed of a request if it has to be checked. One in deletion is accepted, so that its finalizer can
// always be removed, and one without a shoot is rejected by static validation.
func asked(a admission.Attributes) *managedSeed {
	m, ok := a.GetObject().(*managedSeed)
	if !ok || a.GetSubresource() != "" || m.DeletionTimestamp != nil || m.Spec.Shoot == nil || m.Spec.Shoot.Name == "" ||
		m.Spec.Gardenlet == nil && m.Spec.SeedTemplate == nil {
		return nil
	}
	return m
}

// fitting returns the Shoot, which must be able to become a seed (API-MS-1). An existing ManagedSeed keeps its shoot.
func fitting(ctx context.Context, v world.View, m *managedSeed, isNew bool) (*shoot, error) {
	if m.Namespace != gardencorev1beta1.NamespaceGarden {
		return nil, world.Invalid(field.NewPath("metadata", "namespace"), m.Namespace,
			fmt.Sprintf("only shoots in namespace %q can become seeds", gardencorev1beta1.NamespaceGarden))
	}
	name := m.Spec.Shoot.Name
	s, err := v.Shoot(ctx, m.Namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, world.Invalid(shootName(), name, fmt.Sprintf("there is no shoot %q in namespace %q", name, m.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("spec.shoot.name: read shoot %q: %w", name, err)
	}
	if err := able(s); err != nil {
		return nil, world.Invalid(shootName(), name, "the shoot cannot become a seed: "+err.Error())
	}
	if !isNew {
		return s, nil
	}
	return s, alone(ctx, v.Fresh(), m)
}

func shootName() *field.Path { return field.NewPath("spec", "shoot", "name") }

// seedLabels labels a ManagedSeed with the seed that runs its shoot and with the one that the shoot becomes, so that
// gardenlets can select it; labels of other seeds are removed.
func seedLabels(m *managedSeed, s *shoot) {
	maps.DeleteFunc(m.Labels, func(key, _ string) bool { return strings.HasPrefix(key, gardencorev1beta1.LabelPrefixSeedName) })
	for _, seed := range []*string{s.Spec.SeedName, &m.Name} {
		if seed != nil && *seed != "" {
			metav1.SetMetaDataLabel(&m.ObjectMeta, gardencorev1beta1.LabelPrefixSeedName+*seed, "true")
		}
	}
}

// able returns an error if control planes cannot run in a shoot.
func able(s *shoot) error {
	var errs []error
	if domain(s) == "" {
		errs = append(errs, errors.New("it has no domain in spec.dns.domain"))
	}
	if query.NginxIngress(&s.Spec) != nil {
		errs = append(errs, errors.New("it has the addon nginxIngress, and a seed has its own ingress controller"))
	}
	if vpa := s.Spec.Kubernetes.VerticalPodAutoscaler; vpa == nil || !vpa.Enabled {
		errs = append(errs, errors.New("it has no vertical pod autoscaler; enable spec.kubernetes.verticalPodAutoscaler"))
	}
	if query.Workerless(&s.Spec) {
		errs = append(errs, errors.New("it has no worker nodes to run control planes on; add a pool to spec.provider.workers"))
	}
	return errors.Join(errs...)
}

// alone rejects a second ManagedSeed for a Shoot. The view must be fresh: the cached one may lack the first.
func alone(ctx context.Context, v world.View, m *managedSeed) error {
	list, err := world.List[gardenseedmanagementv1alpha1.ManagedSeedList](ctx, v, world.Place{
		Group: gardenseedmanagementv1alpha1.GroupName, Resource: "managedseeds", Namespace: m.Namespace,
	}, fields.OneTermEqualSelector(gardenseedmanagementv1alpha1.FieldManagedSeedShootName, m.Spec.Shoot.Name))
	if err != nil {
		return fmt.Errorf("list managed seeds: %w", err)
	}
	for i := range list.Items {
		if other := list.Items[i].Name; other != m.Name {
			return world.Invalid(shootName(), m.Spec.Shoot.Name, fmt.Sprintf("the shoot is already the seed of ManagedSeed %q", other))
		}
	}
	return nil
}

func domain(s *shoot) string {
	if s.Spec.DNS == nil || s.Spec.DNS.Domain == nil {
		return ""
	}
	return *s.Spec.DNS.Domain
}
