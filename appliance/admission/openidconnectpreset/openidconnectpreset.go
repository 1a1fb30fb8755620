// SPDX-License-Identifier: Apache-2.0

// Package openidconnectpreset copies the settings of a preset into new Shoots without OpenID Connect settings: from a preset
// in their namespace, or else from one for many projects (API-OIDC-1, 2).
package openidconnectpreset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// preset is a preset of either kind.
type preset struct {
	name string
	spec *gardensettingsv1alpha1.OpenIDConnectPresetSpec
}

type rule struct {
	*admission.Handler

	world *world.World
	// presets lists the presets for the shoots of a namespace.
	presets func(ctx context.Context, v world.View, namespace string) ([]preset, error)
}

// New returns the plugin for the presets of a namespace.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create), world: w, presets: ofNamespace}
}

// NewCluster returns the plugin for the presets for many projects. It has to run after the other one.
func NewCluster(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create), world: w, presets: ofProject}
}

var _ admission.MutationInterface = &rule{}

// Admit copies the settings of the matching preset with the highest weight.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || shoot.DeletionTimestamp != nil || !open(shoot) {
		return nil
	}
	all, err := r.presets(ctx, r.world.Cached(), shoot.Namespace)
	if err != nil {
		return world.Answer(a, err)
	}
	fitting := slices.DeleteFunc(all, func(p preset) bool { return !matches(p.spec.ShootSelector, shoot.Labels) })
	if len(fitting) == 0 {
		return nil
	}
	best := slices.MaxFunc(fitting, func(p, q preset) int {
		return cmp.Or(cmp.Compare(p.spec.Weight, q.spec.Weight), cmp.Compare(p.name, q.name))
	})
	apply(best.spec, shoot)
	return nil
}

// open reports whether a shoot has no OpenID Connect settings, in either of the two fields.
func open(s *gardencorev1beta1.Shoot) bool {
	server := s.Spec.Kubernetes.KubeAPIServer
	return server == nil || server.OIDCConfig == nil && server.StructuredAuthentication == nil
}

func ofNamespace(ctx context.Context, v world.View, namespace string) ([]preset, error) {
	list, err := world.List[gardensettingsv1alpha1.OpenIDConnectPresetList](ctx, v, world.Place{
		Group: gardensettingsv1alpha1.GroupName, Resource: "openidconnectpresets", Namespace: namespace,
	}, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list OpenID Connect presets of namespace %q: %w", namespace, err)
	}
	all := make([]preset, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, preset{name: list.Items[i].Name, spec: &list.Items[i].Spec})
	}
	return all, nil
}

// ofProject lists the presets for a project, which has to be ready.
func ofProject(ctx context.Context, v world.View, namespace string) ([]preset, error) {
	project, err := v.ProjectOf(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("find the project of namespace %q: %w", namespace, err)
	}
	if project == nil || project.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
		return nil, nil
	}
	list, err := world.List[gardensettingsv1alpha1.ClusterOpenIDConnectPresetList](ctx, v, world.Place{
		Group: gardensettingsv1alpha1.GroupName, Resource: "clusteropenidconnectpresets",
	}, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list OpenID Connect presets of all projects: %w", err)
	}
	var all []preset
	for i := range list.Items {
		if matches(list.Items[i].Spec.ProjectSelector, project.Labels) {
			all = append(all, preset{name: list.Items[i].Name, spec: &list.Items[i].Spec.OpenIDConnectPresetSpec})
		}
	}
	return all, nil
}

// matches reports whether a selector selects an object. A nil selector selects all objects; an invalid one, which static
// validation rejects, selects none.
func matches(s *metav1.LabelSelector, of map[string]string) bool {
	if s == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(of))
}

func apply(p *gardensettingsv1alpha1.OpenIDConnectPresetSpec, to *gardencorev1beta1.Shoot) {
	if to.Spec.Kubernetes.KubeAPIServer == nil {
		to.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{}
	}
	s := p.Server.DeepCopy()
	config := &gardencorev1beta1.OIDCConfig{
		CABundle:       s.CABundle,
		ClientID:       &s.ClientID,
		GroupsClaim:    s.GroupsClaim,
		GroupsPrefix:   s.GroupsPrefix,
		IssuerURL:      &s.IssuerURL,
		RequiredClaims: s.RequiredClaims,
		SigningAlgs:    s.SigningAlgs,
		UsernameClaim:  s.UsernameClaim,
		UsernamePrefix: s.UsernamePrefix,
	}
	if p.Client != nil {
		config.ClientAuthentication = &gardencorev1beta1.OpenIDConnectClientAuthentication{
			Secret: p.Client.DeepCopy().Secret, ExtraConfig: maps.Clone(p.Client.ExtraConfig),
		}
	}
	to.Spec.Kubernetes.KubeAPIServer.OIDCConfig = config
}
