// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
)

// tasks are the extra tasks that the annotation of a shoot asks for.
func tasks(shoot *gardencorev1beta1.Shoot) []string {
	text := shoot.Annotations[gardencorev1beta1.AnnotationShootTasks]
	if text == "" {
		return nil
	}
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// todo is what the annotation of a shoot asks for beside a reconciliation.
type todo struct {
	shoot  *gardencorev1beta1.Shoot
	garden client.Client
	reader client.Reader
}

// trigger asks an expensive kind to act only if the shoot lists the task, or if there is something to do.
func (t todo) trigger(task string) extension.Trigger {
	if slices.Contains(tasks(t.shoot), task) {
		return extension.Always
	}
	return extension.WhenNeeded
}

// remove takes tasks out of the annotation once their work succeeded. They stay if the shoot was changed meanwhile: then
// they may have been asked for again. Tasks that end at the same time meet in one annotation, so a write that came too late
// is made again.
func (t todo) remove(ctx context.Context, done ...string) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live := &gardencorev1beta1.Shoot{}
		if err := t.reader.Get(ctx, client.ObjectKeyFromObject(t.shoot), live); err != nil {
			return err
		}
		asked := tasks(live)
		left := slices.DeleteFunc(slices.Clone(asked), func(task string) bool { return slices.Contains(done, task) })
		if live.Generation != t.shoot.Generation || len(left) == len(asked) {
			return nil
		}
		before := live.DeepCopy()
		live.Annotations[gardencorev1beta1.AnnotationShootTasks] = strings.Join(left, ",")
		if len(left) == 0 {
			delete(live.Annotations, gardencorev1beta1.AnnotationShootTasks)
		}
		return t.garden.Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return fmt.Errorf("remove tasks %s from shoot %q: %w", strings.Join(done, ", "), t.shoot.Name, err)
	}
	return nil
}

// finish takes a task out that this run was asked for.
func (t todo) finish(ctx context.Context, task string) error {
	if !slices.Contains(tasks(t.shoot), task) {
		return nil
	}
	return t.remove(ctx, task)
}

// finishRecords takes the tasks for DNS records out that this run had nothing to do for: not every shoot has every record.
func (t todo) finishRecords(ctx context.Context) error {
	asked := slices.DeleteFunc(tasks(t.shoot), func(task string) bool {
		switch task {
		case gardencorev1beta1.ShootTaskDeployDNSRecordInternal, gardencorev1beta1.ShootTaskDeployDNSRecordExternal,
			gardencorev1beta1.ShootTaskDeployDNSRecordIngress:
			return false
		default:
			return true
		}
	})
	if len(asked) == 0 {
		return nil
	}
	return t.remove(ctx, asked...)
}
