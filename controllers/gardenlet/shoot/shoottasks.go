// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
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

// finishTask takes a task out of the annotation once its work succeeded. It stays if the shoot was changed meanwhile: then it
// may have been asked for again.
func (o *operation) finishTask(ctx context.Context, task string) error {
	if !slices.Contains(tasks(o.shoot), task) {
		return nil
	}
	live := &gardencorev1beta1.Shoot{}
	if err := o.r.GardenReader.Get(ctx, client.ObjectKeyFromObject(o.shoot), live); err != nil {
		return fmt.Errorf("get shoot %q: %w", o.shoot.Name, err)
	}
	if live.Generation != o.shoot.Generation || !slices.Contains(tasks(live), task) {
		return nil
	}
	before := live.DeepCopy()
	left := slices.DeleteFunc(tasks(live), func(t string) bool { return t == task })
	live.Annotations[gardencorev1beta1.AnnotationShootTasks] = strings.Join(left, ",")
	if len(left) == 0 {
		delete(live.Annotations, gardencorev1beta1.AnnotationShootTasks)
	}
	if err := o.r.GardenClient.Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("remove task %q from shoot %q: %w", task, o.shoot.Name, err)
	}
	return nil
}
