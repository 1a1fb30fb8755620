// SPDX-License-Identifier: Apache-2.0

// Package target finds the cluster that a ManagedResource, or a Secret that asks for a token, is about: the seed itself, or the shoot
// whose control plane has the namespace. A shoot that sleeps has no API server and is left alone until it is awake.
package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var (
	// ErrAsleep says that the shoot is hibernated.
	ErrAsleep = errors.New("the shoot is hibernated")
	// ErrGone says that the shoot does not exist any more: there is no access to it, and its namespace is being deleted.
	ErrGone = errors.New("the shoot does not exist any more")
)

// Finder finds clusters.
type Finder struct {
	// Seed reaches the seed without a cache.
	Seed client.Client
	// Shoot returns the access to the shoot with that control-plane namespace.
	Shoot func(ctx context.Context, namespace string) (*kit.Shoot, error)
}

// Classes are those that are served.
func Classes() []string {
	return []string{gardenresourcesv1alpha1.ClassDefault, gardenresourcesv1alpha1.ClassSeed}
}

// Of returns the cluster of a class for objects of a namespace of the seed. Its client reads without a cache. The error is
// kit.ErrNoShootAccess, ErrAsleep or ErrGone if there is a shoot that cannot be reached.
func (f Finder) Of(ctx context.Context, class, namespace string) (client.Client, error) {
	if class == gardenresourcesv1alpha1.ClassSeed {
		return f.Seed, nil
	}
	shoot, err := f.ShootOf(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return shoot, nil
}

// ShootOf returns the access to the shoot of a namespace, with the errors of Of.
func (f Finder) ShootOf(ctx context.Context, namespace string) (*kit.Shoot, error) {
	asleep, err := f.asleep(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if asleep {
		return nil, ErrAsleep
	}
	shoot, err := f.Shoot(ctx, namespace)
	if errors.Is(err, kit.ErrNoShootAccess) {
		return nil, f.lost(ctx, namespace, err)
	}
	return shoot, err
}

// lost tells a shoot that is gone from one that cannot be reached yet.
func (f Finder) lost(ctx context.Context, namespace string, noAccess error) error {
	home := &corev1.Namespace{}
	err := f.Seed.Get(ctx, client.ObjectKey{Name: namespace}, home)
	switch {
	case apierrors.IsNotFound(err) || err == nil && home.DeletionTimestamp != nil:
		return fmt.Errorf("%w: %w", ErrGone, noAccess)
	case err != nil:
		return fmt.Errorf("get namespace %q: %w", namespace, err)
	default:
		return noAccess
	}
}

// asleep reports whether the shoot of a namespace is hibernated. A namespace without a Cluster is that of no shoot, or of one that
// begins to exist.
func (f Finder) asleep(ctx context.Context, namespace string) (bool, error) {
	cluster := &gardenextensionsv1alpha1.Cluster{}
	err := f.Seed.Get(ctx, client.ObjectKey{Name: namespace}, cluster)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get cluster %q: %w", namespace, err)
	}
	shoot := &gardencorev1beta1.Shoot{}
	if err := json.Unmarshal(cluster.Spec.Shoot.Raw, shoot); err != nil {
		return false, fmt.Errorf("read the shoot of cluster %q: %w", namespace, err)
	}
	// One in deletion is woken up to be cleaned.
	return shoot.DeletionTimestamp == nil && shoot.Status.Hibernated && query.HibernationWanted(shoot), nil
}

// Awake returns the namespaces of all shoots that are not hibernated.
func (f Finder) Awake(ctx context.Context) ([]string, error) {
	list := &gardenextensionsv1alpha1.ClusterList{}
	if err := f.Seed.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	var namespaces []string
	for i := range list.Items {
		shoot := &gardencorev1beta1.Shoot{}
		if err := json.Unmarshal(list.Items[i].Spec.Shoot.Raw, shoot); err != nil {
			return nil, fmt.Errorf("read the shoot of cluster %q: %w", list.Items[i].Name, err)
		}
		if !shoot.Status.Hibernated {
			namespaces = append(namespaces, list.Items[i].Name)
		}
	}
	return namespaces, nil
}
