// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// TestWatchesAreShort has clients ask for watches that outlive the permissions with which they began.
func TestWatchesAreShort(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, query string
		page          bool
		want          string
	}{
		"usual":     {reason: "most watches ask for minutes", query: "watch=true&timeoutSeconds=545", want: "watch=true&timeoutSeconds=545"},
		"an hour":   {reason: "the longest time", query: "timeoutSeconds=3600&watch=1", want: "timeoutSeconds=3600&watch=1"},
		"years":     {reason: "nobody reads for years with what he may read today", query: "watch=true&timeoutSeconds=1000000000", want: "timeoutSeconds=3600&watch=true"},
		"twice":     {reason: "the first one counts", query: "timeoutSeconds=9999&timeoutSeconds=5&watch=true", want: "timeoutSeconds=3600&watch=true"},
		"any":       {reason: "the library gives its own time", query: "watch=true", want: "watch=true"},
		"never":     {reason: "a time that is over is none", query: "watch=true&timeoutSeconds=-1", want: "timeoutSeconds=1&watch=true"},
		"overflow":  {reason: "in nanoseconds it would be 267 years", query: "watch=true&timeoutSeconds=-10000000000", want: "timeoutSeconds=1&watch=true"},
		"no number": {reason: "the API refuses it", query: "watch=true&timeoutSeconds=1e9", want: "watch=true&timeoutSeconds=1e9"},
		"elsewhere": {reason: "pages have parameters of their own", query: "timeoutSeconds=1000000000", page: true, want: "timeoutSeconds=1000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.RawQuery })
			ctx := genericapirequest.WithRequestInfo(t.Context(), &genericapirequest.RequestInfo{IsResourceRequest: !tc.page, Verb: "watch", Resource: "secrets"})
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/secrets?"+tc.query, http.NoBody)
			withShortWatches(next).ServeHTTP(httptest.NewRecorder(), r)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nquery (-want +got):\n%s", tc.reason, diff)
			}
			if r.URL.RawQuery != tc.query {
				t.Errorf("the request of others was changed to %q", r.URL.RawQuery)
			}
		})
	}
}
