// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// askingPause is the time after which a gardenlet is asked again.
const askingPause = time.Minute

// publishedCA is the ConfigMap from which gardenlets take the CA.
const publishedCA = "kube-root-ca.crt"

// latecomer is a seed whose gardenlet has not taken up the next authorities.
type latecomer struct {
	seed *gardencorev1beta1.Seed
	// tells says that the gardenlet tells which authorities it uses.
	tells bool
}

// directClient reads and writes without a cache.
func (s *server) directClient() (client.Client, error) {
	api := s.api.Load()
	if api == nil {
		return nil, refusal{errors.New("the server is starting; try again")}
	}
	kinds, err := scheme.New()
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	c, err := client.New(api.LoopbackConfig(), client.Options{Scheme: kinds})
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}

	return c, nil
}

// waitingSeeds returns the names of the seeds whose gardenlets have not taken up the next authorities.
func (s *server) waitingSeeds(ctx context.Context, keys *identity.Garden) ([]string, error) {
	gardenClient, err := s.directClient()
	if err != nil {
		return nil, err
	}
	late, err := s.latecomers(ctx, gardenClient, keys)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(late))
	for _, l := range late {
		names = append(names, l.seed.Name)
	}

	return names, nil
}

// servedSeed is a seed that has a gardenlet, with what this one tells in its lease.
type servedSeed struct {
	seed  gardencorev1beta1.Seed
	marks map[string]string
}

// servedSeeds returns all seeds but those that never had a gardenlet and those that are shut out.
func (s *server) servedSeeds(ctx context.Context, gardenClient client.Client) ([]servedSeed, error) {
	seeds, leases := &gardencorev1beta1.SeedList{}, &coordinationv1.LeaseList{}
	if err := gardenClient.List(ctx, seeds); err != nil {
		return nil, fmt.Errorf("list seeds: %w", err)
	}
	if err := gardenClient.List(ctx, leases, client.InNamespace(gardencorev1beta1.NamespaceSeedLease)); err != nil {
		return nil, fmt.Errorf("list leases of seeds: %w", err)
	}
	told := map[string]map[string]string{}
	for i := range leases.Items {
		told[leases.Items[i].Name] = leases.Items[i].Annotations
	}
	var revoked []string
	if shut := s.revoked.Load(); shut != nil {
		for _, r := range shut.List() {
			revoked = append(revoked, r.Seed)
		}
	}
	var served []servedSeed
	for i := range seeds.Items {
		seed := seeds.Items[i]
		marks, beats := told[seed.Name]
		if !beats && seed.Status.Gardener == nil || slices.Contains(revoked, seed.Name) {
			continue
		}
		served = append(served, servedSeed{seed: seed, marks: marks})
	}

	return served, nil
}

// latecomers compares what gardenlets tell in the leases of their seeds with the authorities.
func (s *server) latecomers(ctx context.Context, gardenClient client.Client, keys *identity.Garden) ([]latecomer, error) {
	served, err := s.servedSeeds(ctx, gardenClient)
	if err != nil {
		return nil, err
	}
	bundle, issuer := keys.Authorities.Marks()
	var late []latecomer
	for i := range served {
		marks := served[i].marks
		if marks[gardenaccess.AnnotationBundle] != bundle || marks[gardenaccess.AnnotationIssuer] != issuer {
			late = append(late, latecomer{seed: &served[i].seed, tells: marks[gardenaccess.AnnotationBundle] != ""})
		}
	}

	return late, nil
}

// askSeeds asks gardenlets to renew their credentials, once the garden publishes the next authority.
func (s *server) askSeeds(ctx context.Context, keys *identity.Garden, asked map[string]time.Time) error {
	gardenClient, err := s.directClient()
	if err != nil {
		return err
	}
	published := &corev1.ConfigMap{}
	err = gardenClient.Get(ctx, client.ObjectKey{Namespace: gardencorev1beta1.NamespacePublic, Name: publishedCA}, published)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get published CA: %w", err)
	}
	if published.Data[corev1.ServiceAccountRootCAKey] != string(keys.Authorities.CABundle()) {
		return nil
	}
	late, err := s.latecomers(ctx, gardenClient, keys)
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	var errs []error
	for _, l := range late {
		// One that tells nothing is too old to take up the authorities, or has credentials that it cannot renew.
		if !l.tells || now.Sub(asked[l.seed.Name]) < askingPause || l.seed.Annotations[gardencorev1beta1.AnnotationOperation] != "" {
			continue
		}
		before := l.seed.DeepCopy()
		if l.seed.Annotations == nil {
			l.seed.Annotations = map[string]string{}
		}
		l.seed.Annotations[gardencorev1beta1.AnnotationOperation] = gardencorev1beta1.OperationRenewKubeconfig
		// Another operation must not be overwritten.
		err := gardenClient.Patch(ctx, l.seed, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			// The others are asked all the same.
			errs = append(errs, fmt.Errorf("ask seed %q for new credentials: %w", l.seed.Name, err))
			continue
		}
		asked[l.seed.Name] = now
	}

	return errors.Join(errs...)
}
