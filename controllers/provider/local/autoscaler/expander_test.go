// SPDX-License-Identifier: Apache-2.0

package autoscaler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/autoscaler"
)

// TestExpander: three pods of 3 processors need three machines of the small pool, or one of the large one, which has 20.
func TestExpander(t *testing.T) {
	t.Parallel()
	small, large := map[string]int32{"large": 0, "small": 2}, map[string]int32{"large": 1, "small": 0}
	cases := map[string]struct {
		reason     string
		expanders  string
		priorities string
		want       map[string]int32
	}{
		"LeastWaste": {reason: "the small machines are full", expanders: "least-waste", want: small},
		"LeastNodes": {reason: "one large machine is enough", expanders: "least-nodes", want: large},
		"MostPods":   {reason: "the small pool may have two machines only", expanders: "most-pods", want: large},
		"Priority":   {reason: "the large pool is preferred", expanders: "priority,least-waste", priorities: "10: [small]\n20: ['^large$']", want: large},
		"Unnamed":    {reason: "no pool is named, so the next way counts", expanders: "priority,least-waste", priorities: "10: [other]", want: small},
		"Invalid":    {reason: "what cannot be read does not count", expanders: "priority,least-waste", priorities: "[", want: small},
		"Random":     {reason: "chance says the first", expanders: "random", want: large},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, autoscaler.Bounds{Name: "large", Maximum: 2}, autoscaler.Bounds{Name: "small", Maximum: 2})
			w.scaler.Options.Expanders = strings.Split(tc.expanders, ",")
			for pool, cpu := range map[string]string{"large": "20", "small": "3"} {
				c := &gardenmachinev1alpha1.MachineClass{}
				if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: pool + "-class"}, c); err != nil {
					t.Fatal(err)
				}
				c.NodeTemplate.Capacity[corev1.ResourceCPU] = resource.MustParse(cpu)
				if err := w.Update(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			if tc.priorities != "" {
				w.make(t, &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: autoscaler.ConfigMapPriorities}, Data: map[string]string{"priorities": tc.priorities},
				})
			}
			w.make(t, pods(3, "3")...)
			w.pass(t)
			if diff := cmp.Diff(tc.want, w.machines(t)); diff != "" {
				t.Errorf("%s\nmachines that the deployments want (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ nodes, want string }{
		"Form":      {nodes: "1:2", want: "not of the form"},
		"Minimum":   {nodes: "a:2:ns.one", want: `minimum "a" is not a number`},
		"Maximum":   {nodes: "1:b:ns.one", want: `maximum "b" is not a number`},
		"Order":     {nodes: "3:2:ns.one", want: "between 0 and the maximum"},
		"Name":      {nodes: "1:2:one", want: "not of the form <namespace>.<machine deployment>"},
		"Namespace": {nodes: "1:2:a.one 1:2:b.two", want: `have to be in the namespace "a"`},
		"Twice":     {nodes: "1:2:a.one 1:2:a.one", want: "named twice"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &autoscaler.Options{}
			if err := o.SetGroups(strings.Fields(tc.nodes)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("SetGroups(%q) = %v, want an error with %q", tc.nodes, err, tc.want)
			}
		})
	}
	if err := (&autoscaler.Options{Namespace: "a", ScanInterval: time.Second, Verbosity: -1}).Validate(); err == nil || !strings.Contains(err.Error(), "verbosity") {
		t.Errorf("Validate() = %v, want an error about the verbosity", err)
	}
	o := &autoscaler.Options{Expanders: []string{"price"}}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), `expander "price" is unknown`) {
		t.Errorf("Validate() = %v", err)
	}
}
