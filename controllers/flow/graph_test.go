// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/flow"
)

func nothing(context.Context) error { return nil }

func TestCompileRefusesBrokenGraphs_GLET_FLOW_1(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		tasks  []flow.Task
		want   string
	}{
		"RepeatedID": {
			reason: "a task id may exist only once",
			tasks:  []flow.Task{{ID: "etcd", Title: "etcd", Do: nothing}, {ID: "etcd", Title: "etcd", Do: nothing}},
			want:   `compile flow "shoot": task "etcd" exists more than once`,
		},
		"UnknownDependency": {
			reason: "what a task waits for has to exist",
			tasks:  []flow.Task{{ID: "apiserver", Title: "apiserver", After: []flow.ID{"etcd"}, Do: nothing}},
			want:   `compile flow "shoot": task "apiserver" waits for "etcd", which does not exist`,
		},
		"Cycle": {
			reason: "a cycle would never start; the message shows the way round",
			tasks: []flow.Task{
				{ID: "a", Title: "a", Do: nothing},
				{ID: "b", Title: "b", After: []flow.ID{"a", "d"}, Do: nothing},
				{ID: "c", Title: "c", After: []flow.ID{"b"}, Do: nothing},
				{ID: "d", Title: "d", After: []flow.ID{"c"}, Do: nothing},
			},
			want: `compile flow "shoot": tasks wait for each other: b -> c -> d -> b`,
		},
		"WaitsForItself": {
			reason: "the shortest cycle",
			tasks:  []flow.Task{{ID: "a", Title: "a", After: []flow.ID{"a"}, Do: nothing}},
			want:   `compile flow "shoot": tasks wait for each other: a -> a`,
		},
		"NoIDNoTitleNothingToDo": {
			reason: "all mistakes are reported together",
			tasks:  []flow.Task{{Do: nothing}, {ID: "etcd"}},
			want:   "compile flow \"shoot\": task number 1 has no id\ntask \"etcd\" has no title\ntask \"etcd\" does nothing: Do is nil",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := flow.Compile("shoot", tc.tasks...)
			if err == nil {
				t.Fatalf("%s\nCompile(...) returned no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s\nCompile(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDOTShowsTasksLimitsAndEdges(t *testing.T) {
	t.Parallel()
	address := flow.NewValue[string]("address")
	g, err := flow.Compile("Shoot cluster reconciliation",
		flow.Task{ID: "namespace", Title: "namespace", Do: nothing},
		flow.Task{ID: "etcd", Title: "etcd", After: []flow.ID{"namespace"}, Timeout: 5 * time.Minute, Sets: []flow.Slot{address}, Do: nothing},
		flow.Task{ID: "dns", Title: "dns", After: []flow.ID{"namespace"}, Skip: true, Do: nothing},
		flow.Task{ID: "shoot-client", Title: "shoot-client", After: []flow.ID{"etcd", "dns", "etcd"}, Reads: []flow.Slot{address}, Retry: flow.Retry{Interval: 5 * time.Second, Timeout: 2 * time.Minute}, Do: nothing},
	)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "small.dot"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), g.DOT()); diff != "" {
		t.Errorf("DOT() differs from testdata/small.dot (-want +got):\n%s", diff)
	}
}
