// SPDX-License-Identifier: Apache-2.0

package cloudcontroller_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloudcontroller"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

const namespace = "shoot--dev--sprout"

const template = `{"labels":{"pool":"small","colour":"green","role":"","topology.kubernetes.io/region":"","topology.kubernetes.io/zone":"a"},"annotations":{"note":"yes"},"taints":[{"key":"t","value":"new","effect":"NoSchedule"}]}`

func newPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "machine-one", Labels: machinepod.Labels(), Annotations: map[string]string{machinepod.AnnotationNode: template},
		},
		Status: corev1.PodStatus{PodIP: "10.98.0.3"},
	}
}

func newNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine-one", Labels: map[string]string{"own": "label", "colour": "red"}}}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	const former = `{"labels":{"former":"","changed":"was"},"annotations":{"former":"yes"},"taints":[` +
		`{"key":"former","effect":"NoExecute"},{"key":"changed","value":"was","effect":"NoSchedule"}]}`
	labels := map[string]string{
		"own": "label", "pool": "small", "colour": "green", "role": "", "topology.kubernetes.io/zone": "a",
	}
	taint := func(value string) corev1.Taint {
		return corev1.Taint{Key: "t", Value: value, Effect: corev1.TaintEffectNoSchedule}
	}
	foreign := corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}
	full := func() *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "machine-one", Labels: labels, Annotations: map[string]string{"note": "yes", cloudcontroller.AnnotationApplied: template}},
			Spec:       corev1.NodeSpec{ProviderID: "local:///shoot--dev--sprout/machine-one", Taints: []corev1.Taint{taint("new")}},
		}
	}
	// marked has what a pool wanted before, and says so.
	marked := func() *corev1.Node {
		n := full().DeepCopy()
		n.Labels["former"], n.Labels["changed"], n.Annotations["former"] = "", "other", "yes"
		n.Annotations[cloudcontroller.AnnotationApplied] = former
		n.Spec.Taints = []corev1.Taint{
			{Key: "former", Effect: corev1.TaintEffectNoExecute},
			{Key: "former", Effect: corev1.TaintEffectNoSchedule},
			{Key: "changed", Value: "other", Effect: corev1.TaintEffectNoSchedule},
			taint("new"),
		}
		return n
	}
	cases := map[string]struct {
		reason string
		node   func() *corev1.Node
		// former is what the pod has asked for before.
		former string
		want   func() *corev1.Node
	}{
		"New":      {reason: "a new Node gets everything, what it has of its own stays", node: newNode, want: full},
		"Complete": {reason: "a complete Node is left alone", node: full, want: full},
		"Foreign": {
			reason: "taints and the provider ID of others stay, a taint with an old value is corrected",
			node: func() *corev1.Node {
				n := full()
				n.Spec.ProviderID, n.Spec.Taints = "other", []corev1.Taint{foreign, taint("old")}
				return n
			},
			want: func() *corev1.Node {
				n := full()
				n.Spec.ProviderID, n.Spec.Taints = "other", []corev1.Taint{foreign, taint("new")}
				return n
			},
		},
		"Withdrawn": {
			reason: "what the pool said before goes, unless somebody has changed it since; the rest is not of the pool",
			former: former,
			node:   marked,
			want: func() *corev1.Node {
				n := full().DeepCopy()
				n.Labels["changed"] = "other"
				n.Spec.Taints = []corev1.Taint{
					{Key: "former", Effect: corev1.TaintEffectNoSchedule}, {Key: "changed", Value: "other", Effect: corev1.TaintEffectNoSchedule}, taint("new"),
				}
				return n
			},
		},
		"Hostile": {
			reason: "a kubelet cannot have taken off what no pool has said, by writing that it was set",
			former: `{"labels":{"former":"other"}}`,
			node:   marked,
			want: func() *corev1.Node {
				n := marked()
				n.Annotations[cloudcontroller.AnnotationApplied] = template
				return n
			},
		},
		"Unreadable": {
			reason: "what cannot be read says nothing",
			node: func() *corev1.Node {
				n := full().DeepCopy()
				n.Annotations[cloudcontroller.AnnotationApplied] = "{"
				return n
			},
			want: full,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := tc.node().DeepCopy()
			pod := newPod()
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, machinepod.AnnotationFormer, tc.former)
			if err := cloudcontroller.Complete(node, pod); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want(), node, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nNode (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	broken := newPod()
	broken.Annotations[machinepod.AnnotationNode] = "{"
	if err := cloudcontroller.Complete(newNode(), broken); err == nil || !strings.Contains(err.Error(), `machine "machine-one"`) {
		t.Errorf("Complete(...) = %v for a broken template, want an error that names the machine", err)
	}
}

func TestWrongAddress(t *testing.T) {
	t.Parallel()
	node := func(kind corev1.NodeAddressType, address string) *corev1.Node {
		n := newNode()
		n.Status.Addresses = []corev1.NodeAddress{{Type: kind, Address: address}}
		return n
	}
	cases := map[string]struct {
		reason string
		node   *corev1.Node
		want   string
	}{
		"Same":     {reason: "the address of the machine is right", node: node(corev1.NodeInternalIP, "10.98.0.3")},
		"Other":    {reason: "another internal address is reported", node: node(corev1.NodeInternalIP, "10.98.0.9"), want: "10.98.0.9"},
		"Hostname": {reason: "other kinds of addresses are not compared", node: node(corev1.NodeHostName, "machine-one")},
		"None":     {reason: "a Node that has not reported addresses yet is not wrong", node: newNode()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, wrong := cloudcontroller.WrongAddress(tc.node, newPod()); got != tc.want || wrong != (tc.want != "") {
				t.Errorf("%s\nWrongAddress(...) = %q, %t, want %q", tc.reason, got, wrong, tc.want)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	errDown := errors.New("the seed does not answer")
	cases := map[string]struct {
		reason     string
		seed       client.Client
		wantExists bool
		wantEvent  string
		wantErr    error
	}{
		"Machine": {reason: "a Node with a machine is completed", seed: fake.NewClientBuilder().WithObjects(newPod()).WithStatusSubresource(newPod()).Build(), wantExists: true},
		"Gone":    {reason: "a Node without a machine is deleted", seed: fake.NewClientBuilder().Build(), wantEvent: "MachineGone"},
		"SeedDown": {
			reason: "as long as the seed does not say that there is no machine, there may be one",
			seed: interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errDown
				},
			}),
			wantExists: true, wantErr: errDown,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := fake.NewClientBuilder().WithObjects(newNode()).Build()
			recorder := events.NewFakeRecorder(10)
			r := &cloudcontroller.Reconciler{
				Base:      kit.Base{Client: shoot, Recorder: recorder, Clock: clocktesting.NewFakeClock(time.Unix(0, 0))},
				Namespace: namespace, Cloud: tc.seed,
			}
			request := reconcile.Request{NamespacedName: client.ObjectKey{Name: "machine-one"}}
			if _, err := r.Reconcile(t.Context(), request); !errors.Is(err, tc.wantErr) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, tc.wantErr)
			}
			node := &corev1.Node{}
			err := shoot.Get(t.Context(), request.NamespacedName, node)
			if apierrors.IsNotFound(err) == tc.wantExists {
				t.Errorf("%s\nthe Node exists: %t, want %t", tc.reason, !tc.wantExists, tc.wantExists)
			}
			if tc.wantExists && tc.wantErr == nil && node.Spec.ProviderID != "local:///shoot--dev--sprout/machine-one" {
				t.Errorf("%s\nprovider ID is %q", tc.reason, node.Spec.ProviderID)
			}
			if tc.wantExists && tc.wantErr == nil {
				checkReport(t, tc.seed)
			}
			close(recorder.Events)
			if event := <-recorder.Events; !strings.Contains(event, tc.wantEvent) || (event != "") != (tc.wantEvent != "") {
				t.Errorf("%s\nevent is %q, want %q", tc.reason, event, tc.wantEvent)
			}
		})
	}
}

