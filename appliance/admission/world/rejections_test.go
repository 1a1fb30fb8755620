// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"errors"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

func attributes(object runtime.Object) admission.Attributes {
	return admission.NewAttributesRecord(object, nil, corev1.SchemeGroupVersion.WithKind("Secret"), "n", "s",
		corev1.SchemeGroupVersion.WithResource("secrets"), "", admission.Create, nil, false, &user.DefaultInfo{Name: "rose"})
}

func TestRejected(t *testing.T) {
	t.Parallel()
	counter := world.NewRejections()
	var lines []string
	w, err := world.New(world.Access{
		Clock: clock.RealClock{}, Config: &clientrest.Config{Host: "http://127.0.0.1"}, Rejections: counter,
		Log: funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Rejected(attributes(&corev1.Secret{}), "TooOdd", errBoom); !errors.Is(err, errBoom) {
		t.Errorf("the refusal is passed on, got %v", err)
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(counter); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("one family of metrics, got %v, %v", families, err)
	}
	got := map[string]string{"name": families[0].GetName()}
	for _, pair := range families[0].GetMetric()[0].GetLabel() {
		got[pair.GetName()] = pair.GetValue()
	}
	want := map[string]string{
		"name":      "gardener_admission_controller_rejected_resources_total",
		"operation": "CREATE", "kind": "Secret", "namespace": "n", "reason": "TooOdd",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GAC-SRV-5: (-want +got):\n%s", diff)
	}
	if len(lines) != 1 {
		t.Errorf("GAC-KCFG-4: a refusal is logged once, got %q", lines)
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	already := &corev1.Secret{Data: map[string][]byte{"a": []byte("b")}}
	object, old, err := world.Objects[corev1.Secret](attributes(already), nil)
	if err != nil || object != already || old != nil {
		t.Errorf("objects of the type are taken as they are: %v, %v, %v", object, old, err)
	}
	interfaces := admission.NewObjectInterfacesFromScheme(kubernetesscheme.Scheme)
	if _, _, err := world.Objects[corev1.Secret](attributes(&corev1.ConfigMap{}), interfaces); !errors.Is(err, world.ErrUnreadable) {
		t.Errorf("what cannot be converted cannot be read: %v", err)
	}
	if _, _, err := world.Objects[corev1.ConfigMap](attributes(already), interfaces); !errors.Is(err, world.ErrUnreadable) {
		t.Errorf("another type is not what was asked for: %v", err)
	}
}

func TestOfProject(t *testing.T) {
	t.Parallel()
	own := admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.Name, n.Labels["app"] = "garden", "gardener" })
	other := admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.Name, n.Labels = "other", nil })
	g := admissiontest.New(t, nil, admissiontest.ProjectNamespace(), own, other)
	for name, want := range map[string]bool{admissiontest.Namespace: true, "garden": false, "other": false, "gone": false, "": false} {
		got, err := g.World.Cached().OfProject(t.Context(), name)
		if got != want || err != nil {
			t.Errorf("GAC-REG-1: namespace %q: got %t, %v", name, got, err)
		}
	}
	g.Break(errBoom)
	if _, err := g.World.Cached().OfProject(t.Context(), "other"); !errors.Is(err, world.ErrUnreadable) {
		t.Errorf("GAC-SRV-4: what cannot be read is no answer: %v", err)
	}
}
