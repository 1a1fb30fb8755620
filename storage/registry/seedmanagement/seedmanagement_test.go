// SPDX-License-Identifier: Apache-2.0

package seedmanagement_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/seedmanagement"
)

const operation = "gardener.cloud/operation"

type (
	gardenlet   = gardenseedmanagementv1alpha1.Gardenlet
	managedSeed = gardenseedmanagementv1alpha1.ManagedSeed
	set         = gardenseedmanagementv1alpha1.ManagedSeedSet
)

func served(t *testing.T) map[string]rest.Storage {
	t.Helper()
	group, err := seedmanagement.Group(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	return group.VersionedResourcesStorageMap["v1alpha1"]
}

func meta() metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "garden", Name: "soil"} }

func seedOf() *managedSeed {
	return &managedSeed{ObjectMeta: meta(), Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
		Shoot:     &gardenseedmanagementv1alpha1.Shoot{Name: "sprout"},
		Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapToken), Config: configured()},
	}}
}

// configured is the configuration of a gardenlet with what does not follow from its shoot.
func configured() runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration",` +
		`"seedConfig":{"metadata":{"labels":{"set":"soil"}},"spec":{"dns":{"internal":{"type":"local","domain":"internal.example.org",` +
		`"credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"internal"}}}}}}`)}
}

func setOf(replicas int32) *set {
	labels := map[string]string{"set": "soil"}
	s := &set{ObjectMeta: meta()}
	s.Spec.Replicas, s.Spec.Selector.MatchLabels = &replicas, labels
	s.Spec.Template.Labels, s.Spec.ShootTemplate.Labels = labels, labels
	s.Spec.Template.Spec.Gardenlet = seedOf().Spec.Gardenlet
	s.Spec.ShootTemplate.Spec = gardencorev1beta1.ShootSpec{
		CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
		Region:       "local", CredentialsBindingName: new("local"),
		Kubernetes: gardencorev1beta1.Kubernetes{Version: "1.33.2"},
		Networking: &gardencorev1beta1.Networking{Type: new("local"), Pods: new("10.100.0.0/16"), Services: new("10.101.0.0/16")},
		Provider: gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{
			Name: "worker", Minimum: 1, Maximum: 1, MaxSurge: new(intstr.FromInt32(1)),
			Machine: gardencorev1beta1.Machine{Type: "local", Image: &gardencorev1beta1.ShootMachineImage{Name: "local"}},
		}}},
	}
	return s
}

func gardenletOf() *gardenlet {
	g := &gardenlet{ObjectMeta: meta()}
	g.Spec.Deployment.Helm.OCIRepository = gardencorev1.OCIRepository{Ref: new("oci://registry.example/gardenlet:v1")}
	g.Spec.Config = configured()
	return g
}

func TestResources(t *testing.T) {
	t.Parallel()
	want := []string{
		"gardenlets", "gardenlets/status", "managedseeds", "managedseeds/status", "managedseedsets", "managedseedsets/scale", "managedseedsets/status",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(served(t)))); diff != "" {
		t.Errorf("API-RES-4, 5, 7: what is served (-want +got):\n%s", diff)
	}
}

// asked writes an operation annotation onto an object that carries another one, and tells what is left of it and whether
// the generation grew.
func asked[T kind.Object](t *testing.T, resource string, object T, before, after string) (string, bool) {
	t.Helper()
	store, ctx := kindtest.Of[T](t, served(t), resource), kindtest.Context(t, "garden", "rose")
	object.SetAnnotations(map[string]string{operation: before})
	object = store.MustCreate(ctx, object)
	object.SetAnnotations(map[string]string{operation: after})
	object = store.MustUpdate(ctx, object)
	return object.GetAnnotations()[operation], object.GetGeneration() == 2
}

func TestOperations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		of            string
		before, after string
		want          string
		grows         bool
	}{
		"API-STRAT-4 seed reconcile":      {reason: "reconcile counts and is taken away", of: "managedseeds", after: "reconcile", grows: true},
		"API-STRAT-4 seed renew":          {reason: "what the gardenlet has to do stays", of: "managedseeds", after: "renew-kubeconfig", want: "renew-kubeconfig", grows: true},
		"API-STRAT-4 seed renew once":     {reason: "and counts once", of: "managedseeds", before: "renew-kubeconfig", after: "renew-kubeconfig", want: "renew-kubeconfig"},
		"API-STRAT-4 set reconcile":       {reason: "likewise for sets", of: "managedseedsets", after: "reconcile", grows: true},
		"API-STRAT-4 set renew":           {reason: "a set has no kubeconfig", of: "managedseedsets", after: "renew-kubeconfig", want: "renew-kubeconfig"},
		"API-STRAT-4 gardenlet reconcile": {reason: "likewise for Gardenlets", of: "gardenlets", after: "reconcile", grows: true},
		"API-STRAT-4 gardenlet renew":     {reason: "likewise", of: "gardenlets", after: "renew-kubeconfig", want: "renew-kubeconfig", grows: true},
		"API-STRAT-4 gardenlet redeploy":  {reason: "likewise", of: "gardenlets", after: "force-redeploy", want: "force-redeploy", grows: true},
		"API-STRAT-4 gardenlet once":      {reason: "likewise", of: "gardenlets", before: "force-redeploy", after: "force-redeploy", want: "force-redeploy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			var grew bool
			switch tc.of {
			case "managedseeds":
				got, grew = asked(t, tc.of, seedOf(), tc.before, tc.after)
			case "managedseedsets":
				got, grew = asked(t, tc.of, setOf(1), tc.before, tc.after)
			default:
				got, grew = asked(t, tc.of, gardenletOf(), tc.before, tc.after)
			}
			if got != tc.want || grew != tc.grows {
				t.Errorf("%s\noperation %q, grown %t; want %q, %t", tc.reason, got, grew, tc.want, tc.grows)
			}
		})
	}
}