func checkReport(t *testing.T, seed client.Client) {
	t.Helper()
	pod := newPod()
	if err := seed.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	if c := pod.Status.Conditions; len(c) != 1 || c[0].Type != machinepod.ConditionNodeReady || c[0].Status != corev1.ConditionFalse {
		t.Errorf("conditions of the machine are %+v, want that its node is not ready", c)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	early, late := metav1.Unix(100, 0), metav1.Unix(200, 0)
	condition := func(status corev1.ConditionStatus, message string, at metav1.Time) corev1.PodCondition {
		return corev1.PodCondition{Type: machinepod.ConditionNodeReady, Status: status, Reason: "R", Message: message, LastTransitionTime: at}
	}
	own := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
	node := func(status corev1.ConditionStatus, message string) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue, Message: "not relevant"},
			{Type: corev1.NodeReady, Status: status, Reason: "R", Message: message},
		}}}
	}
	cases := map[string]struct {
		reason string
		have   []corev1.PodCondition
		node   *corev1.Node
		want   []corev1.PodCondition
	}{
		"First":   {reason: "the first report stands beside what the kubelet of the seed says", have: []corev1.PodCondition{own}, node: node("True", "fine"), want: []corev1.PodCondition{own, condition("True", "fine", late)}},
		"Same":    {reason: "the same report is not written again", have: []corev1.PodCondition{condition("True", "fine", early)}, node: node("True", "fine"), want: []corev1.PodCondition{condition("True", "fine", early)}},
		"Message": {reason: "a new message keeps the time of the status", have: []corev1.PodCondition{condition("False", "no network", early)}, node: node("False", "no disk"), want: []corev1.PodCondition{condition("False", "no disk", early)}},
		"Lost":    {reason: "a node whose state is unknown is not ready", have: []corev1.PodCondition{condition("True", "fine", early)}, node: node("Unknown", "silence"), want: []corev1.PodCondition{condition("False", "silence", late)}},
		"Long":    {reason: "the owner of the shoot does not fill the seed", node: node("True", strings.Repeat("x", 100_000)), want: []corev1.PodCondition{condition("True", strings.Repeat("x", 4096)+"…", late)}},
		"Silent": {
			reason: "a node that has not reported yet is not ready", node: &corev1.Node{},
			want: []corev1.PodCondition{{
				Type: machinepod.ConditionNodeReady, Status: "False", Reason: "NodeStatusUnknown", Message: "the kubelet has not reported yet", LastTransitionTime: late,
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: slices.Clone(tc.have)}}
			cloudcontroller.Report(pod, cloudcontroller.NodeReady(tc.node), late)
			if diff := cmp.Diff(tc.want, pod.Status.Conditions); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReconcileNoNode(t *testing.T) {
	t.Parallel()
	r := &cloudcontroller.Reconciler{Base: kit.Base{Client: fake.NewClientBuilder().Build()}, Namespace: namespace, Cloud: fake.NewClientBuilder().Build()}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "machine-one"}}); err != nil {
		t.Errorf("Reconcile(...) = %v for a machine that has not joined yet", err)
	}
}

