// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// ErrImmutable says that an object exists and cannot be changed into what is wanted. Trying again does not help: either the
// rendering has to keep the values of the live object, or the object has to be replaced.
var ErrImmutable = errors.New("the object exists with other values in fields that never change")

// Engine applies, awaits and deletes objects in one cluster.
type Engine struct {
	// Client reaches the cluster. Its scheme knows the kind of every typed object given to the engine.
	Client client.Client
	// Owner is the field owner of everything that is applied.
	Owner string
	// Clock measures the time of waits.
	Clock clock.Clock
}

// Apply creates or changes the objects, in an order in which each finds what it needs: namespaces and definitions first,
// workloads last. It takes fields over from other owners. Fields that the objects leave out belong to others: a workload without
// replicas keeps the number that it has.
func (e Engine) Apply(ctx context.Context, objs ...client.Object) error {
	for _, obj := range inOrder(objs) {
		if _, err := e.ApplyOne(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// ApplyOver is Apply for an object that was made from a live one. The error is a conflict if that has changed since, or is gone: then
// it would undo what others have done, or bring back what they have deleted.
func (e Engine) ApplyOver(ctx context.Context, live, obj client.Object) error {
	u, err := e.configuration(obj)
	if err != nil {
		return err
	}
	u.SetUID(live.GetUID())
	u.SetResourceVersion(live.GetResourceVersion())
	return e.send(ctx, u)
}

// ApplyOne is Apply for one object. It returns the live object, with what others own of it.
func (e Engine) ApplyOne(ctx context.Context, obj client.Object) (*unstructured.Unstructured, error) {
	u, err := e.configuration(obj)
	if err != nil {
		return nil, err
	}
	return u, e.send(ctx, u)
}

func (e Engine) send(ctx context.Context, u *unstructured.Unstructured) error {
	if err := e.releaseReplicas(ctx, u); err != nil {
		return err
	}
	if err := e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.ForceOwnership, client.FieldOwner(e.Owner)); err != nil {
		if immutable(err) {
			err = fmt.Errorf("%w: %w", ErrImmutable, err)
		}
		return fmt.Errorf("apply %s: %w", describe(u), Explain(err))
	}
	return nil
}

// immutable reports whether a server refuses an object because of fields that never change. There is no status reason for that:
// some kinds name the field and call it immutable, others list the fields that may be changed and forbid the rest.
func immutable(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return strings.Contains(c.Message, "immutable") ||
			c.Type == metav1.CauseType(field.ErrorTypeForbidden) && strings.Contains(c.Message, "updates ")
	})
}

// Manifest writes the objects as YAML, as Apply would send them, for somebody else to apply.
func (e Engine) Manifest(objs ...client.Object) ([]byte, error) {
	var manifest []byte
	for _, obj := range inOrder(objs) {
		u, err := e.configuration(obj)
		if err != nil {
			return nil, err
		}
		document, err := yaml.Marshal(u.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", describe(u), err)
		}
		manifest = append(append(manifest, "---\n"...), document...)
	}

	return manifest, nil
}

// configuration is what is sent to the server: the object without its status and without what only a server sets.
func (e Engine) configuration(obj client.Object) (*unstructured.Unstructured, error) {
	m, err := e.memberOf(obj)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("convert %s %q: %w", m.Kind, m.Name, err)
	}
	u := &unstructured.Unstructured{Object: content}
	u = u.DeepCopy()
	u.SetGroupVersionKind(m.kind())
	u.SetManagedFields(nil)
	u.SetResourceVersion("")
	u.SetUID("")
	u.SetGeneration(0)
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(u.Object, "status")
	return u, nil
}

// Delete deletes the objects in the reverse order of Apply. An object that does not exist, or whose kind the cluster does not
// know, is gone already.
func (e Engine) Delete(ctx context.Context, objs ...client.Object) error {
	var errs []error
	for _, obj := range slices.Backward(inOrder(objs)) {
		u, err := e.stub(obj)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		err = e.Client.Delete(ctx, u, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil && !gone(err) {
			errs = append(errs, fmt.Errorf("delete %s: %w", describe(u), err))
		}
	}
	return errors.Join(errs...)
}

// get reads the live object without a cache. It returns nil if the object does not exist.
func (e Engine) get(ctx context.Context, obj client.Object) (*unstructured.Unstructured, error) {
	u, err := e.stub(obj)
	if err != nil {
		return nil, err
	}
	if err := e.Client.Get(ctx, client.ObjectKeyFromObject(obj), u); err != nil {
		if gone(err) {
			return nil, nil //nolint:nilnil // nil says that there is none
		}
		return nil, fmt.Errorf("get %s: %w", describe(u), err)
	}
	return u, nil
}

// stub is an object of the same identity and nothing else.
func (e Engine) stub(obj client.Object) (*unstructured.Unstructured, error) {
	m, err := e.memberOf(obj)
	if err != nil {
		return nil, err
	}
	return m.object(), nil
}

func gone(err error) bool {
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}

// describe names an object in messages: Deployment "shoot--p--s/kube-apiserver".
func describe(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return fmt.Sprintf("%s %q", u.GetKind(), u.GetName())
	}
	return fmt.Sprintf("%s %q", u.GetKind(), u.GetNamespace()+"/"+u.GetName())
}
