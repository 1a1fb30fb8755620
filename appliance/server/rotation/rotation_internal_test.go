// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
)

// TestRotateRefuses has requests that are refused before anything is changed.
func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	const starting = "the server is starting; try again"
	r := New(Config{
		API: func() *apiserver.Server { return nil }, Live: func() *client.Reader { return nil }, Revoked: func() []string { return nil },
		Signals: NewSignals(func() { t.Error("nothing has changed, and the Garden is told") }),
	})
	for name, tc := range map[string]struct{ reason, body, want string }{
		"NoJSON":      {"what is no JSON asks for nothing", "certificates", "the body is not JSON"},
		"Nothing":     {"it has to be said what is rotated", "{}", `rotate "", phase "": unknown`},
		"NoPhase":     {"what takes time has phases", `{"rotate":"authorities"}`, `rotate "authorities", phase "": unknown`},
		"Phase":       {"what takes no time has none", `{"rotate":"certificates","phase":"start"}`, `rotate "certificates", phase "start": unknown`},
		"TokenKey":    {"nobody could use a new key yet", `{"rotate":"serviceAccountKey","phase":"start"}`, starting},
		"WorkloadKey": {"nobody could use a new key yet", `{"rotate":"workloadIdentityKey","phase":"start"}`, starting},
		"Authorities": {"gardenlets cannot be asked yet", `{"rotate":"authorities","phase":"start"}`, starting},
		"Force":       {"force does not help", `{"rotate":"authorities","phase":"complete","force":true}`, starting},
		"Monitoring":  {"the password cannot be read yet", `{"rotate":"observabilityCredentials"}`, starting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Rotate(t.Context(), strings.NewReader(tc.body))
			if _, refused := errors.AsType[RefusedError](err); !refused {
				t.Fatalf("%s\nRotate(%s): got %v, want a refusal", tc.reason, tc.body, err)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s\nRotate(%s) (-want +got):\n%s", tc.reason, tc.body, diff)
			}
		})
	}
}

// TestSignals has keys taken up twice before anybody looks: each loop is woken once, and nobody waits for a loop.
func TestSignals(t *testing.T) {
	t.Parallel()
	told := 0
	s := NewSignals(func() { told++ })
	s.TakenUp()
	s.TakenUp()
	if told == 0 {
		t.Error("the Garden is brought up to date: it was not told")
	}
	got := map[string]int{}
	for name, signal := range map[string]chan struct{}{"certificates": s.certificates, "encryption": s.encryption, "authorities": s.authorities} {
		got[name] = len(signal)
	}
	if diff := cmp.Diff(map[string]int{"certificates": 1, "encryption": 1, "authorities": 1}, got); diff != "" {
		t.Errorf("signals (-want +got):\n%s", diff)
	}
}
