// SPDX-License-Identifier: Apache-2.0

package inshoot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

// followKind follows a kind in one shoot until ctx ends.
func (r *Reconciler) followKind(ctx context.Context, namespace string, kind Kind) {
	log := r.log.WithValues("namespace", namespace, "kind", kind.Name)
	ctx = ctrl.LoggerInto(ctx, log)
	said := ""
	for ctx.Err() == nil {
		err := r.round(ctx, namespace, kind)
		if err == nil {
			said = ""
			continue
		}
		// An API server that starts or ends refuses for a while: the same reason is told once.
		if away := errors.Is(err, target.ErrAsleep) || errors.Is(err, target.ErrGone) || errors.Is(err, kit.ErrNoShootAccess); !away && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			log.Info("Cannot follow the shoot for now", "reason", said)
		}
		r.pause(ctx, unreachablePause)
	}
}

func (r *Reconciler) pause(ctx context.Context, period time.Duration) {
	timer := r.Clock.NewTimer(period)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// acting acts on one object, and reports whether it is to be looked at again soon.
type acting func(ctx context.Context, object client.Object) (unfinished bool)

// round lists the objects of a kind, and watches them until it is time to list them again. The access is looked up in each round, so that
// changed credentials are taken.
func (r *Reconciler) round(ctx context.Context, namespace string, kind Kind) error {
	shoot, err := r.Targets.ShootOf(ctx, namespace)
	if err != nil {
		return err
	}
	act := func(ctx context.Context, object client.Object) bool {
		unfinished, err := kind.Act(ctx, Shoot{Shoot: shoot, Namespace: namespace}, object)
		if err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "An object of the shoot is looked at again later", "object", client.ObjectKeyFromObject(object))
		}
		return unfinished || err != nil
	}
	version, unfinished, err := list(ctx, shoot, kind, act)
	if err != nil {
		return err
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
	changes, err := shoot.Watcher.Watch(ctx, kind.List(), append(slices.Clone(kind.Options), from)...)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer changes.Stop()
	return r.drain(ctx, changes, unfinished, act)
}

// list acts on all objects that are there, page by page, and returns the version of the first page, so that no change is missed however
// long that takes. A shoot whose list does not end is left for the next round.
func list(ctx context.Context, shoot *kit.Shoot, kind Kind, act acting) (version string, unfinished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	pages := kit.Pages[client.ObjectList]{Reader: shoot, New: kind.List, Options: kind.Options, Size: pageSize}
	err = pages.Each(ctx, func(page client.ObjectList) error {
		version = cmp.Or(version, page.GetResourceVersion())
		return meta.EachListItem(page, func(object runtime.Object) error {
			if found, ok := object.(client.Object); ok && act(ctx, found) {
				unfinished = true
			}
			return ctx.Err()
		})
	})
	if err != nil {
		return "", false, fmt.Errorf("list: %w", err)
	}
	return version, unfinished, nil
}

// drain acts on what changes, until the watch ends or the objects have to be listed again.
func (r *Reconciler) drain(ctx context.Context, changes watch.Interface, unfinished bool, act acting) error {
	until := r.Clock.NewTimer(resync)
	defer func() { until.Stop() }()
	soon := func() {
		until.Stop()
		until = r.Clock.NewTimer(again)
	}
	if unfinished {
		soon()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-until.C():
			return nil
		case change, open := <-changes.ResultChan():
			if !open {
				return nil
			}
			object, ok := change.Object.(client.Object)
			if !ok || change.Type == watch.Error {
				return errors.New("the watch has ended: what it began at is too old, or the API server ends")
			}
			if change.Type != watch.Added && change.Type != watch.Modified {
				continue
			}
			if act(ctx, object) && !unfinished {
				unfinished = true
				soon()
			}
		}
	}
}
