// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// project returns the name of the shoot's project. It is only needed, and only read, if the shoot has a domain.
func (r *Reconciler) project(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	if query.Domain(shoot.Spec.DNS) == "" {
		return "", nil
	}
	namespace := &corev1.Namespace{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: shoot.Namespace}, namespace, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("get namespace %q: %w", shoot.Namespace, err)
	}
	return namespace.Labels[gardencorev1beta1.LabelProjectName], nil
}

// domains returns the default domains of the garden, from the metadata of Secrets in namespace garden, as admission does. They are only
// needed, and only read, if the shoot has a domain.
func (r *Reconciler) domains(ctx context.Context, shoot *gardencorev1beta1.Shoot) ([]string, error) {
	if query.Domain(shoot.Spec.DNS) == "" {
		return nil, nil
	}
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := r.Client.List(ctx, secrets, client.UnsafeDisableDeepCopy, client.InNamespace(gardencorev1beta1.NamespaceGarden),
		client.MatchingLabels{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleDefaultDomain})
	if err != nil {
		return nil, fmt.Errorf("list default domains of the garden: %w", err)
	}
	var found []string
	for i := range secrets.Items {
		marks := secrets.Items[i].Annotations
		if domain := marks[gardencorev1beta1.AnnotationDNSDomain]; domain != "" && marks[gardencorev1beta1.AnnotationDNSProvider] != "" {
			found = append(found, domain)
		}
	}
	return found, nil
}
