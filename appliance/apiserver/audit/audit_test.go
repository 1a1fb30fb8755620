// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"

	"github.com/terrarium-garden/terrarium/appliance/apiserver/audit"
)

// TestLongEvents records requests with texts of a megabyte wherever a client can put one: the names of objects are recorded before they
// are validated.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	const most = 8 << 10
	text := strings.Repeat("ä", 1<<19)
	for name, event := range map[string]auditinternal.Event{
		"address":   {RequestURI: text},
		"agent":     {UserAgent: text},
		"addresses": {SourceIPs: strings.Split(strings.Repeat("192.0.2.1 ", 1000), " ")},
		"name":      {ObjectRef: &auditinternal.ObjectReference{Resource: "configmaps", Name: text}},
		"namespace": {ObjectRef: &auditinternal.ObjectReference{Resource: "configmaps", Namespace: text}},
		"message":   {ResponseStatus: &metav1.Status{Code: 422, Message: text}},
		"details":   {ResponseStatus: &metav1.Status{Code: 422, Details: &metav1.StatusDetails{Name: text, Causes: []metav1.StatusCause{{Message: text}}}}},
		"reasons":   {Annotations: map[string]string{"authorization.k8s.io/reason": text}},
		"note":      {Annotations: map[string]string{text: "x"}},
		"ID":        {AuditID: types.UID(text)},
		"method":    {Verb: text},
		"group":     {ObjectRef: &auditinternal.ObjectReference{APIGroup: text}},
		"version":   {ObjectRef: &auditinternal.ObjectReference{APIVersion: text}},
		"resource":  {ObjectRef: &auditinternal.ObjectReference{Resource: text}},
		"part":      {ObjectRef: &auditinternal.ObjectReference{Resource: "configmaps", Subresource: text}},
		"acted as":  {ImpersonatedUser: &authenticationv1.UserInfo{Username: text}},
		"in groups": {ImpersonatedUser: &authenticationv1.UserInfo{Groups: slices.Repeat([]string{"g"}, 1<<16)}},
		"in group":  {ImpersonatedUser: &authenticationv1.UserInfo{Groups: []string{text}}},
		"with more": {ImpersonatedUser: &authenticationv1.UserInfo{Extra: map[string]authenticationv1.ExtraValue{"k": {text}}}},
		"with keys": {ImpersonatedUser: &authenticationv1.UserInfo{Extra: map[string]authenticationv1.ExtraValue{text: {"v"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			event.User = authenticationv1.UserInfo{Username: "alice"}
			event.Level, event.Stage = auditinternal.LevelMetadata, auditinternal.StageResponseComplete
			audit.New(&out).ProcessEvents(&event)
			if n := out.Len(); n > most {
				t.Errorf("the line has %d bytes, want %d at most", n, most)
			}
			var line struct {
				User struct {
					Username string `json:"username"`
				} `json:"user"`
			}
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("alice", line.User.Username); diff != "" {
				t.Errorf("the user is recorded (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLongIdentities has somebody act as one of whom much is said, each part of it short. No line is longer than the search reads, even if
// each character takes six bytes.
func TestLongIdentities(t *testing.T) {
	t.Parallel()
	const most = 512 << 10
	extra, groups := map[string]authenticationv1.ExtraValue{}, []string{}
	for i := range 100 {
		extra[fmt.Sprintf("k%d", i)] = authenticationv1.ExtraValue{strings.Repeat("<", 2000)}
		groups = append(groups, strings.Repeat("<", 512))
	}
	who := authenticationv1.UserInfo{Username: strings.Repeat("<", 512), UID: strings.Repeat("<", 512), Groups: groups, Extra: extra}
	few := authenticationv1.UserInfo{Username: "alice", Groups: groups[:10], Extra: map[string]authenticationv1.ExtraValue{"k0": extra["k0"]}}
	for name, tc := range map[string]struct {
		reason        string
		who           authenticationv1.UserInfo
		groups, extra int
	}{
		"long": {"groups are recorded as far as they fit, and nothing else", who, 32, 0},
		"few":  {"what fits is recorded", few, 10, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			audit.New(&out).ProcessEvents(&auditinternal.Event{
				Level: auditinternal.LevelMetadata, Stage: auditinternal.StageResponseComplete, User: tc.who, ImpersonatedUser: &tc.who,
			})
			if n := out.Len(); n > most {
				t.Errorf("the line has %d bytes, want %d at most", n, most)
			}
			var line auditinternal.Event
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			got := []int{len(line.User.Groups), len(line.User.Extra), len(line.ImpersonatedUser.Groups), len(line.ImpersonatedUser.Extra)}
			if diff := cmp.Diff([]int{tc.groups, tc.extra, tc.groups, tc.extra}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAddresses has a client say that it comes from more addresses than are kept. The last one is that of its connection.
func TestAddresses(t *testing.T) {
	t.Parallel()
	event := auditinternal.Event{Level: auditinternal.LevelMetadata, Stage: auditinternal.StageResponseComplete}
	event.User.Username = "mallory"
	event.SourceIPs = append(slices.Repeat([]string{"192.0.2.1"}, 100), "203.0.113.9")
	var out bytes.Buffer
	audit.New(&out).ProcessEvents(&event)
	var line struct {
		SourceIPs []string `json:"sourceIPs"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(slices.Repeat([]string{"192.0.2.1"}, 9), "203.0.113.9"), line.SourceIPs); diff != "" {
		t.Errorf("the address of the connection is kept (-want +got):\n%s", diff)
	}
}
