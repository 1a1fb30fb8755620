// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

func TestDefaults_GRM_CFG_3(t *testing.T) {
	t.Parallel()
	type settings struct {
		SyncPeriod, TokenExpiration, GarbagePeriod time.Duration
		QPS                                        float32
		Burst                                      int
	}
	of := func(o resourcemanager.Options) settings {
		return settings{SyncPeriod: o.SyncPeriod, TokenExpiration: o.TokenExpiration, GarbagePeriod: o.GarbagePeriod, QPS: o.Seed.QPS, Burst: o.Seed.Burst}
	}
	o := resourcemanager.Completed(resourcemanager.Options{Seed: &rest.Config{}})
	if diff := cmp.Diff(settings{SyncPeriod: time.Minute, TokenExpiration: 43200 * time.Second, QPS: 100, Burst: 130}, of(o)); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if class := managedresource.ClassOf(&gardenresourcesv1alpha1.ManagedResource{}); class != "resources" {
		t.Errorf("the default class is %q", class)
	}
	if diff := cmp.Diff(kit.Queue{Concurrency: 20, PerNamespace: 2}, target.Queue()); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	given := resourcemanager.Completed(resourcemanager.Options{Seed: &rest.Config{QPS: 7, Burst: 9}, SyncPeriod: time.Hour, TokenExpiration: time.Hour})
	if diff := cmp.Diff(settings{SyncPeriod: time.Hour, TokenExpiration: time.Hour, QPS: 7, Burst: 9}, of(given)); diff != "" {
		t.Errorf("what is given (-want +got):\n%s", diff)
	}
}

func TestClusterID_GRM_CFG_5(t *testing.T) {
	t.Parallel()
	identity := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-identity"}, Data: data}
	}
	known := identity(map[string]string{"cluster-identity": "seed-1"})
	cases := map[string]struct {
		reason, given string
		seed          []client.Object
		want, fails   string
	}{
		"None":           {reason: "without an id, origins have none", seed: []client.Object{known}},
		"Literal":        {reason: "a text stands for itself", given: "here", seed: []client.Object{known}, want: "here"},
		"Cluster":        {reason: "the seed has an identity", given: "<cluster>", seed: []client.Object{known}, want: "seed-1"},
		"ClusterAbsent":  {reason: "which has to exist", given: "<cluster>", fails: `get the identity of the seed from ConfigMap "kube-system/cluster-identity": configmaps "cluster-identity" not found`},
		"ClusterNoKey":   {reason: "under its key", given: "<cluster>", seed: []client.Object{identity(nil)}, fails: `ConfigMap "kube-system/cluster-identity" has no key "cluster-identity"`},
		"Default":        {reason: "the same, if there is one", given: "<default>", seed: []client.Object{known}, want: "seed-1"},
		"DefaultAbsent":  {reason: "and none otherwise", given: "<default>"},
		"DefaultNoKey":   {reason: "also without the key", given: "<default>", seed: []client.Object{identity(nil)}},
		"AnotherCluster": {reason: "nothing is read of another ConfigMap", given: "<default>", seed: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "cluster-identity"}, Data: known.Data}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := resourcemanager.ClusterID(t.Context(), fake.NewClientBuilder().WithObjects(tc.seed...).Build(), tc.given)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff([]string{tc.want, tc.fails}, []string{got, text}); diff != "" {
				t.Errorf("%s\nclusterID(%q) (-want +got):\n%s", tc.reason, tc.given, diff)
			}
		})
	}
}
