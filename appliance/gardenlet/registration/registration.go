// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	namespacePrefix   = "seed-"
	namespacePatience = 5 * time.Second
	namespacePause    = 500 * time.Millisecond
)

// ErrNameTaken says that the name of the seed belongs to another cluster.
var ErrNameTaken = errors.New("the name of the seed is taken")

// Registrar registers one seed. All fields are required.
type Registrar struct {
	// Garden reaches the garden, around any cache.
	Garden client.Client
	// Template is the Seed as the configuration describes it.
	Template gardencorev1beta1.SeedTemplate
	// ClusterIdentity is that of the cluster this gardenlet works for.
	ClusterIdentity string
	// Clock gives the time and the pauses.
	Clock clock.Clock
}

// Register creates the Seed, or brings it up to the configuration: labels and annotations are merged into those it has,
// the spec is replaced (GLET-REG-1). A Seed that belongs to another cluster is left alone.
func (r Registrar) Register(ctx context.Context) error {
	seed := &gardencorev1beta1.Seed{}
	err := r.Garden.Get(ctx, client.ObjectKey{Name: r.Template.Name}, seed)
	if apierrors.IsNotFound(err) {
		if err := r.Garden.Create(ctx, r.Desired(&gardencorev1beta1.Seed{})); err != nil {
			return fmt.Errorf("create seed %q: %w", r.Template.Name, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("get seed %q: %w", r.Template.Name, err)
	}
	if owner := seed.Status.ClusterIdentity; owner != nil && *owner != r.ClusterIdentity {
		return TakenError(seed.Name, *owner, r.ClusterIdentity)
	}
	before := seed.DeepCopy()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Garden.Patch(ctx, r.Desired(seed), patch); err != nil {
		return fmt.Errorf("update seed %q: %w", r.Template.Name, err)
	}
	return nil
}

// Desired changes a Seed into what is wanted and returns it.
func (r Registrar) Desired(seed *gardencorev1beta1.Seed) *gardencorev1beta1.Seed {
	seed.Name = r.Template.Name
	seed.Labels = merged(seed.Labels, r.Template.Labels, map[string]string{
		gardencorev1beta1.LabelRole:                             gardencorev1beta1.RoleSeed,
		gardencorev1beta1.LabelPrefixSeedName + r.Template.Name: "true",
	})
	seed.Annotations = merged(seed.Annotations, r.Template.Annotations)
	seed.Spec = *r.Template.Spec.DeepCopy()
	return seed
}

func merged(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// TakenError says which cluster has the name, and what to do about it.
func TakenError(seed, owner, own string) error {
	return fmt.Errorf("%w: seed %q belongs to the cluster with identity %q, this one is %q: choose another name, or delete that Seed first if its cluster is gone",
		ErrNameTaken, seed, owner, own)
}

// AwaitNamespace waits a little for the namespace of the seed in the garden (GLET-REG-3). A garden that does not make
// one, or does not show it, is no reason to stop.
func (r Registrar) AwaitNamespace(ctx context.Context) error {
	deadline := r.Clock.Now().Add(namespacePatience)
	for {
		err := r.Garden.Get(ctx, client.ObjectKey{Name: namespacePrefix + r.Template.Name}, &corev1.Namespace{})
		if err == nil || !r.Clock.Now().Before(deadline) {
			return nil
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
			return fmt.Errorf("get namespace %q: %w", namespacePrefix+r.Template.Name, err)
		}
		timer := r.Clock.NewTimer(namespacePause)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// AbortOperations says of every operation that a dead process was in the middle of that it was aborted (GLET-REG-5), and
// returns the shoots it was about.
func (r Registrar) AbortOperations(ctx context.Context) ([]string, error) {
	shoots := &gardencorev1beta1.ShootList{}
	labels := client.MatchingLabels{gardencorev1beta1.LabelPrefixSeedName + r.Template.Name: "true"}
	if err := r.Garden.List(ctx, shoots, labels); err != nil {
		return nil, fmt.Errorf("list shoots of seed %q: %w", r.Template.Name, err)
	}
	machine := operation.Machine[*gardencorev1beta1.Shoot]{Kind: operation.Shoots(), Client: r.Garden, Clock: r.Clock}
	var aborted []string
	for i := range shoots.Items {
		shoot := &shoots.Items[i]
		if !interrupted(shoot, r.Template.Name) {
			continue
		}
		if err := machine.On(shoot).Abort(ctx); client.IgnoreNotFound(err) != nil {
			return aborted, fmt.Errorf("abort the operation on shoot %q: %w", client.ObjectKeyFromObject(shoot), err)
		}
		aborted = append(aborted, client.ObjectKeyFromObject(shoot).String())
	}
	return aborted, nil
}

// interrupted tells whether this seed was in the middle of an operation on the shoot. A shoot that moves has two seeds:
// the one in its status is at work.
func interrupted(shoot *gardencorev1beta1.Shoot, seed string) bool {
	at := shoot.Status.SeedName
	if at == nil {
		at = shoot.Spec.SeedName
	}
	last := shoot.Status.LastOperation
	return at != nil && *at == seed && last != nil && last.State == gardencorev1beta1.LastOperationStateProcessing
}
