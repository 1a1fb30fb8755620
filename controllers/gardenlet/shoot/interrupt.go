// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// interrupted is why a pass ends for a forced deletion.
const interrupted = "the operation was ended before it was done, because the shoot is to be deleted by force (annotation " +
	gardencorev1beta1.AnnotationConfirmationForceDeletion + ")"

// passes are those that run now, by shoot; no two of them work on the same one. A forced deletion ends the pass that runs, so that
// it waits for nothing that it does not need (GLET-FORCE-1). Anything else that an owner wants, a deletion too, waits for the end of
// the pass.
type passes struct {
	mu      sync.Mutex
	running map[types.NamespacedName]*pass
}

// pass is one that runs.
type pass struct {
	cancel context.CancelCauseFunc
	// works is the UID of the shoot as the pass has read it; it is empty before that. A shoot with the same name may have followed.
	works types.UID
	// forced is the UID of the shoot of which the watch has told that it is to be deleted by force.
	forced types.UID
	// exempt is set if the pass itself deletes the shoot by force.
	exempt bool
}

// enter begins a pass. It must be called before the shoot is read: what the read does not see yet, the watch tells afterwards. The
// returned function ends the pass.
func (p *passes) enter(ctx context.Context, key types.NamespacedName) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		p.running = map[types.NamespacedName]*pass{}
	}
	p.running[key] = &pass{cancel: cancel}
	return ctx, func() {
		cancel(nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.running, key)
	}
}

// reads tells which shoot the pass works on. The pass ends at once if the watch knows more than the read has found.
func (p *passes) reads(shoot *gardencorev1beta1.Shoot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.running[client.ObjectKeyFromObject(shoot)]
	if one == nil {
		return
	}
	one.works, one.exempt = shoot.UID, Forced(shoot)
	one.endForced()
}

// force tells that a shoot is to be deleted by force, and ends the pass on it. If there is one, again is called first, so that the next
// pass is certain to follow.
func (p *passes) force(shoot *gardencorev1beta1.Shoot, again func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.running[client.ObjectKeyFromObject(shoot)]
	if one == nil || one.exempt {
		return
	}
	again()
	one.forced = shoot.UID
	one.endForced()
}

func (p *pass) endForced() {
	if p.works == p.forced && p.works != "" && !p.exempt {
		p.cancel(&lastoperation.InterruptedError{Reason: interrupted})
	}
}

// wasInterrupted reports whether a forced deletion has ended the pass with this context.
func wasInterrupted(ctx context.Context) bool {
	_, yes := errors.AsType[*lastoperation.InterruptedError](context.Cause(ctx))
	return yes
}

// leaving ends the pass on a shoot that is to be deleted by force, and asks for the next one. When a deletion begins, it forgets how often
// runs on the shoot have failed before: a deletion may fail for other reasons, and is tried again soon (GLET-SHOOT-14).
func (r *Reconciler) leaving() handler.Funcs {
	told := func(object client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		if shoot, ok := object.(*gardencorev1beta1.Shoot); ok && Forced(shoot) {
			r.passes.force(shoot, func() { queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(shoot)}) })
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			told(e.Object, queue)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil {
				queue.Forget(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.ObjectNew)})
			}
			told(e.ObjectNew, queue)
		},
	}
}
