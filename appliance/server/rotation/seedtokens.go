// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// The annotations of a Seed that have the id of the key for whose tokens the seed was asked last. The answer is that the request is taken
// off. A server that restarts asks nobody twice.
const (
	askedForServiceAccounts = "seed.terrarium.garden/asked-for-service-account-key"
	askedForIdentities      = "seed.terrarium.garden/asked-for-workload-identity-key"
)

// tokenRenewal is what all seeds are asked for while tokens of a former key are still accepted (OPER-ROT-7).
type tokenRenewal struct {
	// operation is the operation of the Seed, and asked the annotation with the key.
	operation, asked string
	// key signs now. It is empty if no rotation goes on.
	key   string
	since time.Time
}

// serviceAccountTokens are those of extensions, and of others in seeds that work in the garden.
func serviceAccountTokens(keys *identity.Garden) tokenRenewal {
	r := tokenRenewal{operation: gardencorev1beta1.OperationRenewGardenAccessSecrets, asked: askedForServiceAccounts}
	if is := keys.ServiceAccount.Keys(); is.Rotating() {
		r.key, r.since = is.ID, is.Since
	}

	return r
}

// identityTokens are those of workload identities, with which shoots are made at providers.
func identityTokens(keys *identity.Garden) tokenRenewal {
	r := tokenRenewal{operation: gardencorev1beta1.OperationRenewWorkloadIdentityTokens, asked: askedForIdentities}
	if is := keys.WorkloadIdentity.Keys(); is.Rotating() {
		r.key, r.since = is.ID, is.Since
	}

	return r
}

// waits reports whether a seed has not answered yet. Nobody answers for one that is being deleted.
func (r tokenRenewal) waits(seed *gardencorev1beta1.Seed) bool {
	if r.key == "" || seed.DeletionTimestamp != nil {
		return false
	}

	return seed.Annotations[r.asked] != r.key || seed.Annotations[gardencorev1beta1.AnnotationOperation] == r.operation
}

// ask asks a seed that was not asked yet, unless it has something else to do: another operation must not be overwritten.
func (r tokenRenewal) ask(ctx context.Context, gardenClient client.Client, seed *gardencorev1beta1.Seed) error {
	if seed.Annotations[r.asked] == r.key || seed.Annotations[gardencorev1beta1.AnnotationOperation] != "" {
		return nil
	}
	before := seed.DeepCopy()
	metav1.SetMetaDataAnnotation(&seed.ObjectMeta, gardencorev1beta1.AnnotationOperation, r.operation)
	metav1.SetMetaDataAnnotation(&seed.ObjectMeta, r.asked, r.key)
	err := gardenClient.Patch(ctx, seed, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask seed %q to %s: %w", seed.Name, r.operation, err)
	}

	return nil
}

// seedTokens has seeds renew the tokens that a former key has signed.
type seedTokens struct {
	clock      clock.PassiveClock
	keys       *identity.Garden
	gardenlets gardenlets
	signals    *Signals
}

// waiting returns the names of the seeds that have not answered a request for new tokens.
func (t *seedTokens) waiting(ctx context.Context, r tokenRenewal) ([]string, error) {
	if r.key == "" {
		return nil, nil
	}
	gardenClient, err := t.gardenlets.client()
	if err != nil {
		return nil, err
	}
	seeds, err := t.gardenlets.served(ctx, gardenClient)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range seeds {
		if r.waits(&seeds[i].seed) {
			names = append(names, seeds[i].seed.Name)
		}
	}

	return names, nil
}

// mayForget returns why tokens of the former key have to be accepted longer: seeds have not renewed theirs.
func (t *seedTokens) mayForget(ctx context.Context, r tokenRenewal, force bool) error {
	if force {
		return nil
	}
	waiting, err := t.waiting(ctx, r)
	if err != nil || len(waiting) == 0 {
		return err
	}

	return RefusedError{fmt.Errorf(
		"the gardenlets of %d seeds have not been seen to renew the tokens of the former key: %s; wait until they have, or force it", len(waiting), first(waiting))}
}

// renew asks the seeds that were not asked yet, and returns when to look again. The Garden is told when the last one has answered.
func (t *seedTokens) renew(ctx context.Context, waited map[string]bool) (time.Duration, error) {
	pause := certificatesPause
	var errs []error
	for _, r := range []tokenRenewal{serviceAccountTokens(t.keys), identityTokens(t.keys)} {
		waiting, err := t.ask(ctx, r)
		if waiting != waited[r.operation] && err == nil {
			waited[r.operation] = waiting
			t.signals.tellGarden()
		}
		switch {
		case !waiting:
		case t.clock.Since(r.since) > authoritiesSoon:
			pause = min(pause, askingPause)
		default:
			pause = min(pause, authoritiesPause)
		}
		errs = append(errs, err)
	}

	return pause, errors.Join(errs...)
}

// ask reports whether a seed has not answered.
func (t *seedTokens) ask(ctx context.Context, r tokenRenewal) (bool, error) {
	if r.key == "" {
		return false, nil
	}
	gardenClient, err := t.gardenlets.client()
	if err != nil {
		return true, err
	}
	seeds, err := t.gardenlets.served(ctx, gardenClient)
	if err != nil {
		return true, err
	}
	waiting := false
	var errs []error
	for i := range seeds {
		if !r.waits(&seeds[i].seed) {
			continue
		}
		waiting = true
		// A seed that cannot be asked keeps no other one waiting.
		errs = append(errs, r.ask(ctx, gardenClient, &seeds[i].seed))
	}

	return waiting, errors.Join(errs...)
}
