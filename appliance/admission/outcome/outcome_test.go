// SPDX-License-Identifier: Apache-2.0

package outcome_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
)

func TestWith(t *testing.T) {
	t.Parallel()
	answers := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, tc := range map[string]struct {
		reason string
		method string
		serve  http.HandlerFunc
		want   []outcome.Outcome
	}{
		"Created":   {"what is created is written", http.MethodPost, answers(http.StatusCreated), []outcome.Outcome{outcome.Written}},
		"Body":      {"a body without a status says that all is well", http.MethodPut, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }, []outcome.Outcome{outcome.Written}},
		"Forbidden": {"what is refused is not written", http.MethodPatch, answers(http.StatusForbidden), []outcome.Outcome{outcome.Refused}},
		"Conflict":  {"nor what is there already", http.MethodPost, answers(http.StatusConflict), []outcome.Outcome{outcome.Refused}},
		"Timeout":   {"the write of who has lost patience may still come", http.MethodPost, answers(http.StatusGatewayTimeout), []outcome.Outcome{outcome.Unknown}},
		"Error":     {"nobody knows what a broken store has done", http.MethodPost, answers(http.StatusInternalServerError), []outcome.Outcome{outcome.Unknown}},
		"Silence":   {"no answer says nothing", http.MethodPost, func(http.ResponseWriter, *http.Request) {}, []outcome.Outcome{outcome.Unknown}},
		"Panic":     {"nor does a panic", http.MethodPost, func(http.ResponseWriter, *http.Request) { panic("boom") }, []outcome.Outcome{outcome.Unknown}},
		"Early": {"a hint before the answer is none", http.MethodPost, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusForbidden)
		}, []outcome.Outcome{outcome.Refused}},
		"Read": {"who reads is not followed", http.MethodGet, answers(http.StatusOK), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []outcome.Outcome
			handler := outcome.With(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				outcome.From(r.Context()).Then(func(was outcome.Outcome) { got = append(got, was) })
				if len(got) > 0 {
					t.Error("the outcome is told before there is one")
				}
				tc.serve(w, r)
			}))
			func() {
				defer func() { _ = recover() }()
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), tc.method, "/", nil))
			}()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	_, r := outcome.Follow(t.Context())
	r.End(outcome.Refused)
	var got []outcome.Outcome
	r.Then(func(was outcome.Outcome) { got = append(got, was) })
	r.End(outcome.Written)
	if diff := cmp.Diff([]outcome.Outcome{outcome.Unknown}, got); diff != "" {
		t.Errorf("what a request asks for after its answer may still be written (-want +got):\n%s", diff)
	}
}
