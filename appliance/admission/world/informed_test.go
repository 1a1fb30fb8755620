// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

func TestInformed(t *testing.T) {
	t.Parallel()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s", Labels: map[string]string{"a": "b"}}}
	known := informers.NewSharedInformerFactory(fake.NewClientset(secret, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}), 0)
	s := &server{answers: map[string]any{
		"/api/v1/namespaces/n":           kubeTyped("Namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}),
		"/api/v1/namespaces/n/secrets/s": kubeTyped("Secret", secret),
		"/api/v1/namespaces/n/secrets":   kubeTyped("SecretList", &corev1.SecretList{Items: []corev1.Secret{*secret}}),
	}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	w, err := world.New(world.Access{Clock: clock.RealClock{}, Config: &clientrest.Config{Host: h.URL}, Informers: known})
	if err != nil {
		t.Fatal(err)
	}
	read := func(v world.View) {
		t.Helper()
		namespace, err := v.Namespace(t.Context(), "n")
		check(t, "a namespace", err, namespace.Name == "n")
		found, err := v.Secret(t.Context(), "n", "s")
		check(t, "a secret", err, found.Name == "s")
		all, err := v.Secrets(t.Context(), "n", labels.SelectorFromSet(labels.Set{"a": "b"}))
		check(t, "secrets", err, len(all) == 1)
		metadata, err := v.Metadata(t.Context(), world.Target{Version: "v1", Resource: "secrets", Namespace: "n", Name: "s"})
		check(t, "metadata of a secret", err, metadata.Name == "s")
	}
	read(w.Cached())
	before := len(s.asked)
	if before != 4 {
		t.Errorf("API-ADM-3: before the cache has synced the server is asked, got %q", s.asked)
	}
	known.Start(t.Context().Done())
	known.WaitForCacheSync(t.Context().Done())
	read(w.Cached())
	if diff := cmp.Diff(before, len(s.asked)); diff != "" {
		t.Errorf("API-ADM-7: what is at hand is not asked for (-want +got):\n%s", diff)
	}
	if _, err := w.Cached().Secret(t.Context(), "n", "gone"); !apierrors.IsNotFound(err) {
		t.Errorf("what is missing is missing: %v", err)
	}
	read(w.Fresh())
	if len(s.asked) != before+4 {
		t.Errorf("API-ADM-7: a fresh view asks the server, got %q", s.asked[before:])
	}
}
