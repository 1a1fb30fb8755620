// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Turn lets one request after the other create and update objects. What admission has read of other objects of the kinds that share
// a turn is still so when the object is written. It is for kinds that are written rarely, because a request may wait for the
// webhooks of those before it.
type Turn chan struct{}

// NewTurn returns a turn that nobody has.
func NewTurn() Turn { return make(Turn, 1) }

// take waits for the turn as long as ctx allows, and returns a function that gives it back. There is nothing to wait for without a
// turn.
func (t Turn) take(ctx context.Context) (func(), error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, apierrors.NewTimeoutError(fmt.Sprintf("wait for other requests: %v; try again", context.Cause(ctx)), 1)
	}
}

// Create creates an object when it is the request's turn.
func (s *Store) Create(
	ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, o *metav1.CreateOptions,
) (runtime.Object, error) {
	done, err := s.turn.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	return s.Store.Create(ctx, obj, validate, o)
}

// Update updates an object when it is the request's turn.
//
//nolint:revive // the seven parameters are those of rest.Updater
func (s *Store) Update(
	ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc,
	update rest.ValidateObjectUpdateFunc, force bool, o *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	done, err := s.turn.take(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()

	return s.Store.Update(ctx, name, info, create, update, force, o)
}
