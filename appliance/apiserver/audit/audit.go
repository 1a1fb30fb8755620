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

// Bounds of what strangers can make the log record: they must not be able to push out what others did.
const (
	strangersPerSecond = 5
	strangersBurst     = 50
	maxURI             = 2048
	maxAgent           = 256
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
	if !bodies && len(e.RequestURI) <= maxURI && len(e.UserAgent) <= maxAgent && left == 0 {
		return e
	}
	e = e.DeepCopy()
	if bodies {
		e.RequestObject, e.ResponseObject = nil, nil
	}
	e.RequestURI = e.RequestURI[:min(len(e.RequestURI), maxURI)]
	e.UserAgent = e.UserAgent[:min(len(e.UserAgent), maxAgent)]
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
