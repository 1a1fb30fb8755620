// SPDX-License-Identifier: Apache-2.0

// Package extension requests work from extensions: it writes objects of the group extensions.gardener.cloud into the seed,
// annotates them with an operation, and waits for the result in their status. It is the same for all kinds.
//
// The order of the readiness checks, the annotations and the timeouts are part of the contract with third-party extensions.
package extension

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// Engine requests work from the extensions of one seed.
type Engine struct {
	// Client reaches the seed, around any cache.
	Client client.Client
	// Clock gives the times of requests and drives the waiting.
	Clock clock.Clock
}

// Trigger says when the extension is asked to act.
type Trigger int

const (
	// Always asks in every run.
	Always Trigger = iota
	// WhenNeeded asks if the object is new or changed, or if it is not ready: its last operation did not succeed, is older than the
	// request, or the request has no time that can be read. It is for kinds whose work is expensive.
	WhenNeeded
)

// Apply creates or updates the object, and asks the extension to act in the same write. obj has a namespace and a name; mutate
// changes it after the live object, if it exists, has been read into it.
func (e Engine) Apply(ctx context.Context, obj gardenextensionsv1alpha1.Object, trigger Trigger, mutate func() error) error {
	live, err := e.get(ctx, obj)
	if err != nil {
		return err
	}
	before, _ := obj.DeepCopyObject().(gardenextensionsv1alpha1.Object)
	if err := mutate(); err != nil {
		return fmt.Errorf("prepare %s: %w", describe(obj), err)
	}
	if !live {
		e.request(obj)
		if err := e.Client.Create(ctx, obj); err != nil {
			return fmt.Errorf("create %s: %w", describe(obj), deploy.Explain(err))
		}
		return nil
	}
	// What Ready rejects is asked for again, or a wait for it would never end: the extension only acts when it is asked.
	if trigger == Always || !equality.Semantic.DeepEqual(before, obj) || Ready(before) != nil {
		e.request(obj)
		// A request that is there already is written again: the extension may take it off meanwhile, and act on the spec of before.
		delete(before.GetAnnotations(), gardencorev1beta1.AnnotationOperation)
	}
	if err := e.Client.Patch(ctx, obj, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("patch %s: %w", describe(obj), deploy.Explain(err))
	}
	return nil
}

// Delete confirms and deletes the object. It succeeds if the object does not exist or the seed does not know its kind.
func (e Engine) Delete(ctx context.Context, obj gardenextensionsv1alpha1.Object) error {
	live, err := e.get(ctx, obj)
	if err != nil || !live {
		return err
	}
	before, _ := obj.DeepCopyObject().(gardenextensionsv1alpha1.Object)
	annotate(obj, gardencorev1beta1.AnnotationConfirmationDeletion, "true")
	annotate(obj, gardencorev1beta1.AnnotationTimestamp, e.now())
	if err := e.Client.Patch(ctx, obj, client.MergeFrom(before)); err != nil {
		if gone(err) {
			return nil
		}
		return fmt.Errorf("confirm the deletion of %s: %w", describe(obj), err)
	}
	if err := e.Client.Delete(ctx, obj); err != nil && !gone(err) {
		return fmt.Errorf("delete %s: %w", describe(obj), err)
	}
	return nil
}

func (e Engine) request(obj gardenextensionsv1alpha1.Object) {
	annotate(obj, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationReconcile)
	annotate(obj, gardencorev1beta1.AnnotationTimestamp, e.now())
}

func (e Engine) now() string {
	return e.Clock.Now().UTC().Format(time.RFC3339Nano)
}

// get reads the live object into obj and reports whether it exists.
func (e Engine) get(ctx context.Context, obj gardenextensionsv1alpha1.Object) (bool, error) {
	err := e.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if err == nil {
		return true, nil
	}
	if gone(err) {
		return false, nil
	}
	return false, fmt.Errorf("get %s: %w", describe(obj), err)
}

func gone(err error) bool {
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}

func annotate(obj gardenextensionsv1alpha1.Object, key, value string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
}

// describe names an object in messages: Infrastructure "a".
func describe(obj gardenextensionsv1alpha1.Object) string {
	return fmt.Sprintf("%s %q", extensions.KindOf(obj).Name, obj.GetName())
}

// List returns all objects of a kind in a namespace; none if the seed does not know the kind.
func (e Engine) List(ctx context.Context, namespace string, kind extensions.Kind) ([]gardenextensionsv1alpha1.Object, error) {
	list := kind.NewList()
	if err := e.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		if gone(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("list objects of kind %s: %w", kind.Name, err)
	}
	var found []gardenextensionsv1alpha1.Object
	err := meta.EachListItem(list, func(item runtime.Object) error {
		if obj, ok := item.(gardenextensionsv1alpha1.Object); ok {
			found = append(found, obj)
		}
		return nil
	})
	return found, err
}
