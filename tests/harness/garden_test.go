// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

func TestStart(t *testing.T) {
	t.Parallel()

	g := harness.Start(t)
	created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine"}}
	if err := g.Client.Create(t.Context(), created); err != nil {
		t.Fatalf("The administrator may write.\nCreate(...): %v", err)
	}
	found := harness.Await(t, g.Client, created, "read what was written", func(*corev1.ConfigMap) error { return nil })
	if diff := cmp.Diff(created, found); diff != "" || found.UID == "" {
		t.Errorf("Await returns the object that was found (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(g.ClusterIdentity, "garden-") || len(g.CA) == 0 {
		t.Errorf("A garden says who it is: got identity %q, CA of %d bytes", g.ClusterIdentity, len(g.CA))
	}

	g.Stop(t)
	if _, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(g.Server, "https://")); err == nil {
		t.Error("A stopped garden answers nobody, but the port is open.")
	}
	if err := g.Client.Get(t.Context(), client.ObjectKeyFromObject(created), created); err == nil {
		t.Error("A stopped garden answers nobody, but a read succeeded.")
	}
}
