// SPDX-License-Identifier: Apache-2.0

// Package reencrypt writes objects of a shoot anew, so that they are stored as its API server stores objects by now.
package reencrypt

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// Secrets are encrypted in every shoot.
	Secrets = "secrets"

	// writesPerSecond bounds how fast objects of a shoot are written.
	writesPerSecond = 100
	pageSize        = 500
	// mostPages is more than any cluster has.
	mostPages = 100_000
)

// Writer writes many objects of a shoot.
type Writer struct {
	// Shoot is the client of the shoot. What it has looked up about resources must not be older than the run: it does not notice when one
	// is served no more, or in another version.
	Shoot client.Client
	// Patch is what is done with each object. An object that it does not change is written only if it is stored in another way than the
	// API server stores objects by now.
	Patch client.Patch
	// Selector selects objects by their labels; nil selects all.
	Selector labels.Selector
	// Whole are the resources of which nothing may be left out.
	Whole []string
	// Page is told where the next page of a resource begins, after one has been written; it may be nil.
	Page func(ctx context.Context, resource, next string) error

	limit flowcontrol.RateLimiter
}

// Nothing is a patch that changes nothing.
func Nothing() client.Patch {
	return client.RawPatch(types.MergePatchType, []byte("{}"))
}

// Limited returns the writer with a limit for how fast it writes, and a function that ends it.
func (w Writer) Limited() (Writer, func()) {
	w.limit = flowcontrol.NewTokenBucketRateLimiter(writesPerSecond, writesPerSecond)

	return w, w.limit.Stop
}

// Write writes the selected objects of one resource, such as deployments.apps, from a page on.
func (w Writer) Write(ctx context.Context, resource, next string) error {
	kind, err := w.kindOf(ctx, resource)
	if err != nil || kind.Empty() {
		return err
	}
	written := 0
	var failed error
	err = w.pages(kind, next).Each(ctx, func(page *metav1.PartialObjectMetadataList) error {
		var n int
		n, failed = w.writePage(ctx, kind, page)
		if written += n; failed == nil && page.Continue != "" && w.Page != nil {
			failed = w.Page(ctx, resource, page.Continue)
		}
		return failed
	})
	switch {
	case failed != nil:
		return fmt.Errorf("after %d objects: %w", written, failed)
	case err == nil:
		ctrl.LoggerFrom(ctx).Info("Objects were written", "resource", resource, "count", written)
		return nil
	case apierrors.IsMethodNotSupported(err): // Nothing is stored of it, such as of a review.
		return nil
	case apierrors.IsNotFound(err) && w.gone(ctx, resource):
		return nil
	default:
		return fmt.Errorf("list %s: %w", resource, err)
	}
}

// pages reads the metadata of all selected objects of a kind. Where the API server has forgotten the list meanwhile, what was created since
// is stored as it has to be.
func (w Writer) pages(kind schema.GroupVersionKind, from string) kit.Pages[*metav1.PartialObjectMetadataList] {
	p := kit.Pages[*metav1.PartialObjectMetadataList]{
		Reader: w.Shoot, Size: pageSize, From: from, Most: mostPages,
		New: func() *metav1.PartialObjectMetadataList {
			page := &metav1.PartialObjectMetadataList{}
			page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))

			return page
		},
	}
	if w.Selector != nil {
		p.Options = []client.ListOption{client.MatchingLabelsSelector{Selector: w.Selector}}
	}

	return p
}

// writePage writes the objects of a page, and returns how many.
func (w Writer) writePage(ctx context.Context, kind schema.GroupVersionKind, page *metav1.PartialObjectMetadataList) (int, error) {
	for i := range page.Items {
		if err := w.write(ctx, kind, &page.Items[i]); err != nil {
			return i, fmt.Errorf("write %s %q: %w", kind.Kind, client.ObjectKeyFromObject(&page.Items[i]), err)
		}
	}

	return len(page.Items), nil
}

func (w Writer) write(ctx context.Context, kind schema.GroupVersionKind, obj *metav1.PartialObjectMetadata) error {
	obj.SetGroupVersionKind(kind)
	before := obj.ResourceVersion
	err := w.Shoot.Patch(ctx, obj, w.Patch)
	if deleted(err) || apierrors.IsMethodNotSupported(err) {
		return nil
	}
	if err != nil || obj.ResourceVersion == before {
		return err
	}
	if err := w.limit.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the rate limit: %w", err)
	}

	return nil
}

// deleted reports whether an object does not exist any more. When the API server does not serve its kind any more, it may still exist; the
// answer is then that of a path that does not exist.
func deleted(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// gone reports whether a resource that was served cannot have objects any more. If it may have some, a later run looks again how they are
// served.
func (w Writer) gone(ctx context.Context, resource string) bool {
	hidden, err := w.hidden(ctx, resource)
	if err != nil || hidden {
		return false
	}
	ctrl.LoggerFrom(ctx).Info("Nothing is written of a resource that does not exist any more", "resource", resource)

	return true
}

// kindOf is the kind of a resource; it is empty if there is no such resource and nothing can be stored of it. It is an error if there can
// be objects that the API server does not serve, when nothing may be left out.
func (w Writer) kindOf(ctx context.Context, resource string) (schema.GroupVersionKind, error) {
	if resource == Secrets {
		return corev1.SchemeGroupVersion.WithKind("Secret"), nil
	}
	kind, err := Served(w.Shoot, resource)
	if err != nil || !kind.Empty() {
		return kind, err
	}
	hidden, err := w.hidden(ctx, resource)
	if err == nil && !hidden {
		ctrl.LoggerFrom(ctx).Info("Nothing is written of a resource that does not exist", "resource", resource)
	}

	return schema.GroupVersionKind{}, err
}

// hidden reports whether objects of a resource may be stored that is not served.
func (w Writer) hidden(ctx context.Context, resource string) (bool, error) {
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := w.Shoot.Get(ctx, client.ObjectKey{Name: resource}, definition)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("look whether resource %q is defined: %w", resource, err)
	}
	var how string
	switch {
	case err == nil:
		how = "serve a version of its CustomResourceDefinition"
	case builtIn(schema.ParseGroupResource(resource)):
		how = "enable its API in spec.kubernetes.kubeAPIServer.runtimeConfig"
	default:
		return false, nil
	}
	if !slices.Contains(w.Whole, resource) {
		return true, nil
	}
	err = fmt.Errorf("objects of resource %q cannot be written, because the cluster does not serve it, and nobody could read them later: %s", resource, how)

	return true, lastoperation.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
}

// Served is the kind of a resource that the API server serves under exactly this name; it is empty if there is none.
func Served(shoot client.Client, resource string) (schema.GroupVersionKind, error) {
	wanted := schema.ParseGroupResource(resource)
	found, err := shoot.RESTMapper().ResourceFor(wanted.WithVersion(""))
	if meta.IsNoMatchError(err) || err == nil && found.GroupResource() != wanted {
		return schema.GroupVersionKind{}, nil
	}
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("find resource %q: %w", resource, err)
	}
	kind, err := shoot.RESTMapper().KindFor(found)
	if err != nil {
		return kind, fmt.Errorf("find the kind of resource %q: %w", resource, err)
	}

	return kind, nil
}

// builtIn reports whether a resource is one of Kubernetes itself, which may be disabled.
func builtIn(resource schema.GroupResource) bool {
	for kind := range kubernetesscheme.Scheme.AllKnownTypes() {
		if plural, _ := meta.UnsafeGuessKindToResource(kind); plural.GroupResource() == resource {
			return true
		}
	}

	return false
}