func condition(kind, status string) []gardencorev1beta1.Condition {
	return []gardencorev1beta1.Condition{{Type: gardencorev1beta1.ConditionType(kind), Status: gardencorev1beta1.ConditionStatus(status)}}
}

func TestCells(t *testing.T) {
	t.Parallel()
	all, ctx := served(t), kindtest.Context(t, "garden", "rose")
	seeds := kindtest.Of[*managedSeed](t, all, "managedseeds")
	for status, want := range map[string]string{"": "Unknown", "Unknown": "Unknown", "False": "NotRegistered", "Progressing": "NotRegistered", "True": "Registered"} {
		m := seedOf()
		if status != "" {
			m.Status.Conditions = condition("SeedRegistered", status)
		}
		if diff := cmp.Diff(map[string]string{"Status": want, "Shoot": "sprout"}, seeds.Row(ctx, m)); diff != "" {
			t.Errorf("API-RES-11: managed seed with status %q (-want +got):\n%s", status, diff)
		}
	}
	if got := seeds.Row(ctx, &managedSeed{})["Shoot"]; got != "" {
		t.Errorf("API-RES-11: the shoot of a managed seed without one is %q", got)
	}

	sets := kindtest.Of[*set](t, all, "managedseedsets")
	s := setOf(3)
	s.Status.ReadyReplicas = 2
	if diff := cmp.Diff(map[string]string{"Ready": "2/3", "Pending": ""}, sets.Row(ctx, s)); diff != "" {
		t.Errorf("API-RES-11: set (-want +got):\n%s", diff)
	}
	s.Status.PendingReplica = &gardenseedmanagementv1alpha1.PendingReplica{Name: "soil-2", Reason: "SeedNotReady"}
	if diff := cmp.Diff(map[string]string{"Ready": "2/3", "Pending": "soil-2:SeedNotReady"}, sets.Row(ctx, s)); diff != "" {
		t.Errorf("API-RES-11: set that waits (-want +got):\n%s", diff)
	}

	gardenlets := kindtest.Of[*gardenlet](t, all, "gardenlets")
	g := gardenletOf()
	if diff := cmp.Diff(map[string]string{"OCI Repository": "registry.example/gardenlet:v1", "Reconciled": "<unknown>"}, gardenlets.Row(ctx, g)); diff != "" {
		t.Errorf("API-RES-11: gardenlet (-want +got):\n%s", diff)
	}
	g.Spec.Deployment.Helm.OCIRepository = gardencorev1.OCIRepository{Repository: new("registry.example/gardenlet"), Tag: new("v1"), Digest: new("sha256:12")}
	g.Status.Conditions = condition("GardenletReconciled", "True")
	if diff := cmp.Diff(map[string]string{"OCI Repository": "registry.example/gardenlet:v1@sha256:12", "Reconciled": "True"}, gardenlets.Row(ctx, g)); diff != "" {
		t.Errorf("API-RES-11: gardenlet that is well (-want +got):\n%s", diff)
	}
}

func TestStatusIsApart(t *testing.T) {
	t.Parallel()
	all, ctx := served(t), kindtest.Context(t, "garden", "rose")
	main, status := kindtest.Of[*set](t, all, "managedseedsets"), kindtest.Of[*set](t, all, "managedseedsets/status")
	s := main.MustCreate(ctx, setOf(1))
	s.Spec.Replicas, s.Status = new(int32(5)), gardenseedmanagementv1alpha1.ManagedSeedSetStatus{Replicas: 1, NextReplicaNumber: 1}
	s = status.MustUpdate(ctx, s)
	if *s.Spec.Replicas != 1 || s.Status.Replicas != 1 {
		t.Errorf("API-RES-7: a status write changes the status only, got %d, %d", *s.Spec.Replicas, s.Status.Replicas)
	}
	s.Spec.Replicas, s.Status.Replicas = new(int32(5)), 7
	s = main.MustUpdate(ctx, s)
	if *s.Spec.Replicas != 5 || s.Status.Replicas != 1 || s.Generation != 2 {
		t.Errorf("API-RES-7: a write changes all but the status, got %d, %d, generation %d", *s.Spec.Replicas, s.Status.Replicas, s.Generation)
	}
	s.Status.NextReplicaNumber = 0
	if _, err := status.Update(ctx, s); err == nil {
		t.Error("API-VALMSS-1: a number is used once")
	}
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	all := served(t)
	store, ok := all["managedseeds"].(*kind.Store)
	if !ok {
		t.Fatalf("managedseeds are served by %T", all["managedseeds"])
	}
	_, fields, err := store.PredicateFunc(nil, nil).GetAttrs(runtime.Object(seedOf()))
	if err != nil {
		t.Fatal(err)
	}
	if got := fields["spec.shoot.name"]; got != "sprout" {
		t.Errorf("API-RES-9: spec.shoot.name is %q", got)
	}
}
