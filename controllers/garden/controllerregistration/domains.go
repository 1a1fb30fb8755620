// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
)

// domains reads the domains from the metadata of Secrets in namespace garden.
func domains(ctx context.Context, reader client.Reader) ([]extensions.Domain, error) {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := reader.List(ctx, secrets, client.InNamespace(gardencorev1beta1.NamespaceGarden)); err != nil {
		return nil, fmt.Errorf("list domain secrets: %w", err)
	}
	var found []extensions.Domain
	for i := range secrets.Items {
		if secret := &secrets.Items[i]; ofDomain(secret) {
			found = append(found, extensions.Domain{
				Name:     secret.Annotations[gardencorev1beta1.AnnotationDNSDomain],
				Provider: secret.Annotations[gardencorev1beta1.AnnotationDNSProvider],
				Internal: secret.Labels[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleInternalDomain,
			})
		}
	}
	return found, nil
}

// ofDomain tells whether a Secret in namespace garden describes a domain.
func ofDomain(secret client.Object) bool {
	role := secret.GetLabels()[gardencorev1beta1.LabelRole]
	return secret.GetNamespace() == gardencorev1beta1.NamespaceGarden &&
		(role == gardencorev1beta1.RoleDefaultDomain || role == gardencorev1beta1.RoleInternalDomain)
}
