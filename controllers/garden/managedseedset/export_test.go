// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
)

// Indexed gives a client of a test the index that the manager has.
func Indexed(b *fake.ClientBuilder) *fake.ClientBuilder {
	return b.WithIndex(&gardencorev1beta1.Shoot{}, hosted.Field, func(object client.Object) []string {
		shoot, _ := object.(*gardencorev1beta1.Shoot)
		return hosted.Seeds(shoot)
	})
}
