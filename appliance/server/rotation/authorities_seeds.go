// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
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

// waitingSeeds returns the names of the seeds whose gardenlets have not taken up the next authorities.
func (a *Authorities) waitingSeeds(ctx context.Context) ([]string, error) {
	gardenClient, err := a.gardenlets.client()
	if err != nil {
		return nil, err
	}
	late, err := a.latecomers(ctx, gardenClient)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(late))
	for _, l := range late {
		names = append(names, l.seed.Name)
	}

	return names, nil
}

// latecomers compares what gardenlets tell in the leases of their seeds with the authorities.
func (a *Authorities) latecomers(ctx context.Context, gardenClient client.Client) ([]latecomer, error) {
	served, err := a.gardenlets.served(ctx, gardenClient)
	if err != nil {
		return nil, err
	}
	bundle, issuer := a.keys.Authorities.Marks()
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
func (a *Authorities) askSeeds(ctx context.Context, asked map[string]time.Time) error {
	gardenClient, err := a.gardenlets.client()
	if err != nil {
		return err
	}
	published := &corev1.ConfigMap{}
	err = gardenClient.Get(ctx, client.ObjectKey{Namespace: gardencorev1beta1.NamespacePublic, Name: publishedCA}, published)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get published CA: %w", err)
	}
	if published.Data[corev1.ServiceAccountRootCAKey] != string(a.keys.Authorities.CABundle()) {
		return nil
	}
	late, err := a.latecomers(ctx, gardenClient)
	if err != nil {
		return err
	}
	now := a.clock.Now()
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
