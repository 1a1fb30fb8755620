// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// usage is what a pod, or several together, use: processor time since their start, and the memory that cannot be taken from them.
type usage struct {
	pods   int
	nanos  uint64
	memory uint64
}

func (u usage) plus(other usage) usage {
	return usage{pods: u.pods + other.pods, nanos: u.nanos + other.nanos, memory: u.memory + other.memory}
}

// usages asks the kubelet of the seed what each of its pods uses, by namespace and name.
func (w *world) usages(t *testing.T) map[string]usage {
	t.Helper()
	node := w.must(t, w.seed("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")...)
	var summary struct {
		Pods []struct {
			PodRef struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"podRef"`
			CPU struct {
				Nanos uint64 `json:"usageCoreNanoSeconds"`
			} `json:"cpu"`
			Memory struct {
				WorkingSet uint64 `json:"workingSetBytes"`
			} `json:"memory"`
		} `json:"pods"`
	}
	raw := w.must(t, w.seed("get", "--raw", "/api/v1/nodes/"+node+"/proxy/stats/summary")...)
	if err := json.Unmarshal([]byte(raw), &summary); err != nil {
		t.Fatal(err)
	}
	all := map[string]usage{}
	for _, pod := range summary.Pods {
		all[pod.PodRef.Namespace+"/"+pod.PodRef.Name] = usage{pods: 1, nanos: pod.CPU.Nanos, memory: pod.Memory.WorkingSet}
	}
	if len(all) == 0 {
		t.Fatalf("the kubelet of the seed names no pod: %s", raw)
	}
	return all
}

// rest waits, watches for as long again and returns what each pod used of a processor meanwhile, and its memory at the end.
func (w *world) rest(t *testing.T, during time.Duration) map[string]usage {
	t.Helper()
	<-time.After(during) // What has just been made settles.
	before, began := w.usages(t), time.Now()
	<-time.After(during)
	after, took := w.usages(t), time.Since(began)
	for name, u := range after {
		u.nanos = uint64(float64(u.nanos-min(u.nanos, before[name].nanos)) / took.Seconds())
		after[name] = u
	}
	return after
}

// share returns what those of a group use together. group names the group of a pod.
func share(all map[string]usage, group func(pod string) string) map[string]usage {
	groups := map[string]usage{}
	for pod, u := range all {
		groups[group(pod)] = groups[group(pod)].plus(u)
	}
	return groups
}

// component is the namespace of a pod and the name of what it is an instance of: its own name without what was made up for it.
func component(pod string) string {
	namespace, name, _ := strings.Cut(pod, "/")
	parts := strings.Split(name, "-")
	for len(parts) > 1 && madeUp(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return namespace + "/" + strings.Join(parts, "-")
}

// madeUp says whether a part of a name is the number of an instance, the hash of a template, or what makes a name unique: the letters of
// the last two form no words.
func madeUp(part string) bool {
	return strings.Trim(part, "0123456789") == "" || len(part) >= 5 && strings.Trim(part, "bcdfghjklmnpqrstvwxz2456789") == ""
}

// table writes groups and what they use, those with the most memory first.
func table(groups map[string]usage) string {
	var out strings.Builder
	line := func(name string, u usage) {
		fmt.Fprintf(&out, "\n%5d %9.1f m %6d MiB  %s", u.pods, float64(u.nanos)/1e6, u.memory>>20, name)
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[b].memory, groups[a].memory), cmp.Compare(a, b))
	})
	var sum usage
	for _, name := range names {
		sum = sum.plus(groups[name])
		line(name, groups[name])
	}
	line("together", sum)
	return out.String()
}
