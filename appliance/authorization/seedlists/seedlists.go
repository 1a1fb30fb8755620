// SPDX-License-Identifier: Apache-2.0

// Package seedlists restricts what clients of a seed see when they list or watch BackupBuckets and BackupEntries to the
// objects of their seed. They may request all of them, as gardenlets do. And it ends their watches of InternalSecrets and ShootStates when
// these do not belong to their seed any more. Other users are not restricted.
package seedlists

import (
	"context"
	"errors"
	"fmt"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/watch"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

var errStore = errors.New("the resource is not served from a store of the garden")

// Restrict replaces the stores of these resources in the groups that a server is about to serve. Readers within the process must get the
// stores before that, because admission plugins read with the context of the request.
func Restrict(groups []*genericapiserver.APIGroupInfo, belongs Belongs) error {
	for _, group := range groups {
		if group.PrioritizedVersions[0].Group != gardencorev1beta1.GroupName {
			continue
		}
		for _, storages := range group.VersionedResourcesStorageMap {
			for resource, own := range resources() {
				err := replace(storages, resource, func(all *kind.Store) rest.Storage { return &store{Store: all, own: own} })
				if err != nil {
					return err
				}
			}
			for resource, of := range keys() {
				err := replace(storages, resource, func(all *kind.Store) rest.Storage { return &guarded{Store: all, kind: of, belongs: belongs} })
				if err != nil {
					return err
				}
			}
		}
	}

	return nil
}

// replace replaces the store of a resource, if it is in this version.
func replace(storages map[string]rest.Storage, resource string, by func(*kind.Store) rest.Storage) error {
	served, found := storages[resource]
	if !found {
		return nil
	}
	all, ok := served.(*kind.Store)
	if !ok {
		return fmt.Errorf("restrict lists of %s: %T: %w", resource, served, errStore)
	}
	storages[resource] = by(all)

	return nil
}

// restriction adds the seed to the selector of a list or watch.
type restriction func(o *metainternalversion.ListOptions, seed string) error

// resources are the restricted resources. A bucket stays on its seed. An entry moves with its shoot and belongs to both
// seeds during the move, which the server records in labels. Both restrictions are ordinary selectors, so lists of any
// resource version, pages and watches work as for a client that uses the selector itself: an object that moves to another
// seed is reported as deleted, one that moves to the seed as added.
func resources() map[string]restriction {
	return map[string]restriction{"backupbuckets": byField, "backupentries": byLabel}
}

func byField(o *metainternalversion.ListOptions, seed string) error {
	own := fields.OneTermEqualSelector(gardencorev1beta1.FieldSeedName, seed)
	if o.FieldSelector != nil {
		own = fields.AndSelectors(o.FieldSelector, own)
	}
	o.FieldSelector = own

	return nil
}

func byLabel(o *metainternalversion.ListOptions, seed string) error {
	own, err := labels.NewRequirement(gardencorev1beta1.LabelPrefixSeedName+seed, selection.Equals, []string{"true"})
	if err != nil {
		return fmt.Errorf("select objects of seed %q: %w", seed, err)
	}
	if o.LabelSelector == nil {
		o.LabelSelector = labels.Everything()
	}
	o.LabelSelector = o.LabelSelector.Add(*own)

	return nil
}

// store restricts lists and watches of clients of a seed to its objects.
type store struct {
	*kind.Store

	own restriction
}

var (
	_ rest.Lister  = (*store)(nil)
	_ rest.Watcher = (*store)(nil)
)

// List implements rest.Lister.
func (s *store) List(ctx context.Context, o *metainternalversion.ListOptions) (runtime.Object, error) {
	o, err := s.restricted(ctx, o)
	if err != nil {
		return nil, err
	}

	return s.Store.List(ctx, o)
}

// Watch implements rest.Watcher.
func (s *store) Watch(ctx context.Context, o *metainternalversion.ListOptions) (watch.Interface, error) {
	o, err := s.restricted(ctx, o)
	if err != nil {
		return nil, err
	}

	return s.Store.Watch(ctx, o)
}

func (s *store) restricted(
	ctx context.Context, o *metainternalversion.ListOptions,
) (*metainternalversion.ListOptions, error) {
	who, _ := genericapirequest.UserFrom(ctx)
	client, ok := seedclient.Of(who)
	if !ok {
		return o, nil
	}
	narrow := &metainternalversion.ListOptions{}
	if o != nil {
		narrow = o.DeepCopy()
	}

	return narrow, s.own(narrow, client.Seed)
}
