// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"context"
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// scales serves the subresource scale of sets.
type scales struct{ sets *kind.Store }

var (
	_ rest.Patcher                  = &scales{}
	_ rest.GroupVersionKindProvider = &scales{}
	_ rest.TableConvertor           = &scales{}
)

// GroupVersionKind returns the kind of the body, which is of another group than the set.
func (*scales) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
}

// New returns an empty scale.
func (*scales) New() runtime.Object { return &autoscalingv1.Scale{} }

// Destroy does nothing: the main store owns the connections.
func (*scales) Destroy() {}

// Get reads the size of a set.
func (s *scales) Get(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	obj, err := s.sets.Get(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return scaleOf(obj)
}

// Update changes the size of a set; it never creates one.
//
//nolint:revive // the seven parameters are those of rest.Updater
func (s *scales) Update(
	ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc,
	validate rest.ValidateObjectUpdateFunc, _ bool, o *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	judge := func(ctx context.Context, obj, old runtime.Object) error {
		scale, err := scaleOf(obj)
		if err != nil {
			return err
		}
		was, err := scaleOf(old)
		if err != nil {
			return err
		}
		return validate(ctx, scale, was)
	}
	obj, _, err := s.sets.Update(ctx, name, &change{name: name, scale: info}, rest.ValidateAllObjectFunc, judge, false, o)
	if err != nil {
		return nil, false, err
	}
	scale, err := scaleOf(obj)
	return scale, false, err
}

// ConvertToTable returns the set as a table.
func (s *scales) ConvertToTable(ctx context.Context, obj, o runtime.Object) (*metav1.Table, error) {
	return rest.NewDefaultTableConvertor(gardenseedmanagementv1alpha1.Resource("managedseedsets")).ConvertToTable(ctx, obj, o)
}

func scaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	s, ok := obj.(*set)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("%T is not a ManagedSeedSet", obj))
	}
	selector, err := metav1.LabelSelectorAsSelector(&s.Spec.Selector)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("selector of ManagedSeedSet %q: %v", s.Name, err))
	}
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Name, Namespace: s.Namespace, UID: s.UID,
			ResourceVersion: s.ResourceVersion, CreationTimestamp: s.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: replicas(s)},
		Status: autoscalingv1.ScaleStatus{Replicas: s.Status.Replicas, Selector: selector.String()},
	}, nil
}

// change converts an update of the scale into an update of the set.
type change struct {
	name  string
	scale rest.UpdatedObjectInfo
}

// Preconditions implements rest.UpdatedObjectInfo.
func (c *change) Preconditions() *metav1.Preconditions { return c.scale.Preconditions() }

// UpdatedObject implements rest.UpdatedObjectInfo.
func (c *change) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	s, ok := old.DeepCopyObject().(*set)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("%T is not a ManagedSeedSet", old))
	}
	if s.ResourceVersion == "" {
		return nil, apierrors.NewNotFound(gardenseedmanagementv1alpha1.Resource("managedseedsets/scale"), c.name)
	}
	owners := managedfields.NewScaleHandler(s.ManagedFields, gardenseedmanagementv1alpha1.GroupVersion, replicasPath())
	was, err := scaleOf(s)
	if err != nil {
		return nil, err
	}
	if was.ManagedFields, err = owners.ToSubresource(); err != nil {
		return nil, fmt.Errorf("get managed fields of scale of %q: %w", c.name, err)
	}
	obj, err := c.scale.UpdatedObject(ctx, was)
	if err != nil {
		return nil, err
	}
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected kind Scale, got %T", obj))
	}
	if err := c.check(scale, s); err != nil {
		return nil, err
	}
	s.Spec.Replicas, s.ResourceVersion = &scale.Spec.Replicas, scale.ResourceVersion
	if s.ManagedFields, err = owners.ToParent(scale.ManagedFields); err != nil {
		return nil, fmt.Errorf("set managed fields of %q: %w", c.name, err)
	}
	return s, nil
}

var errOtherSet = errors.New("the object has been deleted and created again")

// check rejects an invalid size, and a scale of an earlier set with the same name.
func (c *change) check(scale *autoscalingv1.Scale, s *set) error {
	if scale.Spec.Replicas < 0 {
		return apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), c.name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), scale.Spec.Replicas, "must not be negative"),
		})
	}
	if scale.UID != "" && scale.UID != s.UID {
		return apierrors.NewConflict(gardenseedmanagementv1alpha1.Resource("managedseedsets/scale"), c.name, errOtherSet)
	}
	return nil
}

// replicasPath is the path of the size in a set; its field manager there is its field manager in the scale.
func replicasPath() managedfields.ResourcePathMappings {
	return managedfields.ResourcePathMappings{
		gardenseedmanagementv1alpha1.GroupVersion.String(): fieldpath.MakePathOrDie("spec", "replicas"),
	}
}
