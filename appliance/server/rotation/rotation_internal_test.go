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

	"github.com/terrarium-garden/terrarium/apis/operator/validation"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/controllers/kit"
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

// TestOperateWhileStarting_OPER_REC_4 repeats operations of a server that was killed before the one that takes its place can read objects: they
// are not given up.
func TestOperateWhileStarting_OPER_REC_4(t *testing.T) {
	t.Parallel()
	r := New(Config{API: func() *apiserver.Server { return nil }, Live: func() *client.Reader { return nil }, Revoked: func() []string { return nil }})
	for _, name := range []string{"rotate-observability-credentials", "rotate-serviceaccount-key-start", "rotate-credentials-start", "rotate-ca-complete"} {
		err := r.Operate(t.Context(), name)
		if _, refused := kit.UserReason(err); refused || err == nil || !strings.Contains(err.Error(), "starting") {
			t.Errorf("Operate(%q) = %v, final: %t, want an error after which it is tried again", name, err, refused)
		}
	}
	if _, refused := kit.UserReason(r.Operate(t.Context(), "rotate-everything")); !refused {
		t.Error("an operation that nobody knows is not refused")
	}
}

// TestAll_OPER_ROT_4 compares the operations that rotate all credentials with those that need not be asked for beside them. All but the last
// one know when they were done before, as all are repeated if one of them fails.
func TestAll_OPER_ROT_4(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	for all, complete := range map[string]bool{"rotate-credentials-start": false, "rotate-credentials-complete": true} {
		want, got := map[string]bool{}, map[string]bool{}
		for _, o := range r.single() {
			if validation.Covers(all, o.name) {
				want[o.name] = true
			}
		}
		parts := r.all(complete)
		for i, part := range parts {
			got[part.name] = true
			if i < len(parts)-1 && len(part.done) == 0 {
				t.Errorf("%s: %s is done once more when a later part has failed", all, part.name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 3 {
			t.Errorf("parts of %s (-covered +done):\n%s", all, diff)
		}
	}
}
