// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// definitionPage is how many definitions are read at once, because some are large.
	definitionPage = 25
	// manyConverted is how many definitions are enough for a finding.
	manyConverted = 50
)

// insideOf reads from a shoot what its constraints are judged on.
func insideOf(ctx context.Context, access client.Reader) Inside {
	var inside Inside
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfigurationList{}, &admissionregistrationv1.MutatingWebhookConfigurationList{}
	for _, list := range []client.ObjectList{validating, mutating} {
		if err := access.List(ctx, list); err != nil {
			inside.Err = fmt.Errorf("list %T: %w", list, err)
			return inside
		}
	}
	inside.Webhooks.Validating, inside.Webhooks.Mutating = validating.Items, mutating.Items
	inside.Converted, inside.Err = convertedIn(ctx, access)
	return inside
}

// errEnough ends the reading of a list whose rest changes nothing.
var errEnough = errors.New("enough is known")

// convertedIn returns the names of the definitions of which several versions are stored, and which a webhook converts. If there are many,
// it does not look for further ones.
func convertedIn(ctx context.Context, access client.Reader) ([]string, error) {
	var names []string
	err := kit.Pages[*apiextensionsv1.CustomResourceDefinitionList]{
		Reader: access, Size: definitionPage,
		New: func() *apiextensionsv1.CustomResourceDefinitionList {
			return &apiextensionsv1.CustomResourceDefinitionList{}
		},
	}.Each(ctx, func(page *apiextensionsv1.CustomResourceDefinitionList) error {
		for i := range page.Items {
			if d := &page.Items[i]; converted(d) {
				names = append(names, operation.Cut(d.Name))
			}
		}
		if len(names) >= manyConverted {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("list custom resource definitions: %w", err)
	}
	return names, nil
}

// authorities returns the certificate authorities of a shoot, of which only labels are read.
func (r *Reconciler) authorities(ctx context.Context, namespace string) ([]Authority, error) {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	ours := client.MatchingLabels{gardencorev1beta1.LabelSecretManagedBy: gardencorev1beta1.LabelSecretManagedByValue}
	if err := r.SeedClient.List(ctx, secrets, client.InNamespace(namespace), ours); err != nil {
		return nil, fmt.Errorf("list certificate authorities of the control plane: %w", err)
	}
	var all []Authority
	for i := range secrets.Items {
		labels := secrets.Items[i].Labels
		name := labels[gardencorev1beta1.LabelSecretName]
		end, err := strconv.ParseInt(labels[gardencorev1beta1.LabelSecretValidUntilTime], 10, 64)
		if isAuthority(name) && labels[gardencorev1beta1.LabelSecretBundleFor] == "" && err == nil {
			all = append(all, Authority{Name: name, End: time.Unix(end, 0)})
		}
	}
	return all, nil
}

// isAuthority reports whether a generated secret is a certificate authority, which its name tells.
func isAuthority(name string) bool {
	return name == gardencorev1beta1.SecretCACluster || strings.HasPrefix(name, gardencorev1beta1.SecretCACluster+"-")
}
