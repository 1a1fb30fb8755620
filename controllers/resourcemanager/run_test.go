// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

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
