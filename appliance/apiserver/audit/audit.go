// SPDX-License-Identifier: Apache-2.0

// Package audit records who did what in an audit log. The bodies of objects with credentials are never recorded, whatever the policy
// says.
package audit

import (
	_ "embed"
	"fmt"
	"io"
	"sync/atomic"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	genericaudit "k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/client-go/util/flowcontrol"
)

//go:embed policy.yaml
var defaultPolicy []byte

// Bounds of what anybody can make the log record with one request, and of how often strangers can: nobody must be able to push out what
// others did. Names are those of requests, which are recorded before they are validated.
const (
	strangersPerSecond = 5
	strangersBurst     = 50
	maxURI             = 2048
	maxAgent           = 256
	maxName            = 512
	maxText            = 2048
	maxAddresses       = 10
	// maxID is the length of an audit ID, which a client may choose. Those of the library have 36 characters.
	maxID = 64
	// maxGroups bounds the groups of a user, and how often each part of what else is said about one occurs.
	maxGroups = 100
	// maxIdentity bounds the names of all groups of a user together, and all else that is said about one. An event has two users, and
	// each byte can become six in JSON.
	maxIdentity = 16 << 10
)

// Policy reads a policy; without a file, it is the default one.
func Policy(file string) (genericaudit.PolicyRuleEvaluator, error) {
	var found *auditinternal.Policy
	var err error
	if file == "" {
		found, err = policy.LoadPolicyFromBytes(defaultPolicy)
	} else {
		found, err = policy.LoadPolicyFromFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("audit policy: %w", err)
	}

	return policy.NewPolicyRuleEvaluator(found), nil
}

// backend prepares events for the log.
type backend struct {
	genericaudit.Backend

	strangers flowcontrol.RateLimiter
	left      atomic.Int64
}

// New returns a backend that writes to a log.
func New(into io.Writer) genericaudit.Backend {
	return &backend{
		Backend:   auditlog.NewBackend(into, auditlog.FormatJson, auditv1.SchemeGroupVersion),
		strangers: flowcontrol.NewTokenBucketRateLimiter(strangersPerSecond, strangersBurst),
	}
}

// ProcessEvents implements audit.Sink.
func (b *backend) ProcessEvents(events ...*auditinternal.Event) bool {
	kept := make([]*auditinternal.Event, 0, len(events))
	for _, e := range events {
		if e.User.Username == "" && !b.strangers.TryAccept() {
			b.left.Add(1)

			continue
		}
		kept = append(kept, b.prepare(e))
	}

	return b.Backend.ProcessEvents(kept...)
}

// prepare returns an event without bodies of credentials and without long texts.
func (b *backend) prepare(e *auditinternal.Event) *auditinternal.Event {
	left := b.left.Load()
	bodies := (e.RequestObject != nil || e.ResponseObject != nil) && secret(e.ObjectRef)
	if !bodies && left == 0 && !long(e) {
		return e
	}
	e = e.DeepCopy()
	if bodies {
		e.RequestObject, e.ResponseObject = nil, nil
	}
	shorten(e)
	if left > 0 && b.left.CompareAndSwap(left, 0) {
		if e.Annotations == nil {
			e.Annotations = map[string]string{}
		}
		e.Annotations["audit.terrarium.garden/unauthenticated-requests-left-out"] = fmt.Sprint(left)
	}

	return e
}

// secret reports whether the body of an object is a credential, or contains one.
func secret(of *auditinternal.ObjectReference) bool {
	if of == nil {
		return false
	}
	switch of.Subresource {
	case "token", "adminkubeconfig", "viewerkubeconfig":
		return true
	}
	switch of.Resource {
	case "secrets", "internalsecrets", "shootstates", "tokenreviews":
		return true
	}

	return false
}
