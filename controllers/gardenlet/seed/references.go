// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// references is the inventory of the copies of what spec.resources of the Seed refers to in namespace garden of the garden (EXT-CONV-3).
func references() deploy.Set {
	return deploy.Set{Namespace: gardencorev1beta1.NamespaceGarden, Name: "seed-referenced-resources"}
}

func (a AddOns) copies(ctx context.Context) ([]client.Object, error) {
	return a.Copier.Resources(ctx, gardencorev1beta1.NamespaceGarden, a.Seed.Spec.Resources)
}

// lend writes the copies. While an extension is being deleted it keeps those of the last run as well.
func (a AddOns) lend(ctx context.Context) error {
	copies, err := a.copies(ctx)
	if err != nil {
		return err
	}
	leaving, err := a.others(ctx, a.types())
	if err != nil {
		return err
	}
	if len(leaving) > 0 {
		if copies, err = a.withFormer(ctx, copies); err != nil {
			return err
		}
	}
	return a.Engine.ApplySet(ctx, references(), copies...)
}

// withFormer adds the copies of earlier runs as they are.
func (a AddOns) withFormer(ctx context.Context, copies []client.Object) ([]client.Object, error) {
	members, err := a.Engine.SetMembers(ctx, references())
	if err != nil {
		return nil, err
	}
	for _, member := range members {
		var live client.Object = &corev1.Secret{}
		if member.GetObjectKind().GroupVersionKind().Kind == referred.KindConfigMap {
			live = &corev1.ConfigMap{}
		}
		key := client.ObjectKeyFromObject(member)
		if slices.ContainsFunc(copies, func(c client.Object) bool { return same(c, live) && client.ObjectKeyFromObject(c) == key }) {
			continue
		}
		err := a.Engine.Client.Get(ctx, key, live)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get copy %q: %w", key, err)
		}
		copies = append(copies, bare(live))
	}
	return copies, nil
}

func same(a, b client.Object) bool {
	_, first := a.(*corev1.Secret)
	_, second := b.(*corev1.Secret)
	return first == second
}

// bare returns what the gardenlet has applied of a copy.
func bare(live client.Object) client.Object {
	meta := metav1.ObjectMeta{Namespace: live.GetNamespace(), Name: live.GetName(), Labels: live.GetLabels(), Annotations: live.GetAnnotations()}
	switch o := live.(type) {
	case *corev1.Secret:
		return &corev1.Secret{ObjectMeta: meta, Type: o.Type, Data: o.Data}
	case *corev1.ConfigMap:
		return &corev1.ConfigMap{ObjectMeta: meta, Data: o.Data, BinaryData: o.BinaryData}
	default:
		return live
	}
}

// takeBack deletes the copies of what the seed does not refer to any more.
func (a AddOns) takeBack(ctx context.Context) error {
	copies, err := a.copies(ctx)
	if err != nil {
		return err
	}
	return a.Engine.ApplySet(ctx, references(), copies...)
}

// refresh writes the copies for a deletion. What does not exist any more stays as it was in the last run, and what no
// extension needs any more is not written again.
func (a AddOns) refresh(ctx context.Context) error {
	left, err := Extensions(ctx, a.engine())
	if err != nil || len(left) == 0 {
		return err
	}
	copies, err := a.copies(ctx)
	if lost, ok := errors.AsType[*referred.MissingError](err); ok {
		ctrl.LoggerFrom(ctx).Info("An object that the seed refers to is missing, its deletion continues with the last known one", "reason", lost.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if copies, err = a.withFormer(ctx, copies); err != nil {
		return err
	}
	return a.Engine.ApplySet(ctx, references(), copies...)
}

func (a AddOns) takeAllBack(ctx context.Context) error {
	done, err := a.Engine.DeleteSet(ctx, references())
	if err == nil && !done {
		return kit.Wait(installationPause, "Objects that the seed referred to are being deleted")
	}
	return err
}
