// SPDX-License-Identifier: Apache-2.0

package reencrypt_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reencrypt"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// cluster serves ConfigMaps and deployments.
func cluster(t *testing.T, funcs interceptor.Funcs) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	served := meta.NewDefaultRESTMapper(nil)
	served.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	served.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	// These were served when the client looked it up.
	served.Add(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gear"}, meta.RESTScopeNamespace)
	served.Add(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gizmo"}, meta.RESTScopeNamespace)

	return fake.NewClientBuilder().WithScheme(types).WithRESTMapper(served).WithInterceptorFuncs(funcs).WithObjects(
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.org"}},
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "gears.example.org"}},
	).Build()
}

func TestServed(t *testing.T) {
	t.Parallel()
	c := cluster(t, interceptor.Funcs{})
	for resource, want := range map[string]string{
		"configmaps": "ConfigMap", "configmap": "", "deployments.apps": "Deployment", "deployments": "", "deployments.ap": "", "widgets.example.org": "",
	} {
		if got, err := reencrypt.Served(c, resource); got.Kind != want || err != nil {
			t.Errorf("Served(%q) = %v, %v, want kind %q", resource, got, err, want)
		}
	}
}

func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	c := cluster(t, interceptor.Funcs{})
	for resource, want := range map[string]string{
		"jobs.batch": "runtimeConfig", "widgets.example.org": "serve a version of its CustomResourceDefinition", "gadgets.example.org": "",
	} {
		for _, whole := range []bool{true, false} {
			w := reencrypt.Writer{Shoot: c, Patch: reencrypt.Nothing()}
			if whole {
				w.Whole = []string{resource}
			}
			w, stop := w.Limited()
			err := w.Write(t.Context(), resource, "")
			stop()
			if !whole || want == "" {
				if err != nil {
					t.Errorf("%s: %v, want that it is left out", resource, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), want) || !slices.Contains(lastoperation.Codes(err), gardencorev1beta1.ErrorCodeConfigurationProblem) {
				t.Errorf("%s: %v, want an error that says what to do: %s", resource, err, want)
			}
		}
	}
}

// TestPages goes on where an earlier run has ended, although the API server has forgotten the list.
func TestPages(t *testing.T) {
	t.Parallel()
	var asked, written, told []string
	c := cluster(t, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(options)
			asked = append(asked, o.Continue)
			page := list.(*metav1.PartialObjectMetadataList)
			if o.Continue == "forgotten" {
				err := apierrors.NewResourceExpired("the list is too old")
				err.ErrStatus.Continue = "renewed"

				return err
			}
			page.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "of " + o.Continue}}}
			page.Continue = map[string]string{"renewed": "last"}[o.Continue]

			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(obj)
			written = append(written, obj.GetName()+" "+string(data))

			return err
		},
	})
	w, stop := reencrypt.Writer{Shoot: c, Patch: reencrypt.Nothing(), Page: func(_ context.Context, resource, next string) error {
		told = append(told, resource+" "+next)

		return nil
	}}.Limited()
	defer stop()
	if err := w.Write(t.Context(), "configmaps", "forgotten"); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"forgotten", "renewed", "last"}, {"of renewed {}", "of last {}"}, {"configmaps last"}}
	if diff := cmp.Diff(want, [][]string{asked, written, told}); diff != "" {
		t.Errorf("pages that were asked for, writes and reports (-want +got):\n%s", diff)
	}
}

// TestLargePages writes objects of which the usual number is too large for one answer.
func TestLargePages(t *testing.T) {
	t.Parallel()
	var written []string
	c := cluster(t, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(options)
			if o.Limit > 250 {
				return fmt.Errorf("read the answer: %w", kit.ErrTooLarge)
			}
			page := list.(*metav1.PartialObjectMetadataList)
			page.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "of " + o.Continue}}}
			page.Continue = map[string]string{"": "last"}[o.Continue]

			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, obj client.Object, _ client.Patch, _ ...client.PatchOption) error {
			written = append(written, obj.GetName())

			return nil
		},
	})
	w, stop := reencrypt.Writer{Shoot: c, Patch: reencrypt.Nothing()}.Limited()
	defer stop()
	if err := w.Write(t.Context(), "configmaps", ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"of ", "of last"}, written); diff != "" {
		t.Errorf("objects that were written (-want +got):\n%s", diff)
	}
}

// noSuchPath is what an API server answers about a kind that it does not serve.
func noSuchPath() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "404 page not found", 0, true)
}

// TestServedNoMore writes resources that are served no more since the client has looked them up.
func TestServedNoMore(t *testing.T) {
	t.Parallel()
	c := cluster(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return noSuchPath()
	}})
	for resource, want := range map[string]bool{"gizmos.example.org": true, "gears.example.org": false, "configmaps": false, reencrypt.Secrets: false} {
		for _, whole := range [][]string{nil, {resource}} {
			w, stop := reencrypt.Writer{Shoot: c, Patch: reencrypt.Nothing(), Whole: whole}.Limited()
			err := w.Write(t.Context(), resource, "")
			stop()
			if want != (err == nil) {
				t.Errorf("%s: %v, want that it is left out only if there can be no objects of it: %t", resource, err, want)
			}
		}
	}
}

// TestWriteNotFound tells objects that are deleted from those whose kind is served no more.
func TestWriteNotFound(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		answer error
		fails  bool
	}{
		"what is deleted needs not be written":       {answer: apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "one")},
		"what is not served may still have its data": {answer: noSuchPath(), fails: true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			c := cluster(t, interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return tc.answer
			}})
			if err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}}); err != nil {
				t.Fatal(err)
			}
			w, stop := reencrypt.Writer{Shoot: c, Patch: reencrypt.Nothing()}.Limited()
			defer stop()
			if err := w.Write(t.Context(), "configmaps", ""); tc.fails != (err != nil) {
				t.Errorf("%s: %v", reason, err)
			}
		})
	}
}
