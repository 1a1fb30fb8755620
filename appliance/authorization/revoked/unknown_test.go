// SPDX-License-Identifier: Apache-2.0

package revoked_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
)

// Until the records were read, a seed is let in nowhere, and nobody is told that no seed is shut out.
func TestUnknown(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	request := authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: "gardener.cloud:system:seed:s1", Groups: []string{"gardener.cloud:system:seeds"}},
	}
	// answers are the decision about the request of a seed and the status of the list.
	type answers struct {
		Decision authorizer.Decision
		Failed   bool
		List     int
	}
	ask := func(set *revoked.Set) answers {
		answer := httptest.NewRecorder()
		list := (&revoked.Office{Set: set}).Mounts()[0].Handler
		list.ServeHTTP(answer, httptest.NewRequestWithContext(gone, http.MethodGet, revoked.Path, nil))
		decision, _, err := set.Authorizer().Authorize(gone, request)

		return answers{Decision: decision, Failed: err != nil, List: answer.Code}
	}

	set := revoked.NewSet()
	if diff := cmp.Diff(answers{Decision: authorizer.DecisionDeny, Failed: true, List: http.StatusServiceUnavailable}, ask(set)); diff != "" {
		t.Errorf("before the records were read (-want +got):\n%s", diff)
	}
	set.Synced()
	if diff := cmp.Diff(answers{Decision: authorizer.DecisionNoOpinion, List: http.StatusOK}, ask(set)); diff != "" {
		t.Errorf("after the records were read (-want +got):\n%s", diff)
	}
}
