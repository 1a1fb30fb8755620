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

// ErrNameTaken says that a Seed of that name belongs to another cluster.
var ErrNameTaken = errors.New("the name of the seed is taken")

// Registrar registers one seed. All fields are required.
type Registrar struct {
	// Garden is a client of the garden without a cache.
	Garden client.Client
	// Template is the Seed from the configuration.
	Template gardencorev1beta1.SeedTemplate
	// ClusterIdentity is the identity of the cluster of this gardenlet.
	ClusterIdentity string
	// Clock gives the time and makes the pauses.
	Clock clock.Clock
}

// Register creates the Seed, or updates it from the configuration: labels and annotations are merged into the existing ones, the
// spec is replaced (GLET-REG-1). It does not change a Seed that belongs to another cluster.
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

// Desired applies the template to a Seed and returns it. Default domains that the Seed has, and the template has not, stay: they are
// those of the garden.
func (r Registrar) Desired(seed *gardencorev1beta1.Seed) *gardencorev1beta1.Seed {
	seed.Name = r.Template.Name
	seed.Labels = merged(seed.Labels, r.Template.Labels, map[string]string{
		gardencorev1beta1.LabelRole:                             gardencorev1beta1.RoleSeed,
		gardencorev1beta1.LabelPrefixSeedName + r.Template.Name: "true",
	})
	seed.Annotations = merged(seed.Annotations, r.Template.Annotations)
	adopted := seed.Spec.DNS.Defaults
	seed.Spec = *r.Template.Spec.DeepCopy()
	if len(seed.Spec.DNS.Defaults) == 0 {
		seed.Spec.DNS.Defaults = adopted
	}
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

// TakenError returns an error that names the cluster of a Seed, and what to do about it.
func TakenError(seed, owner, own string) error {
	return fmt.Errorf("%w: seed %q belongs to the cluster with identity %q, but this cluster has %q: choose another name, or delete that Seed if its cluster no longer exists",
		ErrNameTaken, seed, owner, own)
}

// AwaitNamespace waits a limited time for the namespace of the seed in the garden (GLET-REG-3). It is not an error if the
// namespace does not appear or must not be read.
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

// AbortOperations sets the operations that a process left unfinished to Aborted (GLET-REG-5), and returns their shoots.
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

// interrupted reports whether an operation of this seed on the shoot was left unfinished. A shoot in migration has two seeds; the
// one in its status runs the operation.
func interrupted(shoot *gardencorev1beta1.Shoot, seed string) bool {
	at := shoot.Status.SeedName
	if at == nil {
		at = shoot.Spec.SeedName
	}
	last := shoot.Status.LastOperation
	return at != nil && *at == seed && last != nil && last.State == gardencorev1beta1.LastOperationStateProcessing
}
