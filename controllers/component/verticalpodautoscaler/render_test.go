// SPDX-License-Identifier: Apache-2.0

package verticalpodautoscaler_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/verticalpodautoscaler"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func shootFacts(settings gardencorev1beta1.VerticalPodAutoscaler) facts.Shoot {
	f := facts.Shoot{Namespace: "shoot--dev--a", Shoot: &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
	f.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	settings.Enabled = true
	f.Shoot.Spec.Kubernetes.VerticalPodAutoscaler = &settings
	return f
}

func inputs() *component.Inputs {
	return &component.Inputs{
		Replicas: 1,
		Images:   map[string]string{"vpa-recommender": "registry/recommender:1", "vpa-updater": "registry/updater:1", "vpa-admission-controller": "registry/admission:1"},
		Secrets: map[string]component.Secret{
			"ca": {Bundle: "ca-bundle-66666666", Trusted: []byte("authority of the shoot\n")}, "vpa-webhook": {Name: "vpa-webhook-11111111"},
		},
	}
}

func seedObjects(t *testing.T, f facts.Shoot) []client.Object {
	t.Helper()
	var all []client.Object
	for _, c := range verticalpodautoscaler.Components() {
		in := inputs()
		objs, err := c.Render(f, in)
		if err := errors.Join(err, in.Missing()); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		all = append(all, objs...)
	}
	return all
}

// whole sets every field, each to something that is not its default.
func whole() gardencorev1beta1.VerticalPodAutoscaler {
	minutes := func(n int) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Minute} }
	return gardencorev1beta1.VerticalPodAutoscaler{
		EvictAfterOOMThreshold: minutes(1), EvictionRateBurst: new(int32(2)), EvictionRateLimit: new(0.03), EvictionTolerance: new(0.04),
		RecommendationMarginFraction: new(0.05), UpdaterInterval: minutes(6), RecommenderInterval: minutes(7), TargetCPUPercentile: new(0.08),
		RecommendationLowerBoundCPUPercentile: new(0.09), RecommendationUpperBoundCPUPercentile: new(0.10), TargetMemoryPercentile: new(0.11),
		RecommendationLowerBoundMemoryPercentile: new(0.12), RecommendationUpperBoundMemoryPercentile: new(0.13),
		CPUHistogramDecayHalfLife: minutes(14), MemoryHistogramDecayHalfLife: minutes(15), MemoryAggregationInterval: minutes(16),
		MemoryAggregationIntervalCount: new(int64(17)), RecommenderUpdateWorkerCount: new(int64(18)),
		FeatureGates: map[string]bool{"InPlaceOrRecreate": true, "PerVPAConfig": true, "InPlace": false},
		MaxAllowed:   map[string]resource.Quantity{"cpu": resource.MustParse("19"), "memory": resource.MustParse("20Gi")},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]gardencorev1beta1.VerticalPodAutoscaler{"default.yaml": {}, "settings.yaml": whole()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := shootFacts(settings)
			f.VerticalAutoscaling = name == "settings.yaml"
			golden.Objects(t, name, seedObjects(t, f))
		})
	}
}

// TestRenderInside shows the kinds, the rights and the webhook in the shoot.
func TestRenderInside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]component.Component[facts.Shoot]{
		"inside.yaml": verticalpodautoscaler.InsideComponent(), "webhook.yaml": verticalpodautoscaler.WebhookComponent(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inputs()
			objs, err := c.Render(shootFacts(gardencorev1beta1.VerticalPodAutoscaler{}), in)
			if err := errors.Join(err, in.Missing()); err != nil {
				t.Fatal(err)
			}
			golden.Objects(t, name, objs)
		})
	}
}

// TestEachSettingIsAFlag_API_DEF_11 says which program gets which setting, and that without settings each program gets the same flags: a
// setting without a value would be left to the program.
func TestEachSettingIsAFlag_API_DEF_11(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{
		"vpa-recommender": {
			"recommendation-margin-fraction": "0.05", "recommender-interval": "7m0s", "target-cpu-percentile": "0.08",
			"recommendation-lower-bound-cpu-percentile": "0.09", "recommendation-upper-bound-cpu-percentile": "0.1", "target-memory-percentile": "0.11",
			"recommendation-lower-bound-memory-percentile": "0.12", "recommendation-upper-bound-memory-percentile": "0.13",
			"cpu-histogram-decay-half-life": "14m0s", "memory-histogram-decay-half-life": "15m0s", "memory-aggregation-interval": "16m0s",
			"memory-aggregation-interval-count": "17", "update-worker-count": "18",
			"container-recommendation-max-allowed-cpu": "19", "container-recommendation-max-allowed-memory": "20Gi",
		},
		"vpa-updater": {
			"evict-after-oom-threshold": "1m0s", "eviction-rate-burst": "2", "eviction-rate-limit": "0.03", "eviction-tolerance": "0.04",
			"updater-interval": "6m0s",
		},
		"vpa-admission-controller": {"register-webhook": "false"},
	}
	set, unset := flagsOf(t, shootFacts(whole())), flagsOf(t, shootFacts(gardencorev1beta1.VerticalPodAutoscaler{}))
	for program, flags := range want {
		// A gate that the programs do not know any more would end them.
		flags["feature-gates"] = "InPlace=false,PerVPAConfig=true"
		got := map[string]string{}
		for name := range flags {
			got[name] = set[program][name]
		}
		if diff := cmp.Diff(flags, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", program, diff)
		}
		without := maps.Clone(set[program])
		maps.DeleteFunc(without, func(name, _ string) bool { return name == "feature-gates" || strings.Contains(name, "max-allowed") })
		if diff := cmp.Diff(slices.Sorted(maps.Keys(without)), slices.Sorted(maps.Keys(unset[program]))); diff != "" {
			t.Errorf("%s without settings (-settings +none):\n%s", program, diff)
		}
	}
}

