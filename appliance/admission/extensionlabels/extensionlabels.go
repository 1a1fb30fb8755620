// SPDX-License-Identifier: Apache-2.0

// Package extensionlabels labels objects with the extensions they need, so that extensions can select the objects that use
// them (API-EXTLAB-1, 2).
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

// prefixes are the prefixes of the labels that this plugin sets; other labels with them are removed.
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

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.MutationInterface = &rule{}

// Admit sets the labels. Needs that follow from another object are omitted if that object cannot be found; another plugin
// checks that it exists.
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
		return world.Answer(a, fmt.Errorf("access metadata of the object: %w", err))
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
