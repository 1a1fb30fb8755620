// SPDX-License-Identifier: Apache-2.0

// Package world is how admission rules see the garden: objects by name, lists, and who may do what. It reads through
// the API server itself, whose watch cache answers, so that a rule never decides on a view that is older than the
// request before it.
package world

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// World is a view of the garden.
type World struct {
	// Clock tells the time for expiration dates.
	Clock clock.PassiveClock

	garden, core rest.Interface
	parameters   runtime.ParameterCodec
	authorizer   authorizer.Authorizer
}

// New returns the view that a loopback client has.
func New(loopback *rest.Config, a authorizer.Authorizer, c clock.PassiveClock) (*World, error) {
	kinds, err := scheme.New()
	if err != nil {
		return nil, fmt.Errorf("make scheme of admission: %w", err)
	}
	codecs := serializer.NewCodecFactory(kinds)
	garden, err := client(loopback, gardencorev1beta1.GroupVersion, "/apis", codecs)
	if err != nil {
		return nil, err
	}
	core, err := client(loopback, corev1.SchemeGroupVersion, "/api", codecs)
	if err != nil {
		return nil, err
	}
	return &World{Clock: c, garden: garden, core: core, parameters: runtime.NewParameterCodec(kinds), authorizer: a}, nil
}

func client(
	loopback *rest.Config, version schema.GroupVersion, path string, codecs serializer.CodecFactory,
) (rest.Interface, error) {
	config := rest.CopyConfig(loopback)
	config.GroupVersion = &version
	config.APIPath = path
	config.NegotiatedSerializer = codecs.WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON
	config.QPS = -1 // The API server's own fairness limits requests.
	c, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make client of admission for %q: %w", version, err)
	}
	return c, nil
}

// Seed reads a Seed; a missing one is an error of reason NotFound.
func (w *World) Seed(ctx context.Context, name string) (*gardencorev1beta1.Seed, error) {
	out := &gardencorev1beta1.Seed{}
	return out, w.garden.Get().Resource("seeds").Name(name).Do(ctx).Into(out)
}

// CloudProfile reads a CloudProfile.
func (w *World) CloudProfile(ctx context.Context, name string) (*gardencorev1beta1.CloudProfile, error) {
	out := &gardencorev1beta1.CloudProfile{}
	return out, w.garden.Get().Resource("cloudprofiles").Name(name).Do(ctx).Into(out)
}

// ControllerDeployment reads a ControllerDeployment.
func (w *World) ControllerDeployment(ctx context.Context, name string) (*gardencorev1beta1.ControllerDeployment, error) {
	out := &gardencorev1beta1.ControllerDeployment{}
	return out, w.garden.Get().Resource("controllerdeployments").Name(name).Do(ctx).Into(out)
}

// SecretBinding reads a SecretBinding.
func (w *World) SecretBinding(ctx context.Context, namespace, name string) (*gardencorev1beta1.SecretBinding, error) {
	out := &gardencorev1beta1.SecretBinding{}
	return out, w.garden.Get().Resource("secretbindings").Namespace(namespace).Name(name).Do(ctx).Into(out)
}

// Shoot reads a Shoot.
func (w *World) Shoot(ctx context.Context, namespace, name string) (*gardencorev1beta1.Shoot, error) {
	out := &gardencorev1beta1.Shoot{}
	return out, w.garden.Get().Resource("shoots").Namespace(namespace).Name(name).Do(ctx).Into(out)
}

// Project reads a Project by its own name.
func (w *World) Project(ctx context.Context, name string) (*gardencorev1beta1.Project, error) {
	out := &gardencorev1beta1.Project{}
	return out, w.garden.Get().Resource("projects").Name(name).Do(ctx).Into(out)
}

// Secret reads a Secret.
func (w *World) Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	out := &corev1.Secret{}
	return out, w.core.Get().Resource("secrets").Namespace(namespace).Name(name).Do(ctx).Into(out)
}

// ProjectOf returns the Project that owns a namespace, or nil when none does.
func (w *World) ProjectOf(ctx context.Context, namespace string) (*gardencorev1beta1.Project, error) {
	out := &gardencorev1beta1.ProjectList{}
	selector := fields.OneTermEqualSelector(gardencorev1beta1.FieldProjectNamespace, namespace)
	if err := w.list(ctx, "projects", "", selector, out); err != nil || len(out.Items) == 0 {
		return nil, err
	}
	return &out.Items[0], nil
}

// Projects lists all Projects.
func (w *World) Projects(ctx context.Context) ([]gardencorev1beta1.Project, error) {
	out := &gardencorev1beta1.ProjectList{}
	err := w.list(ctx, "projects", "", fields.Everything(), out)
	return out.Items, err
}

// Shoots lists the Shoots of a namespace, or of all when it is empty, that match a field selector.
func (w *World) Shoots(ctx context.Context, namespace string, s fields.Selector) ([]gardencorev1beta1.Shoot, error) {
	out := &gardencorev1beta1.ShootList{}
	err := w.list(ctx, "shoots", namespace, s, out)
	return out.Items, err
}

// ControllerRegistrations lists all ControllerRegistrations.
func (w *World) ControllerRegistrations(ctx context.Context) ([]gardencorev1beta1.ControllerRegistration, error) {
	out := &gardencorev1beta1.ControllerRegistrationList{}
	err := w.list(ctx, "controllerregistrations", "", fields.Everything(), out)
	return out.Items, err
}

func (w *World) list(
	ctx context.Context, resource, namespace string, s fields.Selector, out runtime.Object,
) error {
	return w.garden.Get().Resource(resource).NamespaceIfScoped(namespace, namespace != "").
		VersionedParams(&metav1.ListOptions{FieldSelector: s.String()}, w.parameters).
		Do(ctx).Into(out)
}

// May tells whether a user may do something to a named object.
func (w *World) May(ctx context.Context, who user.Info, verb string, what Target) (bool, error) {
	decision, _, err := w.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: who, Verb: verb, APIGroup: what.Group, APIVersion: "*", Resource: what.Resource, Subresource: what.Subresource,
		Namespace: what.Namespace, Name: what.Name, ResourceRequest: true,
	})
	if err != nil {
		return false, fmt.Errorf("decide whether %q may %s %s: %w", who.GetName(), verb, what.Resource, err)
	}
	return decision == authorizer.DecisionAllow, nil
}

// Target is what somebody wants to act on.
type Target struct{ Group, Resource, Subresource, Namespace, Name string }
