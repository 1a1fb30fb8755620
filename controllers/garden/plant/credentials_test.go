// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestCredentials_GCM_PLANT_3 sees with what a cluster is asked.
func TestCredentials_GCM_PLANT_3(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	c := grow(t, func(s *httptest.Server) {
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r.Header.Get("Authorization")
			w.WriteHeader(http.StatusUnauthorized)
		})
	})
	for want, user := range map[string]clientcmdapi.AuthInfo{
		"Bearer secret":      {Token: "secret"},
		"Basic bWU6c2VjcmV0": {Username: "me", Password: "secret"},
		"":                   {},
	} {
		raw := c.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { *u = user })
		if found := c.look(t, raw, brief()); !found.Answered {
			t.Errorf("look(...) = %+v, want the answer of the cluster", found)
			continue
		}
		if got := <-asked; got != want {
			t.Errorf("asked with %q, want %q", got, want)
		}
	}
}