// TestNodeIsDeleted has no Node, because somebody has deleted it: its kubelet does not make it again. Only a machine that had one misses it.
func TestNodeIsDeleted(t *testing.T) {
	t.Parallel()
	early, late := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	condition := func(status corev1.ConditionStatus, reason, message string, at metav1.Time) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: machinepod.ConditionNodeReady, Status: status, Reason: reason, Message: message, LastTransitionTime: at}}
	}
	sick := condition(corev1.ConditionFalse, "R", "no network", early)
	cases := map[string]struct {
		reason string
		have   []corev1.PodCondition
		ends   bool
		want   []corev1.PodCondition
	}{
		"Joining": {reason: "a machine that has not joined yet has none"},
		"Sick":    {reason: "one that was sick before remains so, since then", have: sick, want: sick},
		"Healthy": {
			reason: "one that was healthy is not any more", have: condition(corev1.ConditionTrue, "R", "fine", early),
			want: condition(corev1.ConditionFalse, "NodeMissing", "the Node has been deleted from the shoot", late),
		},
		"Ending": {
			reason: "of one that ends the Node goes", ends: true,
			have: condition(corev1.ConditionTrue, "R", "fine", early), want: condition(corev1.ConditionTrue, "R", "fine", early),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := newPod()
			pod.Status.Conditions = tc.have
			if tc.ends {
				pod.DeletionTimestamp, pod.Finalizers = &early, []string{"test"}
			}
			cloud := fake.NewClientBuilder().WithObjects(pod).WithStatusSubresource(pod).Build()
			r := &cloudcontroller.Reconciler{
				Base:      kit.Base{Client: fake.NewClientBuilder().Build(), Clock: clocktesting.NewFakeClock(late.Time)},
				Namespace: namespace, Cloud: cloud,
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: pod.Name}}); err != nil {
				t.Fatal(err)
			}
			if err := cloud.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, pod.Status.Conditions, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nconditions of the machine (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNodeOfAnotherPod has a Node with the name of a pod of the control plane, which the owner of the shoot can make.
func TestNodeOfAnotherPod(t *testing.T) {
	t.Parallel()
	pod := newPod()
	pod.Labels = map[string]string{"app": "kubernetes"}
	cloud := fake.NewClientBuilder().WithObjects(pod).WithStatusSubresource(pod).Build()
	shoot := fake.NewClientBuilder().WithObjects(newNode()).Build()
	r := &cloudcontroller.Reconciler{
		Base: kit.Base{Client: shoot, Clock: clocktesting.NewFakeClock(time.Unix(0, 0))}, Namespace: namespace, Cloud: cloud,
	}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: pod.Name}}); err != nil {
		t.Fatal(err)
	}
	node := newNode()
	if err := errors.Join(cloud.Get(t.Context(), client.ObjectKeyFromObject(pod), pod), shoot.Get(t.Context(), client.ObjectKeyFromObject(node), node)); err != nil {
		t.Fatal(err)
	}
	if len(pod.Status.Conditions) > 0 || node.Spec.ProviderID != "" {
		t.Errorf("conditions of the pod are %+v and the Node has the provider ID %q, want none of both", pod.Status.Conditions, node.Spec.ProviderID)
	}
}

