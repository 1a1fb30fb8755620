// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := gardenauthenticationv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gardenauthenticationv1alpha1.RegisterDefaults(scheme)
	admin, viewer := &gardenauthenticationv1alpha1.AdminKubeconfigRequest{}, &gardenauthenticationv1alpha1.ViewerKubeconfigRequest{}
	given := &gardenauthenticationv1alpha1.AdminKubeconfigRequest{}
	given.Spec.ExpirationSeconds = new(int64(900))
	for _, request := range []runtime.Object{admin, viewer, given} {
		scheme.Default(request)
	}
	want := []*int64{new(int64(3600)), new(int64(3600)), new(int64(900))}
	got := []*int64{admin.Spec.ExpirationSeconds, viewer.Spec.ExpirationSeconds, given.Spec.ExpirationSeconds}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("API-KUBE-1: a request that says nothing is for an hour\nexpirationSeconds (-want +got):\n%s", diff)
	}
}
