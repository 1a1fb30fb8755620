// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// TestRotateRefuses has requests that are refused before anything is changed.
func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	const (
		starting  = "the server is starting; try again"
		forceable = `: force is only possible for phase "complete" of "serviceAccountKey", "workloadIdentityKey" and "authorities"`
	)
	keys, err := identity.Ensure(filepath.Join(t.TempDir(), "data"), identity.Names{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	r := New(Config{
		Keys: keys, API: func() *apiserver.Server { return nil }, Live: func() *client.Reader { return nil }, Revoked: func() []string { return nil },
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
		"Monitoring":  {"the password cannot be read yet", `{"rotate":"observabilityCredentials"}`, starting},

		"ForceTokenKey":    {"force does not help", `{"rotate":"serviceAccountKey","phase":"complete","force":true}`, starting},
		"ForceWorkloadKey": {"force does not help", `{"rotate":"workloadIdentityKey","phase":"complete","force":true}`, starting},
		"ForceAuthorities": {"force does not help", `{"rotate":"authorities","phase":"complete","force":true}`, starting},
		"ForceAll": {
			"what needs it is forced alone", `{"rotate":"credentials","phase":"complete","force":true}`, `rotate "credentials", phase "complete"` + forceable,
		},
		"ForceStart": {
			"nothing holds up a start", `{"rotate":"authorities","phase":"start","force":true}`, `rotate "authorities", phase "start"` + forceable,
		},
		"ForceNoPhase": {
			"it completes by itself", `{"rotate":"encryptionKey","force":true}`, `rotate "encryptionKey", phase ""` + forceable,
		},
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
