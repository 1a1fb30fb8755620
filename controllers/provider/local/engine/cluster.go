// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Cluster holds the objects of the garden that describe the shoot of an extension object.
type Cluster struct {
	// Namespace is the control-plane namespace of the shoot in the seed.
	Namespace string
	// Shoot is never nil.
	Shoot *gardencorev1beta1.Shoot
	// CloudProfile is never nil.
	CloudProfile *gardencorev1beta1.CloudProfile
	// Seed is nil for a shoot that hosts its own control plane.
	Seed *gardencorev1beta1.Seed
}

// ReadCluster reads the Cluster object of a control-plane namespace. It returns nil if there is none.
func ReadCluster(ctx context.Context, reader client.Reader, namespace string) (*Cluster, error) {
	object := &gardenextensionsv1alpha1.Cluster{}
	err := reader.Get(ctx, client.ObjectKey{Name: namespace}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no cluster is an answer: objects outside shoot namespaces have none
	}
	if err != nil {
		return nil, fmt.Errorf("read cluster %q: %w", namespace, err)
	}
	cluster := &Cluster{Namespace: namespace, Shoot: &gardencorev1beta1.Shoot{}, CloudProfile: &gardencorev1beta1.CloudProfile{}}
	if err := json.Unmarshal(object.Spec.Shoot.Raw, cluster.Shoot); err != nil {
		return nil, fmt.Errorf("read shoot of cluster %q: %w", namespace, err)
	}
	if err := json.Unmarshal(object.Spec.CloudProfile.Raw, cluster.CloudProfile); err != nil {
		return nil, fmt.Errorf("read cloud profile of cluster %q: %w", namespace, err)
	}
	if object.Spec.Seed == nil || len(object.Spec.Seed.Raw) == 0 {
		return cluster, nil
	}
	cluster.Seed = &gardencorev1beta1.Seed{}
	if err := json.Unmarshal(object.Spec.Seed.Raw, cluster.Seed); err != nil {
		return nil, fmt.Errorf("read seed of cluster %q: %w", namespace, err)
	}
	return cluster, nil
}

// Failed reports whether the operation on the shoot has failed for good. Nothing acts on its objects until the owner retries.
func (c *Cluster) Failed() bool {
	operation := c.Shoot.Status.LastOperation
	return operation != nil && operation.State == gardencorev1beta1.LastOperationStateFailed
}

// Hibernated reports whether machines and controllers of the shoot have to be stopped. They run while a shoot is being deleted.
func (c *Cluster) Hibernated() bool {
	return c.Shoot.DeletionTimestamp == nil && query.HibernationWanted(c.Shoot)
}

// ForceDeleted reports whether the shoot is deleted even if something cannot be cleaned up. It is safe to call on nil.
func (c *Cluster) ForceDeleted() bool {
	return c != nil && c.Shoot.DeletionTimestamp != nil && c.Shoot.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion] == "true"
}
