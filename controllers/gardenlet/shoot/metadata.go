// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// metadataPage is how many objects of owners are read at a time. An owner may fill the metadata of each with 256 KiB, and an answer has a limit.
const metadataPage = 100

// metadataOf lists the metadata of all objects of a kind, of which an owner may have made any number. A kind that is not served has none.
func metadataOf(ctx context.Context, reader client.Reader, kind schema.GroupVersionKind, options ...client.ListOption) ([]metav1.PartialObjectMetadata, error) {
	var all []metav1.PartialObjectMetadata
	for page := (&metav1.PartialObjectMetadataList{}); ; {
		next := page.Continue
		page = &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := reader.List(ctx, page, append([]client.ListOption{client.Limit(metadataPage), client.Continue(next)}, options...)...)
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		if all = append(all, page.Items...); page.Continue == "" {
			return all, nil
		}
	}
}
