// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
	"github.com/terrarium-garden/terrarium/tests/hollow"
)

func TestTune_GLET_CFG_1(t *testing.T) {
	t.Parallel()
	const protobuf, json = "application/vnd.kubernetes.protobuf", "application/json"
	type set struct {
		QPS                 float32
		Burst               int
		ContentType, Accept string
	}
	cases := map[string]struct {
		reason string
		given  gardenconfigv1alpha1.ClientConnectionConfiguration
		want   set
	}{
		"Limits":   {reason: "the limits are those of the file", given: gardenconfigv1alpha1.ClientConnectionConfiguration{QPS: 7, Burst: 9}, want: set{QPS: 7, Burst: 9}},
		"JSON":     {reason: "all is written in JSON if it is named", given: gardenconfigv1alpha1.ClientConnectionConfiguration{ContentType: json}, want: set{ContentType: json}},
		"Protobuf": {reason: "protobuf is what kinds are written in that have it", given: gardenconfigv1alpha1.ClientConnectionConfiguration{ContentType: protobuf}},
		"Accept": {
			reason: "what is accepted goes to the server as it is",
			given:  gardenconfigv1alpha1.ClientConnectionConfiguration{AcceptContentTypes: json + ";q=0.9,application/yaml"}, want: set{Accept: json + ";q=0.9,application/yaml"},
		},
		"AcceptNoJSON": {
			reason: "many kinds have no other format than JSON",
			given:  gardenconfigv1alpha1.ClientConnectionConfiguration{AcceptContentTypes: protobuf}, want: set{Accept: protobuf + "," + json},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := &rest.Config{}
			kit.Tune(config, tc.given)
			got := set{QPS: config.QPS, Burst: config.Burst, ContentType: config.ContentType, Accept: config.AcceptContentTypes}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nTune(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestShootsAreAskedAsOftenAsConfigured has a limit that lets three requests through, and the next one a quarter of an hour later. Whether the
// shoot is well is asked all the same.
func TestShootsAreAskedAsOftenAsConfigured_GLET_CFG_1(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.Connection = gardenconfigv1alpha1.ClientConnectionConfiguration{QPS: 0.001, Burst: 3}
	h.admit(t, kubeconfig(t, server, "a"))
	shoot := h.get(t, sprout)
	listNodes(t, shoot) // It asks twice for what is served.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A request that could not be made in time is not waited for.
	if err := shoot.List(ctx, &corev1.NodeList{}); err == nil || ctx.Err() != nil {
		t.Errorf("a fourth request: %v, want one that would come too late", err)
	}
	if status, err := shoot.Healthz(t.Context()); status != http.StatusOK {
		t.Errorf("Healthz() = %d, %v, want 200", status, err)
	}
	h.Connection = gardenconfigv1alpha1.ClientConnectionConfiguration{}
	h.Drop(sprout)
	for range 10 {
		listNodes(t, h.get(t, sprout))
	}
}

// TestShootsAreAskedForFormats: what a shoot is asked for is what the configuration says.
func TestShootsAreAskedForFormats_GLET_CFG_1(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Accept") }))
	t.Cleanup(server.Close)
	h := newHotbed(t)
	h.Connection.AcceptContentTypes = "application/yaml"
	access, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "shoot", Server: server.URL, Token: "a"})
	if err != nil {
		t.Fatal(err)
	}
	h.admit(t, access)
	if status, err := h.get(t, sprout).Healthz(t.Context()); status != http.StatusOK {
		t.Fatalf("Healthz() = %d, %v, want 200", status, err)
	}
	if diff := cmp.Diff("application/yaml,application/json", <-asked); diff != "" {
		t.Errorf("the accepted formats (-want +got):\n%s", diff)
	}
}
