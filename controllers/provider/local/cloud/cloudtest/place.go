// SPDX-License-Identifier: Apache-2.0

// Package cloudtest has a seed with one shoot, and another cluster for its machines.
package cloudtest

import (
	"errors"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
)

const (
	// Namespace is that of the control plane and of the machines.
	Namespace = "shoot--dev--sprout"
	// UID is that of the shoot.
	UID = "uid-of-the-shoot"
	// Shoot is the one in the Cluster object.
	Shoot = `{"metadata":{"name":"sprout","uid":"uid-of-the-shoot"},"spec":{"networking":{"pods":"10.3.0.0/16"}}}`
	// Seed is the one in the Cluster object.
	Seed = `{"spec":{"networks":{"pods":"10.98.0.0/16","services":"10.97.0.0/16"}}}`
	// Kubeconfig is a good one.
	Kubeconfig = `apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "https://cloud.example.com"}}]
users: [{name: it, user: {token: secret-token}}]
`
)

// Place is a seed, and another cluster that every kubeconfig leads to.
type Place struct {
	client.Client

	// Clouds finds the one that is meant.
	Clouds *cloud.Clouds
	// Other is the other cluster.
	Other client.Client
}

// New makes a shoot whose provider secret has a kubeconfig, or none.
func New(t *testing.T, kubeconfig string) *Place {
	t.Helper()
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	cluster.Spec.Shoot.Raw, cluster.Spec.CloudProfile.Raw = []byte(Shoot), []byte(`{}`)
	cluster.Spec.Seed = &runtime.RawExtension{Raw: []byte(Seed)}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "cloudprovider"}}
	if kubeconfig != "" {
		secret.Data = map[string][]byte{"kubeconfig": []byte(kubeconfig)}
	}
	infrastructure := &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "sprout"}}
	infrastructure.Spec.Type = "local"
	own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	p := &Place{Client: Cluster(t, "seed", cluster, secret, infrastructure, own), Other: Cluster(t, "other")}
	p.Clouds = &cloud.Clouds{
		Seed: p, Reader: p,
		Connect: func([]byte, []netip.Prefix) (client.Client, error) { return p.Other, nil },
	}
	return p
}

// Cluster is one with that identity.
func Cluster(t *testing.T, identity string, objects ...client.Object) client.Client {
	t.Helper()
	known, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: types.UID(identity)}}
	// The converters of the fake client do not know ports that are a number or a name.
	return fake.NewClientBuilder().WithScheme(known).WithTypeConverters(managedfields.NewDeducedTypeConverter()).
		WithStatusSubresource(&corev1.Pod{}).WithObjects(append(objects, system)...).Build()
}

// Find returns where the machines are.
func (p *Place) Find(t *testing.T) cloud.Cloud {
	t.Helper()
	in, err := p.Clouds.Of(t.Context(), Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Infrastructure is the one of the shoot.
func (p *Place) Infrastructure(t *testing.T) *gardenextensionsv1alpha1.Infrastructure {
	t.Helper()
	object := &gardenextensionsv1alpha1.Infrastructure{}
	if err := p.Get(t.Context(), client.ObjectKey{Namespace: Namespace, Name: "sprout"}, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// Record writes down where the machines are, as the Infrastructure actor does.
func (p *Place) Record(t *testing.T, in cloud.Cloud) {
	t.Helper()
	object := p.Infrastructure(t)
	if err := errors.Join(cloud.Record(object, in), p.Update(t.Context(), object)); err != nil {
		t.Fatal(err)
	}
}

// Provide writes the provider secret.
func (p *Place) Provide(t *testing.T, kubeconfig string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "cloudprovider"}, Data: map[string][]byte{"kubeconfig": []byte(kubeconfig)}}
	if kubeconfig == "" {
		secret.Data = nil
	}
	if err := p.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// Count is the number of objects of some kinds in the namespace of a cluster.
func Count(t *testing.T, c client.Client, lists ...client.ObjectList) int {
	t.Helper()
	sum := 0
	for _, list := range lists {
		if err := c.List(t.Context(), list, client.InNamespace(Namespace)); err != nil {
			t.Fatal(err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(list)
		if err != nil {
			t.Fatal(err)
		}
		items, _ := content["items"].([]any)
		sum += len(items)
	}
	return sum
}
