// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
)

// tasks are the extra tasks that the annotation of a shoot asks for.
func tasks(shoot *gardencorev1beta1.Shoot) []string {
	return query.Tasks(shoot.Annotations[gardencorev1beta1.AnnotationShootTasks])
}

// todo is the extra tasks of a run.
type todo struct {
	shoot  *gardencorev1beta1.Shoot
	garden client.Client
	reader client.Reader
}

// trigger lets an extension act always if the shoot lists the task, and otherwise only when needed: the kind is expensive.
func (t todo) trigger(task string) extension.Trigger {
	if slices.Contains(tasks(t.shoot), task) {
		return extension.Always
	}
	return extension.WhenNeeded
}

// finish takes those of the tasks out of the annotation that this run was asked for, once their work succeeded. They stay if the
// shoot was changed meanwhile: then they may have been asked for again. Tasks that end at the same time meet in one annotation, so
// a write that came too late is made again.
func (t todo) finish(ctx context.Context, done ...string) error {
	done = slices.DeleteFunc(done, func(task string) bool { return !slices.Contains(tasks(t.shoot), task) })
	if len(done) == 0 {
		return nil
	}
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

// finishRest takes out the tasks for what the shoot does not have: some DNS records and, without workers, the infrastructure.
func (t todo) finishRest(ctx context.Context) error {
	rest := []string{
		gardencorev1beta1.ShootTaskDeployDNSRecordInternal, gardencorev1beta1.ShootTaskDeployDNSRecordExternal, gardencorev1beta1.ShootTaskDeployDNSRecordIngress,
	}
	if query.Workerless(&t.shoot.Spec) {
		rest = append(rest, gardencorev1beta1.ShootTaskDeployInfrastructure)
	}
	return t.finish(ctx, rest...)
}
