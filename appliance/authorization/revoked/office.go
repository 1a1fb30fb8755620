// SPDX-License-Identifier: Apache-2.0

package revoked

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/apis/revocation"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// endPatience is how long Revoke waits for the open requests of a seed to end.
const endPatience = 10 * time.Second

// Errors of an Office.
var (
	// ErrNoSeed says that there is neither a seed of that name nor a record of one.
	ErrNoSeed = errors.New("there is no seed of that name; if it was deleted and its gardenlet may still have credentials, shut it out as unknown (--unknown)")
	// ErrNotRevoked says that a seed is not shut out.
	ErrNotRevoked = errors.New("the seed is not shut out")
)

// Office shuts seeds out and takes that back.
type Office struct {
	Set *Set
	// Client and Metadata reach this server with all permissions.
	Client   kubernetes.Interface
	Metadata metadata.Interface
	// Graph is the graph of what belongs to which seed.
	Graph *graph.Graph
	Clock clock.PassiveClock
}

// Wish is who wants a seed to be shut out, and why.
type Wish struct {
	Reason, By string
	// Unknown says that the seed need not exist.
	Unknown bool
}

// Revoke shuts a seed out. When it returns, no request of the seed is open any more, unless it says how many are. Shutting out a seed
// twice changes nothing. One that does not exist is taken for an error in its name, unless unknown says otherwise: certificates outlast the
// Seed, and a gardenlet may delete its Seed and make it anew.
func (o *Office) Revoke(ctx context.Context, seed string, w Wish) (record revocation.Record, open int, err error) {
	record = revocation.Record{Seed: seed, Revoked: true, Reason: w.Reason, By: w.By, At: o.Clock.Now().Truncate(time.Second)}
	if _, known := o.Set.Get(seed); !known && !w.Unknown {
		if err := o.exists(ctx, seed); err != nil {
			return record, 0, err
		}
	}
	var written *corev1.ConfigMap
	err = retry.OnError(retry.DefaultBackoff, again, func() (err error) {
		written, err = o.write(ctx, &record)

		return err
	})
	if err != nil {
		return record, 0, fmt.Errorf("shut out seed %q: %w", seed, err)
	}
	limit := time.NewTimer(endPatience)
	defer limit.Stop()
	for _, r := range o.Set.put(written) {
		select {
		case <-r.done:
		case <-limit.C:
			limit.Reset(0)
			open++
		}
	}

	return record, open, o.deleteTokens(ctx, seed)
}

// again reports whether another one has written the record at the same time.
func again(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

func (o *Office) exists(ctx context.Context, seed string) error {
	_, err := o.Metadata.Resource(gardencorev1beta1.GroupVersion.WithResource("seeds")).Get(ctx, seed, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("seed %q: %w", seed, ErrNoSeed)
	}
	if err != nil {
		return fmt.Errorf("read seed %q: %w", seed, err)
	}

	return nil
}

// write writes the record. If the seed is shut out already, the record stays as it is and is returned.
func (o *Office) write(ctx context.Context, record *revocation.Record) (*corev1.ConfigMap, error) {
	records := o.Client.CoreV1().ConfigMaps(revocation.Namespace)
	found, err := records.Get(ctx, revocation.Name(record.Seed), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		object := &corev1.ConfigMap{}
		record.Encode(object)

		return records.Create(ctx, object, metav1.CreateOptions{})
	}
	if err != nil {
		return nil, err
	}
	if known, ok := revocation.Decode(found); ok {
		if known.Revoked {
			*record = known

			return found, nil
		}
		record.CredentialsFrom = known.CredentialsFrom
	}
	record.Encode(found)

	return records.Update(ctx, found, metav1.UpdateOptions{})
}

// Forgive takes back that a seed is shut out. With fresh, credentials that were issued until now stay refused, so that the seed has to
// join again.
func (o *Office) Forgive(ctx context.Context, seed string, fresh bool) (revocation.Record, error) {
	var was revocation.Record
	err := retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() (err error) {
		was, err = o.forgive(ctx, seed, fresh)

		return err
	})
	if err != nil {
		return was, fmt.Errorf("forgive seed %q: %w", seed, err)
	}

	return was, nil
}

func (o *Office) forgive(ctx context.Context, seed string, fresh bool) (revocation.Record, error) {
	records := o.Client.CoreV1().ConfigMaps(revocation.Namespace)
	found, err := records.Get(ctx, revocation.Name(seed), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return revocation.Record{}, ErrNotRevoked
	}
	if err != nil {
		return revocation.Record{}, err
	}
	was, ok := revocation.Decode(found)
	if !ok || !was.Revoked {
		return was, ErrNotRevoked
	}
	now := was
	now.Revoked = false
	if fresh {
		// Certificates and tokens say when they were issued in whole seconds.
		now.CredentialsFrom = o.Clock.Now().Truncate(time.Second)
	}
	if now.CredentialsFrom.IsZero() {
		same := &metav1.Preconditions{UID: &found.UID, ResourceVersion: &found.ResourceVersion}
		if err := records.Delete(ctx, found.Name, metav1.DeleteOptions{Preconditions: same}); err != nil {
			return was, err
		}
		o.Set.remove(found)

		return was, nil
	}
	now.Encode(found)
	written, err := records.Update(ctx, found, metav1.UpdateOptions{})
	if err != nil {
		return was, err
	}
	o.Set.put(written)

	return was, nil
}

// deleteTokens deletes the join tokens of a seed, its service account for joining, and what its gardenlet made for managed seeds, whose
// tokens it knows.
func (o *Office) deleteTokens(ctx context.Context, seed string) error {
	secrets := o.Client.CoreV1().Secrets(jointoken.Namespace)
	found, err := secrets.List(ctx, metav1.ListOptions{FieldSelector: "type=" + string(jointoken.SecretType)})
	if err != nil {
		return fmt.Errorf("list join tokens of seed %q: %w", seed, err)
	}
	var errs []error
	for i := range found.Items {
		token := &found.Items[i]
		if o.knowsToken(seed, token) {
			errs = append(errs, ignoreGone(secrets.Delete(ctx, token.Name, metav1.DeleteOptions{})))
		}
	}
	accounts := []types.NamespacedName{{Namespace: gardencorev1beta1.NamespaceGarden, Name: seed}}
	for _, v := range o.Graph.Belonging(seed) {
		if v.Kind == graph.ManagedSeed {
			accounts = append(accounts, types.NamespacedName{Namespace: v.Namespace, Name: v.Name})
		}
	}
	for _, of := range accounts {
		errs = append(errs, ignoreGone(o.Client.CoreV1().ServiceAccounts(of.Namespace).
			Delete(ctx, jointoken.AccountPrefix+of.Name, metav1.DeleteOptions{})))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("delete join tokens of seed %q: %w", seed, err)
	}

	return nil
}

// knowsToken reports whether a join token is for a seed, was used by it, or was made by its gardenlet for a managed seed. What cannot be
// read may be.
func (o *Office) knowsToken(seed string, token *corev1.Secret) bool {
	purpose, err := jointoken.PurposeOf(token)
	if err != nil || purpose.Seed == seed {
		return true
	}
	if use := jointoken.UseOf(token); use != nil && use.Seed == seed {
		return true
	}
	made := graph.Vertex{Kind: graph.ManagedSeed, Namespace: purpose.Object.Namespace, Name: purpose.Object.Name}

	return purpose.Kind == jointoken.KindManagedSeed && o.Graph.BelongsTo(made, seed)
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}

	return err
}
