// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// quotaName is the name of the ResourceQuota in a project namespace.
const quotaName = "gardener"

// ensureQuota creates or updates the ResourceQuota of the project's namespace (GCM-PROJECT-6).
func (r *Reconciler) ensureQuota(ctx context.Context, s *scope) (kit.Outcome, error) {
	config, err := MatchQuota(r.Config.Quotas, s.project)
	if err != nil || config == nil {
		return kit.Continue(), err
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace(), Name: quotaName}}
	_, err = kit.Ensure(ctx, r.Client, quota, func() error {
		MergeQuota(quota, config)
		return controllerutil.SetControllerReference(s.project, quota, r.Client.Scheme())
	})
	return kit.Continue(), err
}

// MatchQuota returns the first quota whose selector matches the project, or nil.
func MatchQuota(quotas []gardenconfigv1alpha1.QuotaConfiguration, project *gardencorev1beta1.Project) (*corev1.ResourceQuota, error) {
	for i := range quotas {
		if quotas[i].ProjectSelector == nil {
			return &quotas[i].Config, nil
		}
		selector, err := metav1.LabelSelectorAsSelector(quotas[i].ProjectSelector)
		if err != nil {
			return nil, fmt.Errorf("read project selector of quota %d: %w", i, err)
		}
		if selector.Matches(labels.Set(project.Labels)) {
			return &quotas[i].Config, nil
		}
	}
	return nil, nil //nolint:nilnil // A project may have no quota.
}

// MergeQuota limits exactly the configured resources. A value that is already set stays, because operators raise it for single
// projects.
func MergeQuota(quota, config *corev1.ResourceQuota) {
	former := quota.Annotations
	quota.Labels = merged(quota.Labels, config.Labels)
	quota.Annotations = merged(quota.Annotations, config.Annotations)
	// Numbers per shoot that the quota was raised for stay. It would be raised again and again if they were set back.
	for _, number := range []string{gardencorev1beta1.AnnotationQuotaConfigMapsPerShoot, gardencorev1beta1.AnnotationQuotaSecretsPerShoot} {
		if have, found := former[number]; found {
			quota.Annotations[number] = have
		}
	}
	hard := make(corev1.ResourceList, len(config.Spec.Hard))
	for name, value := range config.Spec.Hard {
		hard[name] = value
		if have, found := quota.Spec.Hard[name]; found {
			hard[name] = have
		}
	}
	quota.Spec.Hard = hard
}

func merged(have, config map[string]string) map[string]string {
	if len(config) == 0 {
		return have
	}
	result := maps.Clone(have)
	if result == nil {
		result = make(map[string]string, len(config))
	}
	maps.Copy(result, config)
	return result
}