// flagsOf are the flags of each program.
func flagsOf(t *testing.T, f facts.Shoot) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, obj := range seedObjects(t, f) {
		d, ok := obj.(*appsv1.Deployment)
		if !ok {
			continue
		}
		all[d.Name] = map[string]string{}
		for _, argument := range d.Spec.Template.Spec.Containers[0].Args {
			name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
			all[d.Name][name] = value
		}
	}
	return all
}

// TestNobodyHoldsUpPods: the creation of a pod never depends on whether somebody answers.
func TestNobodyHoldsUpPods(t *testing.T) {
	t.Parallel()
	objs, err := verticalpodautoscaler.WebhookComponent().Render(shootFacts(gardencorev1beta1.VerticalPodAutoscaler{}), inputs())
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range objs[0].(*admissionregistrationv1.MutatingWebhookConfiguration).Webhooks { //nolint:forcetypeassert // It would panic.
		if *hook.FailurePolicy != admissionregistrationv1.Ignore || *hook.TimeoutSeconds > 5 {
			t.Errorf("webhook %s: failure policy %s, %d s", hook.Name, *hook.FailurePolicy, *hook.TimeoutSeconds)
		}
	}
}

// TestRightsAreSmall: nobody reads Secrets, configures webhooks, or changes more of the shoot than its job takes.
func TestRightsAreSmall(t *testing.T) {
	t.Parallel()
	objs, err := verticalpodautoscaler.InsideComponent().Render(shootFacts(gardencorev1beta1.VerticalPodAutoscaler{}), &component.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string][]string{}
	for _, obj := range objs {
		var rules []rbacv1.PolicyRule
		switch o := obj.(type) {
		case *rbacv1.ClusterRole:
			rules = o.Rules
		case *rbacv1.Role:
			rules = o.Rules
		}
		for _, rule := range rules {
			for _, verb := range rule.Verbs {
				if slices.Contains([]string{"get", "list", "watch"}, verb) {
					continue
				}
				for _, what := range rule.Resources {
					changes[obj.GetName()] = append(changes[obj.GetName()], verb+" "+what)
				}
			}
			if slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.Resources, "*") || slices.Contains(rule.Verbs, "*") {
				t.Errorf("%s has %v", obj.GetName(), rule)
			}
		}
		slices.Sort(changes[obj.GetName()])
	}
	maps.DeleteFunc(changes, func(_ string, all []string) bool { return len(all) == 0 })
	if diff := cmp.Diff(map[string][]string{
		"gardener.cloud:target:vpa-recommender": {
			"create verticalpodautoscalercheckpoints", "delete verticalpodautoscalercheckpoints", "patch verticalpodautoscalercheckpoints",
			"patch verticalpodautoscalers/status",
		},
		"gardener.cloud:target:vpa-updater": {
			"create events", "create pods/eviction", "patch events", "patch pods", "patch pods/resize", "update events",
		},
		"gardener.cloud:target:vpa-admission-controller": {"create leases", "update leases"},
	}, changes); diff != "" {
		t.Errorf("what the programs change (-want +got):\n%s", diff)
	}
}

// TestWanted: a shoot has all of it or nothing.
func TestWanted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		want   bool
	}{
		"Enabled":  {reason: "the shoot asks for it", change: func(*gardencorev1beta1.Shoot) {}, want: true},
		"Disabled": {reason: "it says no", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.VerticalPodAutoscaler.Enabled = false }},
		"Silent":   {reason: "it says nothing", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.VerticalPodAutoscaler = nil }},
		"None":     {reason: "there are no nodes", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }},
		"Deletion": {reason: "the shoot goes", change: func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.Now()) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := shootFacts(gardencorev1beta1.VerticalPodAutoscaler{})
			tc.change(f.Shoot)
			for _, c := range append(verticalpodautoscaler.Components(), verticalpodautoscaler.InsideComponent(), verticalpodautoscaler.WebhookComponent()) {
				if got := c.IsWanted(f); got != tc.want {
					t.Errorf("%s\n%s: IsWanted(...) = %t, want %t", tc.reason, c.Title, got, tc.want)
				}
			}
		})
	}
}
