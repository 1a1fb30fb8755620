// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Shoots puts objects into shoots.
type Shoots struct {
	// Get returns the access to the shoot with that control-plane namespace.
	Get func(ctx context.Context, namespace string) (*kit.Shoot, error)
	// Owner is the field owner of what is applied.
	Owner string
	// Clock drives waiting.
	Clock clock.Clock
}

// Apply applies objects in a shoot.
func (s Shoots) Apply(ctx context.Context, namespace string, objs ...client.Object) error {
	shoot, err := s.engine(ctx, namespace)
	if err == nil {
		err = shoot.Apply(ctx, objs...)
	}
	if err != nil {
		return fmt.Errorf("deploy into the shoot: %w", err)
	}
	return nil
}

// Remove deletes objects from a shoot. Without access to the shoot there is no shoot. In a forced deletion it may not answer
// any more, and need not.
func (s Shoots) Remove(ctx context.Context, namespace string, cluster *Cluster, objs ...client.Object) error {
	shoot, err := s.engine(ctx, namespace)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = shoot.Delete(ctx, objs...)
	}
	if err != nil && !cluster.ForceDeleted() {
		return fmt.Errorf("remove from the shoot: %w", err)
	}
	return nil
}

func (s Shoots) engine(ctx context.Context, namespace string) (deploy.Engine, error) {
	shoot, err := s.Get(ctx, namespace)
	if err != nil {
		return deploy.Engine{}, err
	}
	return deploy.Engine{Client: shoot, Owner: s.Owner, Clock: s.Clock}, nil
}
