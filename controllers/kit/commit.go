// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ErrMixedWrite says that a pass changed both the status and another part of an object. They are written by different
// requests, so one of them would be lost.
var ErrMixedWrite = errors.New("status and another part of the object changed in one write")

// Commit is the one write that ends a pass. It remembers the object as it was read; phases change the object itself.
type Commit struct {
	client client.Client
	object client.Object
	before client.Object
}

// Begin copies the object; the write is the difference to this copy. Other writes, such as EnsureFinalizer, must come
// before.
func Begin(c client.Client, object client.Object) *Commit {
	commit := &Commit{client: c, object: object}
	commit.rebase()
	return commit
}

// rebase copies the object as the server answered it; the next write is the difference to this copy.
func (c *Commit) rebase() {
	c.before, _ = c.object.DeepCopyObject().(client.Object)
}

// Status writes what the pass made of the status, if anything, and translates the outcome for controller-runtime.
// An object that is gone by now needs no status.
func (c *Commit) Status(ctx context.Context, outcome Outcome, err error) (reconcile.Result, error) {
	writeErr := client.IgnoreNotFound(c.WriteStatus(ctx))
	if writeErr == nil {
		return Result(outcome, err)
	}
	_, waiting := WaitReason(err)
	_, final := UserReason(err)
	if err == nil || waiting || final {
		// Retry soon, otherwise the status would not be written.
		return Result(outcome, writeErr)
	}
	if IsTransient(writeErr) {
		return Result(outcome, err)
	}
	return Result(outcome, errors.Join(err, writeErr))
}

// Before is the object as it was read or last written. A write is the difference to it.
func (c *Commit) Before() client.Object { return c.before }

// WriteStatus patches the status if it changed. The patch holds only what changed, and is refused by the server when
// somebody else wrote the object since it was read.
func (c *Commit) WriteStatus(ctx context.Context) error {
	return c.writeStatus(ctx, c.patch)
}

// WriteOwnStatus is WriteStatus for fields that nobody else writes: it is not refused when somebody else wrote the object. An object that
// was made anew under the same name is another one, and the one that was read is not found any more (GCM-ROBUST-2). A garden refuses to
// write to the other one. The API server of a seed, whose objects are of custom resources, does not compare UIDs, and has written then.
func (c *Commit) WriteOwnStatus(ctx context.Context) error {
	uid := c.before.GetUID()
	err := c.writeStatus(ctx, c.ownPatch)
	if err == nil && c.object.GetUID() != uid || forAnother(err) {
		return fmt.Errorf("write status of %q, which was made anew: %w", c.object.GetName(), c.notFound())
	}
	return err
}

// notFound is what a server says of an object that is not there. The name of the resource is guessed from that of the kind: to ask a server
// for it may fail.
func (c *Commit) notFound() error {
	kind, _ := c.client.GroupVersionKindFor(c.object) // The client knows it, or it could not have sent the object.
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return apierrors.NewNotFound(resource.GroupResource(), c.object.GetName())
}

// forAnother reports whether a server has refused a write because it names another UID than that of the object.
func forAnother(err error) bool {
	refusal, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) || refusal.ErrStatus.Details == nil {
		return false
	}
	return slices.ContainsFunc(refusal.ErrStatus.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

func (c *Commit) writeStatus(ctx context.Context, patch func() client.Patch) error {
	changed, err := c.changed()
	if err != nil || len(changed) == 0 {
		return err
	}
	if !slices.Equal(changed, []string{"status"}) {
		return fmt.Errorf("write status of %q (changed: %v): %w", c.object.GetName(), changed, ErrMixedWrite)
	}
	if err := c.client.Status().Patch(ctx, c.object, patch()); err != nil {
		return fmt.Errorf("write status of %q: %w", c.object.GetName(), err)
	}
	c.rebase()
	return nil
}

// WriteObject patches metadata and spec if they changed, and refuses a changed status. It is for passes that change their
// own object.
func (c *Commit) WriteObject(ctx context.Context) error {
	changed, err := c.changed()
	if err != nil || len(changed) == 0 {
		return err
	}
	if slices.Contains(changed, "status") {
		return fmt.Errorf("write %q (changed: %v): %w", c.object.GetName(), changed, ErrMixedWrite)
	}
	if err := c.client.Patch(ctx, c.object, c.patch()); err != nil {
		return fmt.Errorf("write %q: %w", c.object.GetName(), err)
	}
	c.rebase()
	return nil
}

func (c *Commit) patch() client.Patch {
	return client.MergeFromWithOptions(c.before, client.MergeFromWithOptimisticLock{})
}

// ownPatch holds the UID of the object, which a server never changes, and not its version.
func (c *Commit) ownPatch() client.Patch {
	before, _ := c.before.DeepCopyObject().(client.Object)
	before.SetUID("")
	return client.MergeFrom(before)
}

// changed lists the top-level fields that differ, sorted.
func (c *Commit) changed() ([]string, error) {
	if reflect.DeepEqual(c.before, c.object) {
		return nil, nil // Most passes change nothing, and a patch costs much more than to find that out.
	}
	data, err := client.MergeFrom(c.before).Data(c.object)
	if err != nil {
		return nil, fmt.Errorf("compute the patch of %q: %w", c.object.GetName(), err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read the patch of %q: %w", c.object.GetName(), err)
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}
