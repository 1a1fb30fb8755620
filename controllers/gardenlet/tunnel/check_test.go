// SPDX-License-Identifier: Apache-2.0

package tunnel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/tunnel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func pod(name string, phase corev1.PodPhase, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name, Labels: map[string]string{"type": "tunnel"}},
		Status:     corev1.PodStatus{Phase: phase, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

func in(namespace string, p *corev1.Pod) *corev1.Pod {
	p.Namespace = namespace
	return p
}

func TestCheck_GLET_CARE_11(t *testing.T) {
	t.Parallel()
	stranger := pod("stranger", corev1.PodRunning, "True")
	stranger.Labels = nil
	var crowd []client.Object
	for i := range 9 {
		crowd = append(crowd, pod(fmt.Sprintf("p%d", i), corev1.PodRunning, "False"))
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		answers string
		asked   []string
		reason  string
		message string
	}{
		"NoPods":    {objects: []client.Object{stranger, in("default", pod("a", corev1.PodRunning, "True"))}, reason: "NoTunnelDeployed", message: "There is no pod of the tunnel in namespace kube-system"},
		"Pending":   {objects: []client.Object{pod("a", corev1.PodPending, "False")}, reason: "TunnelConnectionBroken", message: "No pod of the tunnel runs"},
		"Works":     {objects: []client.Object{pod("a", corev1.PodRunning, "True")}, answers: "a", asked: []string{"a"}},
		"OneWorks":  {objects: []client.Object{pod("a", corev1.PodRunning, "True"), pod("b", corev1.PodRunning, "True")}, answers: "b", asked: []string{"a", "b"}},
		"ReadyIs1.": {objects: []client.Object{pod("a", corev1.PodRunning, "False"), pod("b", corev1.PodRunning, "True")}, answers: "b", asked: []string{"b"}},
		"Broken":    {objects: []client.Object{pod("a", corev1.PodRunning, "True")}, asked: []string{"a"}, reason: "TunnelConnectionBroken", message: "The API server reaches no pod of the tunnel"},
		"Crowd":     {objects: crowd, asked: []string{"p0", "p1", "p2"}, reason: "TunnelConnectionBroken", message: "The API server reaches no pod of the tunnel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			shoot := &kit.Shoot{
				Client: fake.NewClientBuilder().WithObjects(tc.objects...).Build(),
				Try: func(_ context.Context, path string) error {
					who := strings.TrimSuffix(strings.TrimPrefix(path, "/api/v1/namespaces/kube-system/pods/"), ":8134/proxy/healthz")
					asked = append(asked, who)
					if who == tc.answers {
						return nil
					}
					return errors.New("dial 4711 failed")
				},
			}
			err := tunnel.Check(t.Context(), shoot)
			var fault *tunnel.FaultError
			if errors.As(err, &fault) != (tc.reason != "") || (err != nil && fault == nil) {
				t.Fatalf("Check(...) = %v, want a fault with reason %q", err, tc.reason)
			}
			if fault != nil && (fault.Reason != tc.reason || fault.Message != tc.message) {
				t.Errorf("Check(...) = %s: %s, want %s: %s", fault.Reason, fault.Message, tc.reason, tc.message)
			}
			if fault != nil && len(tc.asked) > 0 && !strings.Contains(fault.Error(), "4711") {
				t.Errorf("the error does not say what the API server said: %v", fault)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("pods that were asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckThatCannotBeMade(t *testing.T) {
	t.Parallel()
	errDown := errors.New("down")
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return errDown },
	}).Build()
	var fault *tunnel.FaultError
	if err := tunnel.Check(t.Context(), &kit.Shoot{Client: c}); !errors.Is(err, errDown) || errors.As(err, &fault) {
		t.Errorf("the API server does not answer: Check(...) = %v, want an error that is no fault of the tunnel", err)
	}
}
