// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"testing"
	"time"

	"k8s.io/client-go/rest"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

func TestDefaults_GRM_CFG_3(t *testing.T) {
	t.Parallel()
	o := resourcemanager.Completed(resourcemanager.Options{Seed: &rest.Config{}})
	if o.SyncPeriod != time.Minute || o.TokenExpiration != 43200*time.Second || o.Seed.QPS != 100 || o.Seed.Burst != 130 || o.GarbagePeriod != 0 {
		t.Errorf("the defaults are %+v, with %g requests per second and %d at once", o, o.Seed.QPS, o.Seed.Burst)
	}
	if class := managedresource.ClassOf(&gardenresourcesv1alpha1.ManagedResource{}); class != "resources" {
		t.Errorf("the default class is %q", class)
	}
	if workers := (kit.Queue{}).Options(o.Clock).MaxConcurrentReconciles; workers != 5 {
		t.Errorf("a controller has %d workers", workers)
	}
	given := resourcemanager.Completed(resourcemanager.Options{Seed: &rest.Config{QPS: 7, Burst: 9}, SyncPeriod: time.Hour, TokenExpiration: time.Hour})
	if given.SyncPeriod != time.Hour || given.TokenExpiration != time.Hour || given.Seed.QPS != 7 || given.Seed.Burst != 9 {
		t.Errorf("what is given became %+v", given)
	}
}
