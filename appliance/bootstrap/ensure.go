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

// Config says what the first objects depend on.
type Config struct {
	// Loopback reaches the API server with all rights.
	Loopback *rest.Config
	// APILevel is the version of Gardener whose API is served.
	APILevel string
	// ProjectsByEveryone lets each user who has shown who it is create projects. Otherwise only those can who are bound to
	// the role for it.
	ProjectsByEveryone bool
	// TokenLifetime is how long a join token is valid unless its maker says otherwise; zero is not told.
	TokenLifetime time.Duration
	// NewIdentity makes the identity of a garden that has none yet.
	NewIdentity func() string
}

// object is one of the first objects, with the resource by which it is written.
type object struct {
	resource schema.GroupVersionResource
	value    metav1.Object
}

// Ensure applies all first objects and returns the identity of the garden.
func Ensure(ctx context.Context, c Config) (identity string, err error) {
	if c.Loopback == nil || c.APILevel == "" || c.NewIdentity == nil {
		return "", errors.New("make first objects: loopback, API level and identity: must be set")
	}
	client, err := dynamic.NewForConfig(c.Loopback)
	if err != nil {
		return "", fmt.Errorf("make first objects: %w", err)
	}
	kube, err := kubernetes.NewForConfig(c.Loopback)
	if err != nil {
		return "", fmt.Errorf("make first objects: %w", err)
	}

	if err := apply(ctx, client, namespaces()); err != nil {
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

// objects lists everything that lives in the namespaces or in none.
func (c Config) objects() []object {
	var all []object
	for _, some := range [][]object{operatorRoles(), everyoneRoles(), projectRoles(), seedRoles(), c.info()} {
		all = append(all, some...)
	}
	if c.ProjectsByEveryone {
		all = append(all, projectCreators())
	}

	return all
}

// retired lists what has to go: what earlier versions have made, and what another configuration has.
func (c Config) retired() []object {
	all := retired()
	if !c.ProjectsByEveryone {
		all = append(all, projectCreators())
	}

	return all
}

// apply writes what this version wants and leaves alone what others have added.
func apply(ctx context.Context, client dynamic.Interface, objects []object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, o := range objects {
		group.Go(func() error {
			name := o.value.GetName()
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.value)
			if err != nil {
				return fmt.Errorf("encode %s %q: %w", o.resource.Resource, name, err)
			}
			prune(fields)
			_, err = client.Resource(o.resource).Namespace(o.value.GetNamespace()).Apply(ctx, name,
				&unstructured.Unstructured{Object: fields}, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
			if err != nil {
				return fmt.Errorf("apply %s %q: %w", o.resource.Resource, name, err)
			}

			return nil
		})
	}

	return group.Wait()
}

// retire deletes what this version does not want any more.
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

// prune drops what an apply must not claim: fields that were never set but have no way to be left out in Go. A rule list
// of null would take an aggregated role its rules.
func prune(fields map[string]any) {
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(fields, "spec")
	unstructured.RemoveNestedField(fields, "status")
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
}
