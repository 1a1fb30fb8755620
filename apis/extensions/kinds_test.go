// SPDX-License-Identifier: Apache-2.0

package extensions_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// TestKindsAreComplete compares the table with the kinds that the API group has.
func TestKindsAreComplete(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := gardenextensionsv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var served []string
	for name := range scheme.KnownTypes(gardenextensionsv1alpha1.GroupVersion) {
		object, err := scheme.New(gardenextensionsv1alpha1.GroupVersion.WithKind(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := object.(gardenextensionsv1alpha1.Object); ok {
			served = append(served, name)
		}
	}
	slices.Sort(served)
	if diff := cmp.Diff(served, extensions.Names()); diff != "" {
		t.Errorf("every kind of the group with a type has a row (-served +table):\n%s", diff)
	}
	for _, k := range extensions.Kinds() {
		if got := extensions.KindOf(k.New()).Name; got != k.Name {
			t.Errorf("kind %q makes a %q", k.Name, got)
		}
		list := k.NewList()
		kinds, _, err := scheme.ObjectKinds(list)
		if err != nil || kinds[0].Kind != k.Name+"List" {
			t.Errorf("kind %q lists in %v, %v", k.Name, kinds, err)
		}
		if err := meta.SetList(list, []runtime.Object{k.New()}); err != nil {
			t.Errorf("a list of kind %q does not take one: %v", k.Name, err)
		}
		if k.Patience.Interval <= 0 || k.Patience.Severe < k.Patience.Interval || k.Patience.Timeout < k.Patience.Severe {
			t.Errorf("kind %q is awaited with %+v", k.Name, k.Patience)
		}
	}
	if _, found := extensions.Named("Cluster"); found {
		t.Error("a Cluster has no type: no extension acts on it")
	}
}

// TestKindsByRule holds each column of the table against the rule that it is made for.
func TestKindsByRule(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		about   func(extensions.Kind) bool
		without []string
	}{
		"GLET-CI-9": {
			reason:  "all kinds but exposures of self-hosted shoots keep their extension installed",
			about:   func(k extensions.Kind) bool { return k.OnSeeds },
			without: []string{"SelfHostedShootExposure"},
		},
		"GLET-CARE-15": {
			reason:  "buckets and entries are not in the namespace, and a record or a bastion says nothing of the shoot's health",
			about:   func(k extensions.Kind) bool { return k.Reports },
			without: []string{"BackupBucket", "BackupEntry", "Bastion", "DNSRecord", "SelfHostedShootExposure"},
		},
		"OfShoots": {
			reason:  "of these the gardenlet makes no objects for shoots yet",
			about:   func(k extensions.Kind) bool { return k.OfShoots },
			without: []string{"BackupBucket", "BackupEntry", "Bastion", "SelfHostedShootExposure"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			without := extensions.Names()
			for _, k := range extensions.KindsWhere(tc.about) {
				without = slices.DeleteFunc(without, func(n string) bool { return n == k.Name })
			}
			if diff := cmp.Diff(tc.without, without); diff != "" {
				t.Errorf("%s\nkinds without it (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPatience_GLET_FLOW_10: third-party extensions rely on how long they are waited for.
func TestPatience_GLET_FLOW_10(t *testing.T) {
	t.Parallel()
	usual := extensions.Patience{Interval: 5 * time.Second, Severe: 30 * time.Second, Timeout: 3 * time.Minute}
	want := map[string]extensions.Patience{
		"Infrastructure":          {Interval: 10 * time.Second, Severe: 3 * time.Minute, Timeout: 10 * time.Minute},
		"ControlPlane":            usual,
		"Network":                 usual,
		"OperatingSystemConfig":   usual,
		"Extension":               usual,
		"ContainerRuntime":        usual,
		"Worker":                  {Interval: 5 * time.Second, Severe: 30 * time.Second, Timeout: 10 * time.Minute},
		"BackupEntry":             {Interval: 5 * time.Second, Severe: 30 * time.Second, Timeout: 10 * time.Minute},
		"DNSRecord":               {Interval: 5 * time.Second, Severe: 15 * time.Second, Timeout: 2 * time.Minute},
		"BackupBucket":            usual,
		"Bastion":                 usual,
		"SelfHostedShootExposure": usual,
	}
	got := map[string]extensions.Patience{}
	for _, k := range extensions.Kinds() {
		got[k.Name] = k.Patience
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Kinds(): how long they are waited for (-want +got):\n%s", diff)
	}
}
