// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
)

func TestVerb(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"/apis/x/v1/seeds":                                 "list",
		"/apis/x/v1/seeds?watch=0":                         "list",
		"/apis/x/v1/seeds?watch=FALSE":                     "list",
		"/apis/x/v1/seeds?Watch=1":                         "list",
		"/apis/x/v1/seeds?sendInitialEvents=true":          "list",
		"/api/v1/namespaces/watch/secrets":                 "list",
		"/apis/x/v1/seeds?watch=1":                         "watch",
		"/apis/x/v1/seeds?watch=True":                      "watch",
		"/apis/x/v1/seeds?watch=yes":                       "watch",
		"/apis/x/v1/seeds?watch=f":                         "watch",
		"/apis/x/v1/seeds?watch=":                          "watch",
		"/apis/x/v1/seeds?watch":                           "watch",
		"/apis/x/v1/seeds?w%61tch=%79es":                   "watch",
		"/apis/x/v1/seeds?watch=yes&watch=0":               "watch",
		"/apis/x/v1/seeds?watch=on&sendInitialEvents=true": "watch",
		"/apis/x/v1/seeds?limit=x&watch=yes":               "watch",
		"/api/v1/watch/namespaces/a/secrets":               "watch",
		"/apis/x/v1/watch/seeds/one?watch=0":               "watch",
		"/apis/x/v1/seeds/one?watch=1":                     "get",
		"/appliance/status?watch=1":                        "",
		"/apis/x/v1/watch":                                 "",
	}
	got := map[string]string{}
	for target := range want {
		got[target] = apiserver.Verb(httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Verb(...) of GET requests (-want +got):\n%s", diff)
	}
}
