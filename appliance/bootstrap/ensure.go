// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	fieldManager = "terrarium"
	writers      = 8
)

// Config has the values that the first objects depend on.
type Config struct {
	// Loopback is a client configuration for the API server with all permissions.
	Loopback *rest.Config
	// APILevel is the version of Gardener whose API is served.
	APILevel string
	// ProjectsByEveryone lets all authenticated users create projects. Otherwise only users with a binding to the role for it
	// can.
	ProjectsByEveryone bool
	// TokenLifetime is the default lifetime of a join token; zero is not published.
	TokenLifetime time.Duration
	// NewIdentity generates the identity of a garden that has none yet.
	NewIdentity func() string
}

// object is one of the first objects, with its resource.
type object struct {
	resource schema.GroupVersionResource
	value    metav1.Object
}

// Ensure applies all first objects and returns the identity of the garden.
func Ensure(ctx context.Context, c Config) (identity string, err error) {
	if c.Loopback == nil || c.APILevel == "" || c.NewIdentity == nil {
		return "", errors.New("create first objects: loopback, API level and identity: must be set")
	}
	client, err := dynamic.NewForConfig(c.Loopback)
	if err != nil {
		return "", fmt.Errorf("create first objects: %w", err)
	}
	kube, err := kubernetes.NewForConfig(c.Loopback)
	if err != nil {
		return "", fmt.Errorf("create first objects: %w", err)
	}

	if err := create(ctx, client, namespaces()); err != nil {
		return "", err
	}
	if err := apply(ctx, client, c.objects()); err != nil {
		return "", err
	}
	if err := retire(ctx, client, c.retired()); err != nil {
		return "", err
	}

	return ensureIdentity(ctx, kube, c.NewIdentity)
}

// objects returns all objects except the namespaces.
func (c Config) objects() []object {
	var all []object
	for _, some := range [][]object{operatorRoles(), everyoneRoles(), projectRoles(), seedRoles(), flows(), c.info()} {
		all = append(all, some...)
	}
	if c.ProjectsByEveryone {
		all = append(all, projectCreators())
	}

	return all
}

// retired returns the objects to delete: those of earlier versions, and those of another configuration.
func (c Config) retired() []object {
	all := retired()
	if !c.ProjectsByEveryone {
		all = append(all, projectCreators())
	}

	return all
}

// create creates objects that have a name only, so that there is nothing to apply to those that exist.
func create(ctx context.Context, client dynamic.Interface, objects []object) error {
	for _, o := range objects {
		name := o.value.GetName()
		fields, err := encode(o)
		if err != nil {
			return err
		}
		_, err = client.Resource(o.resource).Namespace(o.value.GetNamespace()).Create(ctx, fields, metav1.CreateOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %s %q: %w", o.resource.Resource, name, err)
		}
	}

	return nil
}

func encode(o object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.value)
	if err != nil {
		return nil, fmt.Errorf("encode %s %q: %w", o.resource.Resource, o.value.GetName(), err)
	}
	prune(fields)

	return &unstructured.Unstructured{Object: fields}, nil
}

// apply applies the objects of this version and keeps what others have added.
func apply(ctx context.Context, client dynamic.Interface, objects []object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, o := range objects {
		group.Go(func() error {
			name := o.value.GetName()
			fields, err := encode(o)
			if err != nil {
				return err
			}
			_, err = client.Resource(o.resource).Namespace(o.value.GetNamespace()).Apply(ctx, name, fields,
				metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
			if err != nil {
				return fmt.Errorf("apply %s %q: %w", o.resource.Resource, name, err)
			}

			return nil
		})
	}

	return group.Wait()
}

// retire deletes an object that this version no longer has.
func retire(ctx context.Context, client dynamic.Interface, objects []object) error {
	for _, o := range objects {
		name := o.value.GetName()
		err := client.Resource(o.resource).Namespace(o.value.GetNamespace()).Delete(ctx, name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete retired %s %q: %w", o.resource.Resource, name, err)
		}
	}

	return nil
}

// prune removes fields that an apply must not own: fields that are not set but cannot be omitted in Go. A rule list of null
// would remove the rules of an aggregated role.
func prune(fields map[string]any) {
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(fields, "status")
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
	if spec, ok := fields["spec"].(map[string]any); ok && len(spec) == 0 {
		delete(fields, "spec")
	}
}
