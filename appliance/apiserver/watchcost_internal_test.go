// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
)

// tracking is what limits requests, of which only the count of watches is used.
type tracking struct {
	utilflowcontrol.Interface
	utilflowcontrol.WatchTracker
}

func (t tracking) RegisterWatch(r *http.Request) utilflowcontrol.ForgetWatchFunc {
	return t.WatchTracker.RegisterWatch(r)
}

func (t tracking) GetInterestedWatchCount(about *genericapirequest.RequestInfo) int {
	return t.WatchTracker.GetInterestedWatchCount(about)
}

// TestWatchesThatAWriteCosts has watches come and go, and a write ask how many of them it has to tell.
func TestWatchesThatAWriteCosts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, query string
		want          int
	}{
		"all":              {reason: "each change is told to it", query: "watch=true", want: 1},
		"label":            {reason: "it is found by the label", query: "watch=true&resourceVersion=7&labelSelector=seed%3Done"},
		"one of one":       {reason: "that is a single value as well", query: "watch=true&resourceVersion=7&labelSelector=seed+in+(one)"},
		"field":            {reason: "it is found by the field", query: "watch=true&resourceVersion=7&fieldSelector=spec.seedName%3Done"},
		"either of two":    {reason: "nothing is required to have one value", query: "watch=true&resourceVersion=7&labelSelector=seed+in+(one,two)", want: 1},
		"all but one":      {reason: "it has to be asked", query: "watch=true&resourceVersion=7&fieldSelector=spec.seedName!%3Done", want: 1},
		"label and others": {reason: "one requirement is enough", query: "watch=true&resourceVersion=7&labelSelector=seed%3Done,old!%3Dtrue"},
		"no version":       {reason: "the watch cache asks it about each change", query: "watch=true&labelSelector=seed%3Done", want: 1},
		"any version":      {reason: "so it does here", query: "watch=true&resourceVersion=0&labelSelector=seed%3Done", want: 1},
		"state":            {reason: "after the state it is found by the label", query: "watch=true&sendInitialEvents=true&labelSelector=seed%3Done"},
		"no selector":      {reason: "the API refuses it", query: "watch=true&resourceVersion=7&labelSelector=%3D%3D", want: 1},
		"namespace":        {reason: "the watches of a namespace are not found by it", query: "watch=true&resourceVersion=7&fieldSelector=metadata.namespace%3Da", want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts := soughtApart{tracking{WatchTracker: utilflowcontrol.NewWatchTracker()}}
			ctx := genericapirequest.WithRequestInfo(t.Context(), &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "watch", Resource: "shoots"})
			forget := counts.RegisterWatch(httptest.NewRequestWithContext(ctx, http.MethodGet, "/shoots?"+tc.query, http.NoBody))
			write := &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "patch", Resource: "shoots", Name: "a"}
			if got := counts.GetInterestedWatchCount(write); got != tc.want {
				t.Errorf("%s: a write counts %d watches, want %d", tc.reason, got, tc.want)
			}
			if forget != nil {
				forget()
			}
			if got := counts.GetInterestedWatchCount(write); got != 0 {
				t.Errorf("a write counts %d watches after the last has ended", got)
			}
		})
	}
}
