// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// write is a change of a shoot that the server itself is about to make.
type write struct {
	before, after *gardencorev1beta1.Shoot
	// status is set for a write of the status, try for one that is a dry run.
	status, try bool
}

// gate is an admission webhook that holds a write of a controller. Who kills the server then knows which writes were made and which were not;
// who only watches may come too late.
type gate struct {
	// asked is called whenever the server asks the gate.
	asked func()

	mu sync.Mutex
	// shut says which writes are held; if nil, none is. held is told of them, and opened is closed when they may go on.
	shut   func(write) bool
	held   chan struct{}
	opened chan struct{}
}

// newGate makes a gate in a garden, which stays over restarts. It is open.
func newGate(w *world) *gate {
	w.t.Helper()
	asked := make(chan struct{})
	g := &gate{asked: sync.OnceFunc(func() { close(asked) }), opened: make(chan struct{})}
	hook := httptest.NewTLSServer(g)
	w.top.Cleanup(func() {
		g.open()
		hook.Close()
	})
	all := admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{gardencorev1beta1.GroupName}, APIVersions: []string{"v1beta1"}, Resources: []string{"shoots", "shoots/status"},
		},
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: in("", "gate")}
	configuration.Webhooks = []admissionregistrationv1.ValidatingWebhook{{
		Name: "gate.example.org", Rules: []admissionregistrationv1.RuleWithOperations{all},
		ClientConfig: admissionregistrationv1.WebhookClientConfig{
			URL: &hook.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}),
		},
		SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(30)),
	}}
	w.must(create(configuration))
	w.until(func(w *world) error {
		if err := w.client().Create(w.t.Context(), inOne("probe"), client.DryRunAll); err != nil {
			return err
		}
		select {
		case <-asked:
			return nil
		default:
			return errors.New("the server does not ask the gate")
		}
	})

	return g
}

// close holds writes from now on, and returns what is told of the first one.
func (g *gate) close(which func(write) bool) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.held, g.opened = which, make(chan struct{}, 1), make(chan struct{})

	return g.held
}

// open lets all writes through.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		g.shut = nil
		close(g.opened)
	}
}

func (g *gate) ServeHTTP(answer http.ResponseWriter, asked *http.Request) {
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(asked.Body).Decode(review); err != nil || review.Request == nil {
		http.Error(answer, fmt.Sprintf("no review: %v", err), http.StatusBadRequest)
		return
	}
	g.asked()
	if err := g.pass(asked.Context(), review.Request); err != nil {
		http.Error(answer, err.Error(), http.StatusInternalServerError)
		return
	}
	review.Response, review.Request = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}, nil
	answer.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(answer).Encode(review); err != nil {
		panic(http.ErrAbortHandler) // The server that asked is gone.
	}
}

// pass returns once a write may be made. A write that is held longer than the server waits is refused: it must not be made without being
// counted.
func (g *gate) pass(ctx context.Context, request *admissionv1.AdmissionRequest) error {
	if request.UserInfo.Username != user.APIServerUser || request.Operation != admissionv1.Update {
		return nil
	}
	w := write{
		before: &gardencorev1beta1.Shoot{}, after: &gardencorev1beta1.Shoot{},
		status: request.SubResource == "status", try: request.DryRun != nil && *request.DryRun,
	}
	if err := errors.Join(json.Unmarshal(request.OldObject.Raw, w.before), json.Unmarshal(request.Object.Raw, w.after)); err != nil {
		return err
	}
	g.mu.Lock()
	shut, held, opened := g.shut, g.held, g.opened
	g.mu.Unlock()
	if shut == nil || !shut(w) {
		return nil
	}
	select {
	case held <- struct{}{}:
	default: // It is known already.
	}
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hold holds the write that comes next in the middle of a deed, and returns what tells of it. It is closed if there was none.
func (w *world) hold(ctx context.Context, d deed) <-chan struct{} {
	held := w.gate.close(d.hold)
	amid := make(chan struct{}, 1)
	go func() {
		defer close(amid)
		select {
		case <-held:
			amid <- struct{}{}
		case <-ctx.Done():
		}
	}()

	return amid
}

// restart starts the server again that was killed in the middle of a deed.
func (w *world) restart(d deed) {
	w.t.Helper()
	if w.gate != nil {
		w.gate.open()
	}
	if !d.late {
		w.garden = start(w.top, w.dir)
		return
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	amid := w.hold(ctx, d)
	w.garden = start(w.top, w.dir)
	if _, seen := <-amid; !seen {
		w.t.Fatal("the work does not go on")
	}
	w.must(d.owner)
	w.gate.open()
}
