// SPDX-License-Identifier: Apache-2.0

package bounds_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/appliance/apiserver/bounds"
)

// outcome says whether a request went on, and how it was answered.
type outcome struct {
	Passed bool
	Status int
}

// TestCertificateRequestsAreShort has requests for certificates whose keys take long to verify. Other objects may be longer.
func TestCertificateRequestsAreShort(t *testing.T) {
	t.Parallel()
	const most = bounds.MaxCertificateRequest
	for name, tc := range map[string]struct {
		group, resource, part, method string
		size                          int
		passes                        bool
	}{
		"usual":      {"certificates.k8s.io", "certificatesigningrequests", "", http.MethodPost, most, true},
		"long":       {"certificates.k8s.io", "certificatesigningrequests", "", http.MethodPost, most + 1, false},
		"very long":  {"certificates.k8s.io", "certificatesigningrequests", "", http.MethodPost, 1 << 20, false},
		"applied":    {"certificates.k8s.io", "certificatesigningrequests", "", http.MethodPatch, most + 1, false},
		"signed":     {"certificates.k8s.io", "certificatesigningrequests", "status", http.MethodPut, most + 1, true},
		"other kind": {"", "configmaps", "", http.MethodPost, most + 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passed := false
			next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })
			body := strings.Repeat(" ", tc.size-2) + "{}"
			request := httptest.NewRequestWithContext(genericapirequest.WithRequestInfo(t.Context(), &genericapirequest.RequestInfo{
				IsResourceRequest: true, APIGroup: tc.group, APIVersion: "v1", Resource: tc.resource, Subresource: tc.part,
			}), tc.method, "/", strings.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			bounds.With(next, 64<<10, serializer.NewCodecFactory(runtime.NewScheme())).ServeHTTP(answer, request)
			want := outcome{Status: http.StatusBadRequest}
			if tc.passes {
				want = outcome{Passed: true, Status: http.StatusOK}
			}
			if diff := cmp.Diff(want, outcome{Passed: passed, Status: answer.Code}); diff != "" {
				t.Errorf("With() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTotals sends bodies with many entries in small lists. How many there may be depends on who may create the kind, and on how its errors
// are reported.
func TestTotals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		group string
		most  int
	}{
		"what every user may create": {"authorization.k8s.io", bounds.MaxTotalInReview},
		"tokens":                     {"authentication.k8s.io", bounds.MaxTotalInReview},
		"kinds of Kubernetes":        {"rbac.authorization.k8s.io", bounds.MaxTotal},
		"kinds of the garden":        {"core.gardener.cloud", bounds.MaxTotalInGarden},
		"more kinds of the garden":   {"appliance.gardener.cloud", bounds.MaxTotalInGarden},
		"not a garden":               {"gardener.cloud.example.org", bounds.MaxTotal},
		"what administrators create": {"apiextensions.k8s.io", bounds.MaxTotalInDefinition},
		"kinds without a group":      {"", bounds.MaxTotal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for total, passes := range map[int]bool{tc.most * 9 / 10: true, tc.most * 11 / 10: false} {
				passed := false
				next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })
				request := httptest.NewRequestWithContext(genericapirequest.WithRequestInfo(t.Context(), &genericapirequest.RequestInfo{
					IsResourceRequest: true, APIGroup: tc.group, APIVersion: "v1", Resource: "things",
				}), http.MethodPost, "/", strings.NewReader(lists(total)))
				request.Header.Set("Content-Type", "application/json")
				bounds.With(next, 8<<20, serializer.NewCodecFactory(runtime.NewScheme())).ServeHTTP(httptest.NewRecorder(), request)
				if passed != passes {
					t.Errorf("a body with about %d entries: passed %t, want %t", total, passed, passes)
				}
			}
		})
	}
}

// lists are lists of lists of empty texts, with about so many entries and lists together, and few in each.
func lists(total int) string {
	const few, many = `["","","","","","",""],`, 100
	group := "[" + strings.Repeat(few, many) + "0],"

	return "[" + strings.Repeat(group, total/(8*many)) + strings.Repeat(few, total%(8*many)/8) + "0]"
}
