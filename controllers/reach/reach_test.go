// SPDX-License-Identifier: Apache-2.0

package reach_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// TestLabels_GRM_NP_1 spells the labels of some programs out, because others, such as extensions, are written against them.
func TestLabels_GRM_NP_1(t *testing.T) {
	t.Parallel()
	const general, services = "networking.gardener.cloud/to-", "networking.resources.gardener.cloud/to-"
	for program, want := range map[string][]string{
		"kube-apiserver": {
			general + "dns", general + "private-networks", general + "public-networks",
			services + "etcd-events-client-tcp-2379", services + "etcd-main-client-tcp-2379", services + "extensions-all-webhook-targets",
			services + "garden-gardener-resource-manager-tcp-9449", services + "vpa-webhook-tcp-10250",
		},
		"kube-apiserver-without-nodes": {
			general + "dns", general + "private-networks", general + "public-networks",
			services + "etcd-events-client-tcp-2379", services + "etcd-main-client-tcp-2379", services + "extensions-all-webhook-targets",
		},
		"kube-controller-manager":   {general + "dns", services + "kube-apiserver-tcp-443"},
		"cloud-controller-manager":  {general + "dns", general + "runtime-apiserver", services + "kube-apiserver-tcp-443"},
		"vpa-admission-controller":  {general + "dns", services + "kube-apiserver-tcp-443"},
		"gardener-resource-manager": {general + "dns", general + "private-networks", general + "public-networks", general + "runtime-apiserver", services + "all-shoots-etcd-events-client-tcp-2379", services + "all-shoots-etcd-main-client-tcp-2379", services + "all-shoots-kube-apiserver-tcp-443"},
		"etcd-main":                 nil,
	} {
		labels := reach.Labels(program)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(labels))); diff != "" {
			t.Errorf("labels of %s (-want +got):\n%s", program, diff)
		}
		for key, value := range labels {
			if value != "allowed" {
				t.Errorf("%s: the label %s is %q", program, key, value)
			}
		}
	}
}

func TestKey_GRM_NP_4(t *testing.T) {
	t.Parallel()
	fits, shortened := reach.Key(strings.Repeat("a", 60))
	if shortened || fits != "networking.resources.gardener.cloud/to-"+strings.Repeat("a", 60) {
		t.Errorf("a key that fits became %q", fits)
	}
	seen := map[string]bool{}
	for _, end := range []string{"b", "c"} {
		key, shortened := reach.Key(strings.Repeat("a", 60) + end)
		if reasons := validation.IsQualifiedName(key); !shortened || len(reasons) > 0 || seen[key] {
			t.Errorf("%q (shortened: %t): %v; others had it: %t", key, shortened, reasons, seen[key])
		}
		seen[key] = true
	}
}

func TestSeedNamespaces_GLET_NP_1(t *testing.T) {
	t.Parallel()
	denied, err := reach.SeedNamespaces(metav1.LabelSelector{MatchLabels: map[string]string{"extra": "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := reach.ParseNamespaces(denied.Texts())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		labels map[string]string
		want   bool
	}{
		"garden":    {map[string]string{"kubernetes.io/metadata.name": "garden"}, true},
		"shoot":     {map[string]string{"gardener.cloud/role": "shoot"}, true},
		"extension": {map[string]string{"gardener.cloud/role": "extension"}, true},
		"istio":     {map[string]string{"gardener.cloud/role": "istio-system"}, true},
		"gateways":  {map[string]string{"gardener.cloud/role": "istio-ingress"}, true},
		"added":     {map[string]string{"extra": "yes"}, true},
		"system":    {map[string]string{"kubernetes.io/metadata.name": "kube-system"}, false},
		"others":    {map[string]string{"gardener.cloud/role": "project"}, false},
		"bare":      {nil, false},
	} {
		if got, parsed := denied.Have(tc.labels), again.Have(tc.labels); got != tc.want || parsed != tc.want {
			t.Errorf("%s: denied is %t, and %t after it was written and read, want %t", name, got, parsed, tc.want)
		}
	}
	if _, err := reach.ParseNamespaces([]string{"a in"}); err == nil || !strings.Contains(err.Error(), `"a in"`) {
		t.Errorf("a wrong selector: got error %v", err)
	}
	if _, err := reach.SeedNamespaces(metav1.LabelSelector{MatchLabels: map[string]string{"a": "no value!"}}); err == nil {
		t.Error("a wrong selector of the configuration is accepted")
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	if got, want := reach.Ports(reach.TCP(1), reach.TCP(2)), `[{"protocol":"TCP","port":1},{"protocol":"TCP","port":2}]`; got != want {
		t.Errorf("Ports(...): got %s, want %s", got, want)
	}
	var selectors []metav1.LabelSelector
	if err := json.Unmarshal([]byte(reach.ServersOfShoots()), &selectors); err != nil || len(selectors) != 3 {
		t.Errorf("ServersOfShoots(): %s: %v", reach.ServersOfShoots(), err)
	}
	if got, want := reach.FromScrapers(), "networking.resources.gardener.cloud/from-all-scrape-targets-allowed-ports"; got != want {
		t.Errorf("FromScrapers(): got %s, want %s", got, want)
	}
}
