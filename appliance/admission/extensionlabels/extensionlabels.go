// SPDX-License-Identifier: Apache-2.0

// Package extensionlabels keeps labels on objects that name the extensions they need, so that whoever serves an
// extension finds its users (API-EXTLAB-1, 2).
package extensionlabels

import (
	"context"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// prefixes are those of the labels that belong to this rule: whatever else users put there goes.
func prefixes() []string {
	return []string{
		gardencorev1beta1.LabelPrefixProviderExtension,
		gardencorev1beta1.LabelPrefixExtensionType,
		gardencorev1beta1.LabelPrefixDNSRecordExtension,
		gardencorev1beta1.LabelPrefixNetworkingExtension,
		gardencorev1beta1.LabelPrefixOperatingSystemConfigExtension,
		gardencorev1beta1.LabelPrefixContainerRuntimeExtension,
		prefixSelfHostedShootExposure,
	}
}

const prefixSelfHostedShootExposure = "selfhostedshootexposure.extensions.gardener.cloud/"

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.MutationInterface = &rule{}

// Admit puts the labels on. What an object needs by way of another one that cannot be found is left out: that the other
// exists is not this rule's to say.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	used, known, err := users{view: r.world.Cached()}.of(ctx, a.GetObject())
	switch {
	case !known:
		return nil
	case err != nil && !apierrors.IsNotFound(err):
		return world.Answer(a, fmt.Errorf("find extensions of the object: %w", err))
	}
	accessor, err := meta.Accessor(a.GetObject())
	if err != nil {
		return world.Answer(a, fmt.Errorf("look at the object: %w", err))
	}
	labels := maps.Clone(accessor.GetLabels())
	for _, prefix := range prefixes() {
		maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, prefix) })
	}
	if labels == nil {
		labels = map[string]string{}
	}
	for key := range used {
		labels[key] = "true"
	}
	if len(labels) > 0 || len(accessor.GetLabels()) > 0 {
		accessor.SetLabels(labels)
	}
	return nil
}