// TestSamePlace: in another cluster there are no machines, so all Nodes would be deleted.
func TestSamePlace(t *testing.T) {
	t.Parallel()
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "far"}}
	found, empty := fake.NewClientBuilder().WithObjects(system).Build(), fake.NewClientBuilder().Build()
	for _, tc := range []struct {
		cluster client.Client
		place   string
		want    string
	}{
		{found, "far", ""}, {empty, "", ""}, {found, "near", "restore the former provider secret"}, {empty, "far", "kube-system"},
	} {
		err := cloudcontroller.SamePlace(t.Context(), tc.cluster, tc.place)
		if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("SamePlace(..., %q) = %v, want %q", tc.place, err, tc.want)
		}
	}
}

// TestLimited: who changes Services of the shoot without end does not keep the seed busy, and the stricter limit for the cluster of a user stays.
func TestLimited(t *testing.T) {
	t.Parallel()
	given := &rest.Config{Host: "https://seed"}
	got := cloudcontroller.Limited(given)
	if given.RateLimiter != nil || got.Host != given.Host || got.RateLimiter == nil {
		t.Fatalf("Limited(...) = %+v", got)
	}
	if qps := got.RateLimiter.QPS(); qps != 10 {
		t.Errorf("%g requests are allowed in a second, want 10", qps)
	}
	if again := cloudcontroller.Limited(got); again.RateLimiter != got.RateLimiter {
		t.Error("a limit is replaced")
	}
}
