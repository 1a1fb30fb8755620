// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ownersPage is how many objects of owners are read at a time. An owner may fill the metadata of each with 256 KiB.
const ownersPage = 100

// metadataPages reads the metadata of all objects of a kind, of which an owner may have made any number.
func metadataPages(reader client.Reader, kind schema.GroupVersionKind, options ...client.ListOption) kit.Pages[*metav1.PartialObjectMetadataList] {
	return kit.Pages[*metav1.PartialObjectMetadataList]{
		Reader: reader, Size: ownersPage, Options: options,
		New: func() *metav1.PartialObjectMetadataList {
			page := &metav1.PartialObjectMetadataList{}
			page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			return page
		},
	}
}
