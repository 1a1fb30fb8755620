// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// View is the garden at a time. In all of its methods a missing object is an error of reason NotFound.
type View struct {
	*World

	// version is the resource version that reads ask for: "0" is answered from the watch cache.
	version string
}

// Cached is the view that costs little.
func (w *World) Cached() View { return View{World: w, version: "0"} }

// Fresh is the view that holds every write that was answered before.
func (w *World) Fresh() View { return View{World: w} }

// Decide answers a request by a rule that refuses because of what it sees. The rule is asked once more, about the fresh
// view, before its refusal counts, so it must be able to run twice.
func (w *World) Decide(a admission.Attributes, rule func(v View) error) error {
	if rule(w.Cached()) == nil {
		return nil
	}
	return Answer(a, rule(w.Fresh()))
}

// Seed reads a Seed.
func (v View) Seed(ctx context.Context, name string) (*gardencorev1beta1.Seed, error) {
	out := &gardencorev1beta1.Seed{}
	return out, v.get(ctx, "seeds", "", name, out)
}

// CloudProfile reads a CloudProfile.
func (v View) CloudProfile(ctx context.Context, name string) (*gardencorev1beta1.CloudProfile, error) {
	out := &gardencorev1beta1.CloudProfile{}
	return out, v.get(ctx, "cloudprofiles", "", name, out)
}

// SecretBinding reads a SecretBinding.
func (v View) SecretBinding(ctx context.Context, namespace, name string) (*gardencorev1beta1.SecretBinding, error) {
	out := &gardencorev1beta1.SecretBinding{}
	return out, v.get(ctx, "secretbindings", namespace, name, out)
}

// Metadata reads the metadata of any object. An object of a kind that is not served is as missing as one that does not
// exist.
func (v View) Metadata(ctx context.Context, of Target) (*metav1.PartialObjectMetadata, error) {
	prefix := []string{"/apis", of.Group, of.Version}
	if of.Group == "" {
		prefix = []string{"/api", of.Version}
	}
	raw, err := v.garden.Get().AbsPath(prefix...).NamespaceIfScoped(of.Namespace, of.Namespace != "").
		Resource(of.Resource).Name(of.Name).
		SetHeader("Accept", metadataOnly("PartialObjectMetadata")).
		VersionedParams(&metav1.GetOptions{ResourceVersion: v.version}, v.parameters).
		Do(ctx).Raw()
	if err != nil {
		return nil, unreadable(err)
	}
	out := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, unreadable(fmt.Errorf("decode metadata: %w", err))
	}
	return out, nil
}

// ProjectOf returns the Project that owns a namespace, or nil when none does.
func (v View) ProjectOf(ctx context.Context, namespace string) (*gardencorev1beta1.Project, error) {
	out := &gardencorev1beta1.ProjectList{}
	selector := fields.OneTermEqualSelector(gardencorev1beta1.FieldProjectNamespace, namespace)
	if err := v.list("projects", "", metav1.ListOptions{FieldSelector: selector.String()}).Do(ctx).Into(out); err != nil {
		return nil, unreadable(err)
	}
	if len(out.Items) == 0 {
		return nil, nil
	}
	return &out.Items[0], nil
}

// Project returns the Project that owns a namespace; that there is none is an error.
func (v View) Project(ctx context.Context, namespace string) (*gardencorev1beta1.Project, error) {
	project, err := v.ProjectOf(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("find project of namespace %q: %w", namespace, err)
	}
	if project == nil {
		return nil, fmt.Errorf("namespace %q belongs to no project; shoots live in the namespace of a project", namespace)
	}
	return project, nil
}

// Shoots lists the Shoots of a namespace, or of all when it is empty, that match a field selector.
func (v View) Shoots(ctx context.Context, namespace string, s fields.Selector) ([]gardencorev1beta1.Shoot, error) {
	out := &gardencorev1beta1.ShootList{}
	err := v.list("shoots", namespace, metav1.ListOptions{FieldSelector: s.String()}).Do(ctx).Into(out)
	return out.Items, unreadable(err)
}

// ShootsOn names the Shoots that a seed runs or is meant to run, in the form namespace/name. The server keeps a label on
// them for that, so nothing but names has to be read.
func (v View) ShootsOn(ctx context.Context, seed string) ([]string, error) {
	o := metav1.ListOptions{LabelSelector: gardencorev1beta1.LabelPrefixSeedName + seed + "=true"}
	raw, err := v.list("shoots", "", o).SetHeader("Accept", metadataOnly("PartialObjectMetadataList")).Do(ctx).Raw()
	if err != nil {
		return nil, unreadable(err)
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, unreadable(fmt.Errorf("decode names of shoots: %w", err))
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Namespace+"/"+list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// ControllerRegistrations lists all ControllerRegistrations.
func (v View) ControllerRegistrations(ctx context.Context) ([]gardencorev1beta1.ControllerRegistration, error) {
	out := &gardencorev1beta1.ControllerRegistrationList{}
	err := v.list("controllerregistrations", "", metav1.ListOptions{}).Do(ctx).Into(out)
	return out.Items, unreadable(err)
}

func (v View) get(ctx context.Context, resource, namespace, name string, out runtime.Object) error {
	return unreadable(v.garden.Get().Resource(resource).NamespaceIfScoped(namespace, namespace != "").Name(name).
		VersionedParams(&metav1.GetOptions{ResourceVersion: v.version}, v.parameters).
		Do(ctx).Into(out))
}

func (v View) list(resource, namespace string, o metav1.ListOptions) *rest.Request {
	o.ResourceVersion = v.version
	return v.garden.Get().Resource(resource).NamespaceIfScoped(namespace, namespace != "").VersionedParams(&o, v.parameters)
}

func metadataOnly(kind string) string {
	return "application/json;as=" + kind + ";g=meta.k8s.io;v=v1"
}
