// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// View is a cached or a fresh view of the garden. All methods return an error with reason NotFound for a missing object.
type View struct {
	*World

	// version is the resource version of reads: "0" is read from the watch cache.
	version string
}

// Cached returns the cached view, which is cheap.
func (w *World) Cached() View { return View{World: w, version: "0"} }

// Fresh returns a view with all writes that were acknowledged before.
func (w *World) Fresh() View { return View{World: w} }

// Decide runs a check that rejects requests because of objects that exist. If it rejects on the cached view, it is run again
// on the fresh view, so it must be able to run twice.
func (w *World) Decide(a admission.Attributes, rule func(v View) error) error {
	if rule(w.Cached()) == nil {
		return nil
	}
	return Answer(a, rule(w.Fresh()))
}

// Seed reads a Seed.
func (v View) Seed(ctx context.Context, name string) (*gardencorev1beta1.Seed, error) {
	return Get[gardencorev1beta1.Seed](ctx, v, Place{Group: gardencorev1beta1.GroupName, Resource: "seeds", Name: name})
}

// CloudProfile reads a CloudProfile.
func (v View) CloudProfile(ctx context.Context, name string) (*gardencorev1beta1.CloudProfile, error) {
	return Get[gardencorev1beta1.CloudProfile](ctx, v, Place{Group: gardencorev1beta1.GroupName, Resource: "cloudprofiles", Name: name})
}

// ControllerInstallation reads a ControllerInstallation.
func (v View) ControllerInstallation(ctx context.Context, name string) (*gardencorev1beta1.ControllerInstallation, error) {
	return Get[gardencorev1beta1.ControllerInstallation](ctx, v, Place{Group: gardencorev1beta1.GroupName, Resource: "controllerinstallations", Name: name})
}

// SecretBinding reads a SecretBinding.
func (v View) SecretBinding(ctx context.Context, namespace, name string) (*gardencorev1beta1.SecretBinding, error) {
	return Get[gardencorev1beta1.SecretBinding](ctx, v, Place{Group: gardencorev1beta1.GroupName, Resource: "secretbindings", Namespace: namespace, Name: name})
}

// Metadata reads the metadata of any object. An object of a kind that is not served is as missing as one that does not
// exist.
func (v View) Metadata(ctx context.Context, of Target) (*metav1.PartialObjectMetadata, error) {
	if of.Name == "" {
		return nil, nameless(of.Group, of.Resource)
	}
	metadata, err := v.source.Metadata(ctx, of, v.version)
	return metadata, unreadable(err)
}

// Namespace reads a Namespace.
func (v View) Namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	return Get[corev1.Namespace](ctx, v, Place{Resource: "namespaces", Name: name})
}

// OfProject reports whether a namespace is that of a project, and not one of the garden itself (GAC-REG-1).
func (v View) OfProject(ctx context.Context, namespace string) (bool, error) {
	if namespace == "" {
		return false, nil
	}
	found, err := v.Namespace(ctx, namespace)
	if apierrors.IsNotFound(err) && v.version != "" {
		found, err = v.Fresh().Namespace(ctx, namespace)
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read namespace %q: %w", namespace, err)
	}
	return found.Labels[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleProject && found.Labels["app"] != "gardener", nil
}

// Names lists namespace/name of all objects at a place.
func (v View) Names(ctx context.Context, at Place) ([]string, error) {
	names, err := v.source.Names(ctx, at, metav1.ListOptions{ResourceVersion: v.version})
	return names, unreadable(err)
}

// Secret reads a Secret.
func (v View) Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return Get[corev1.Secret](ctx, v, Place{Resource: "secrets", Namespace: namespace, Name: name})
}

// Secrets lists the Secrets of a namespace that have some labels.
func (v View) Secrets(ctx context.Context, namespace string, s labels.Selector) ([]corev1.Secret, error) {
	o := metav1.ListOptions{LabelSelector: s.String(), ResourceVersion: v.version}
	found, err := v.source.List(ctx, Place{Resource: "secrets", Namespace: namespace}, o)
	secrets, err := cast[corev1.SecretList](found, err)
	if err != nil {
		return nil, err
	}
	return secrets.Items, nil
}

// ConfigMap reads a ConfigMap.
func (v View) ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return Get[corev1.ConfigMap](ctx, v, Place{Resource: "configmaps", Namespace: namespace, Name: name})
}

// ProjectOf returns the Project that owns a namespace, or nil if there is none.
func (v View) ProjectOf(ctx context.Context, namespace string) (*gardencorev1beta1.Project, error) {
	selector := fields.OneTermEqualSelector(gardencorev1beta1.FieldProjectNamespace, namespace)
	list, err := List[gardencorev1beta1.ProjectList](ctx, v, Place{Group: gardencorev1beta1.GroupName, Resource: "projects"}, selector)
	if err != nil || len(list.Items) == 0 {
		return nil, err
	}
	return &list.Items[0], nil
}

// Project returns the Project that owns a namespace, and an error if there is none.
func (v View) Project(ctx context.Context, namespace string) (*gardencorev1beta1.Project, error) {
	project, err := v.ProjectOf(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("find project of namespace %q: %w", namespace, err)
	}
	if project == nil {
		return nil, fmt.Errorf("namespace %q does not belong to a project; shoots must be in the namespace of a project", namespace)
	}
	return project, nil
}

// Shoots lists the Shoots of a namespace, or of all when it is empty, that match a field selector.
func (v View) Shoots(ctx context.Context, namespace string, s fields.Selector) ([]gardencorev1beta1.Shoot, error) {
	list, err := List[gardencorev1beta1.ShootList](ctx, v, Place{Group: gardencorev1beta1.GroupName, Resource: "shoots", Namespace: namespace}, s)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// ShootsOn returns the Shoots that a seed runs or that are bound to it, in the form namespace/name.
func (v View) ShootsOn(ctx context.Context, seed string) ([]string, error) {
	held, err := v.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	return held.On(seed), nil
}

// ControllerRegistrations lists all ControllerRegistrations.
func (v View) ControllerRegistrations(ctx context.Context) ([]gardencorev1beta1.ControllerRegistration, error) {
	place := Place{Group: gardencorev1beta1.GroupName, Resource: "controllerregistrations"}
	list, err := List[gardencorev1beta1.ControllerRegistrationList](ctx, v, place, fields.Everything())
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// nameless returns a NotFound error for a read without a name, which the stores would report as an internal error.
func nameless(group, resource string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: resource}, "")
}

// Get reads an object of any kind that the garden serves.
func Get[T any](ctx context.Context, v View, at Place) (*T, error) {
	if at.Name == "" {
		return nil, nameless(at.Group, at.Resource)
	}
	obj, err := v.source.Get(ctx, at, v.version)
	return cast[T](obj, err)
}

// List lists objects of any kind that match a field selector; T is the kind of the list.
func List[T any](ctx context.Context, v View, at Place, s fields.Selector) (*T, error) {
	obj, err := v.source.List(ctx, at, metav1.ListOptions{FieldSelector: s.String(), ResourceVersion: v.version})
	return cast[T](obj, err)
}

func cast[T any](obj runtime.Object, err error) (*T, error) {
	if err != nil {
		return nil, unreadable(err)
	}
	out, ok := obj.(any).(*T)
	if !ok {
		return nil, fmt.Errorf("%w: %T is no %T", ErrUnreadable, obj, out)
	}
	return out, nil
}
