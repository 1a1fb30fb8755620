// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/core/seed"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

const operation = "gardener.cloud/operation"

type object = gardencorev1beta1.Seed

func stores(t *testing.T) (main, status kindtest.Resource[*object]) {
	t.Helper()
	all, err := seed.Storage(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	return kindtest.Of[*object](t, all, "seeds"), kindtest.Of[*object](t, all, "seeds/status")
}

func local(change ...func(*object)) *object {
	s := &object{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
	s.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "north"}
	s.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"}
	keys := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "dns"}
	s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: keys}
	s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: &keys}
	s.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: "ingress.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}}
	for _, c := range change {
		c(s)
	}
	return s
}

func asked(value string) func(*object) {
	return func(s *object) {
		delete(s.Annotations, operation)
		if value != "" {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, operation, value)
		}
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, before, after string
		want                  string
		grows                 bool
		refused               string
	}{
		"API-STRAT-6 reconcile":       {reason: "reconcile counts and is taken away", after: "reconcile", grows: true},
		"API-STRAT-6 renew":           {reason: "what the gardenlet has to do stays", after: "renew-kubeconfig", want: "renew-kubeconfig", grows: true},
		"API-STRAT-6 renew secrets":   {reason: "likewise", after: "renew-garden-access-secrets", want: "renew-garden-access-secrets", grows: true},
		"API-STRAT-6 renew tokens":    {reason: "likewise", after: "renew-workload-identity-tokens", want: "renew-workload-identity-tokens", grows: true},
		"API-STRAT-6 once":            {reason: "what is still to do does not count twice", before: "renew-kubeconfig", after: "renew-kubeconfig", want: "renew-kubeconfig"},
		"API-STRAT-6 removed":         {reason: "an operation can be taken back", before: "renew-kubeconfig", after: ""},
		"API-STRAT-6 overwritten":     {reason: "but not be replaced", before: "renew-kubeconfig", after: "renew-garden-access-secrets", refused: "still has to renew-kubeconfig"},
		"API-STRAT-6 by reconcile":    {reason: "not even by one that is taken at once", before: "renew-kubeconfig", after: "reconcile", refused: "still has to renew-kubeconfig"},
		"API-STRAT-6 unknown":         {reason: "an unknown one is refused", after: "dance", refused: `Unsupported value: "dance"`},
		"API-STRAT-6 left by create":  {reason: "one that came with the seed is taken later", before: "reconcile", after: "reconcile", grows: true},
		"API-STRAT-6 nothing at all ": {reason: "nothing asked, nothing done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, "", "rose")
			main, _ := stores(t)
			s := main.MustCreate(ctx, local(asked(tc.before)))
			asked(tc.after)(s)
			got, err := main.Update(ctx, s)
			if tc.refused != "" {
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%s\nUpdate: got %v, want Invalid with %q", tc.reason, err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nUpdate: %v", tc.reason, err)
			}
			if got.Annotations[operation] != tc.want || (got.Generation == 2) != tc.grows {
				t.Errorf("%s\noperation %q, generation %d; want %q, grown %t", tc.reason, got.Annotations[operation], got.Generation, tc.want, tc.grows)
			}
		})
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	main, _ := stores(t)
	s := main.MustCreate(ctx, local(func(s *object) {
		s.Labels = map[string]string{"seed.gardener.cloud/provider": "forged", "mine": "yes"}
	}))
	delete(s.Labels, "seed.gardener.cloud/region")
	s.Spec.Provider.Region = "south"
	s = main.MustUpdate(ctx, s)
	want := map[string]string{"seed.gardener.cloud/provider": "local", "seed.gardener.cloud/region": "south", "mine": "yes"}
	if diff := cmp.Diff(want, s.Labels); diff != "" {
		t.Errorf("API-STRAT-9: the labels mirror the spec (-want +got):\n%s", diff)
	}
}

func conditions(all map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus) func(*object) {
	return func(s *object) {
		for kind, status := range all {
			s.Status.Conditions = append(s.Status.Conditions, gardencorev1beta1.Condition{Type: kind, Status: status})
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	type statuses = map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus
	plain := map[string]string{
		"Status": "NotReady", "Last Operation": "<pending>", "Provider": "local", "Region": "north", "Version": "<unknown>", "K8S Version": "<unknown>",
	}
	good := statuses{"GardenletReady": "True", "ExtensionsReady": "True"}
	but := func(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) statuses {
		all := maps.Clone(good)
		all[kind] = status
		return all
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*object)
		want   map[string]string
	}{
		"new":              {"a seed without conditions is not ready", func(*object) {}, nil},
		"ready":            {"what it must have is enough", conditions(good), map[string]string{"Status": "Ready"}},
		"silent":           {"without a gardenlet nothing is known", conditions(but("GardenletReady", "Unknown")), map[string]string{"Status": "Unknown"}},
		"gardenlet":        {"a gardenlet that is not ready", conditions(but("GardenletReady", "False")), nil},
		"no extensions":    {"extensions must be known", conditions(statuses{"GardenletReady": "True"}), nil},
		"extensions":       {"extensions must be ready", conditions(but("ExtensionsReady", "Unknown")), nil},
		"extensions go on": {"extensions may progress", conditions(but("ExtensionsReady", "Progressing")), map[string]string{"Status": "Ready"}},
		"buckets":          {"buckets must be ready where there are some", conditions(but("BackupBucketsReady", "Progressing")), nil},
		"ready buckets":    {"ready buckets are fine", conditions(but("BackupBucketsReady", "True")), map[string]string{"Status": "Ready"}},
		"system":           {"components must be healthy", conditions(but("SeedSystemComponentsHealthy", "False")), nil},
		"system unknown":   {"and known to be", conditions(but("SeedSystemComponentsHealthy", "Unknown")), nil},
		"system goes on":   {"they may progress", conditions(but("SeedSystemComponentsHealthy", "Progressing")), map[string]string{"Status": "Ready"}},
		"versions": {
			"the gardenlet tells its version, and what it did",
			func(s *object) {
				s.Status.Gardener = &gardencorev1beta1.Gardener{Version: "v1.149.0"}
				s.Status.KubernetesVersion = new("v1.36.3")
				s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded", Progress: 100}
			},
			map[string]string{"Version": "v1.149.0", "K8S Version": "v1.36.3", "Last Operation": "Reconcile Succeeded (100%)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			main, _ := stores(t)
			want := maps.Clone(plain)
			maps.Copy(want, tc.want)
			if diff := cmp.Diff(want, main.Row(t.Context(), local(tc.change))); diff != "" {
				t.Errorf("API-RES-11: %s\ncells (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	main, status := stores(t)
	s := main.MustCreate(ctx, local())
	s.Status.ClusterIdentity = new("one")
	s = status.MustUpdate(ctx, s)
	s.Status.ClusterIdentity = new("two")
	if _, err := status.Update(ctx, s); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.clusterIdentity") {
		t.Errorf("API-VALSEED-2: a seed keeps its identity, got %v", err)
	}
}
