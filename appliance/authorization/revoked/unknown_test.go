// SPDX-License-Identifier: Apache-2.0

package revoked_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

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
	page := func(set *revoked.Set) int {
		answer := httptest.NewRecorder()
		list := (&revoked.Office{Set: set}).Mounts()[0].Handler
		list.ServeHTTP(answer, httptest.NewRequestWithContext(gone, http.MethodGet, revoked.Path, nil))

		return answer.Code
	}

	set := revoked.NewSet()
	if decision, _, err := set.Authorizer().Authorize(gone, request); decision != authorizer.DecisionDeny || err == nil {
		t.Errorf("before the records were read, a seed got decision %v, error %v", decision, err)
	}
	if code := page(set); code != http.StatusServiceUnavailable {
		t.Errorf("before the records were read, the list answered %d", code)
	}
	set.Synced()
	if decision, _, err := set.Authorizer().Authorize(gone, request); decision != authorizer.DecisionNoOpinion || err != nil {
		t.Errorf("after the records were read, a seed got decision %v, error %v", decision, err)
	}
	if code := page(set); code != http.StatusOK {
		t.Errorf("after the records were read, the list answered %d", code)
	}
}
