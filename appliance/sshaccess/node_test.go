// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestNodeNames asks a garden for a way to a shoot, and the shoot for its nodes.
func TestNodeNames(t *testing.T) {
	t.Parallel()
	shoot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]any{
			"/api":  metav1.APIVersions{Versions: []string{"v1"}},
			"/apis": metav1.APIGroupList{},
			"/api/v1": metav1.APIResourceList{
				GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "nodes", Kind: "Node", Verbs: metav1.Verbs{"list"}}},
			},
			"/api/v1/nodes": corev1.NodeList{Items: []corev1.Node{
				{ObjectMeta: metav1.ObjectMeta{Name: "machine-a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "machine-b"}},
			}},
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[r.URL.Path])
	}))
	t.Cleanup(shoot.Close)
	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"shoot": {Server: shoot.URL}}, Contexts: map[string]*clientcmdapi.Context{"shoot": {Cluster: "shoot"}},
		CurrentContext: "shoot",
	})
	if err != nil {
		t.Fatal(err)
	}
	connected, err := Connect(&rest.Config{Host: shoot.URL})
	if err != nil {
		t.Fatal(err)
	}
	garden := fake.NewClientBuilder().WithScheme(connected.Scheme()).
		WithObjects(&gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceCreate: func(_ context.Context, _ client.Client, _ string, _ client.Object, request client.Object, _ ...client.SubResourceCreateOption) error {
				request.(*gardenauthenticationv1alpha1.ViewerKubeconfigRequest).Status.Kubeconfig = kubeconfig
				return nil
			},
		}).Build()
	names, err := (&Guide{Garden: garden}).NodeNames(t.Context(), "garden-meadow", "sprout")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"machine-a", "machine-b"}, names); diff != "" {
		t.Errorf("NodeNames(...) (-want +got):\n%s", diff)
	}
	if _, err := (&Guide{Garden: garden}).NodeNames(t.Context(), "garden-meadow", "weed"); err == nil {
		t.Error("NodeNames(...) of a shoot that does not exist succeeds")
	}
}
