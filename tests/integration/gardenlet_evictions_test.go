// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/evictions"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// podAutoscalers is the kind that a cluster has where somebody has installed the autoscaler of pods.
func podAutoscalers() *apiextensionsv1.CustomResourceDefinition {
	kind := vertical.Kind()
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "verticalpodautoscalers." + kind.Group, Annotations: map[string]string{
			"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/63797",
		}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind.Kind, ListKind: kind.Kind + "List", Plural: "verticalpodautoscalers", Singular: "verticalpodautoscaler"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
			}},
		},
	}
}

// startEvictions runs the controller of a gardenlet whose seed is the cluster.
func startEvictions(t *testing.T, garden *harness.Garden) {
	t.Helper()
	mgr, err := ctrl.NewManager(garden.Config, ctrl.Options{
		Scheme: garden.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	seed, err := cluster.New(garden.Config, func(o *cluster.Options) { o.Scheme = garden.Scheme })
	if err != nil {
		t.Fatal(err)
	}
	settings := &gardenconfigv1alpha1.GardenletConfiguration{}
	settings.SetDefaults()
	r := &evictions.Reconciler{Config: settings.Controllers.VPAEvictionRequirements}
	if err := mgr.Add(seed); err != nil {
		t.Fatal(err)
	}
	if err := kit.AddAll(kit.Clusters{Garden: mgr, Seed: seed, SeedName: "one", Clock: realClock()}, r); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestEtcdIsHeldBack applies the autoscaler of an etcd as the gardenlet does, again and again, beside the controller that holds back its
// shrinking: neither takes anything away from the other (GLET-VPA-1, BAK-ETCD-9).
func TestEtcdIsHeldBack(t *testing.T) {
	t.Parallel()
	garden := harness.Start(t)
	engine := deploy.Engine{Client: garden.Client, Owner: "gardenlet", Clock: realClock()}
	definition, home := podAutoscalers(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
	if err := engine.Apply(t.Context(), definition, home); err != nil {
		t.Fatal(err)
	}
	if err := engine.WaitReady(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	startEvictions(t, garden)

	f := facts.Shoot{Namespace: home.Name, Seed: &gardencorev1beta1.Seed{}, Shoot: &gardencorev1beta1.Shoot{}, VerticalAutoscaling: true}
	f.Shoot.Spec.Purpose = new(gardencorev1beta1.ShootPurposeProduction)
	f.Shoot.Annotations = map[string]string{}
	apply := func() *unstructured.Unstructured {
		t.Helper()
		for _, role := range []string{"main", "events"} {
			objs, err := etcd.Component(role).Render(f, &component.Inputs{})
			if err != nil {
				t.Fatal(err)
			}
			if err := engine.Apply(t.Context(), objs[len(objs)-1]); err != nil {
				t.Fatal(err)
			}
		}
		vpa := &unstructured.Unstructured{}
		vpa.SetGroupVersionKind(vertical.Kind())
		vpa.SetNamespace(home.Name)
		vpa.SetName("etcd-main")
		return vpa
	}
	held := func(want bool) func(context.Context) error {
		return func(ctx context.Context) error {
			vpa := apply()
			if err := garden.Client.Get(ctx, client.ObjectKeyFromObject(vpa), vpa); err != nil {
				return err
			}
			list, found, err := unstructured.NestedSlice(vpa.Object, "spec", "updatePolicy", "evictionRequirements")
			if err != nil {
				return err
			}
			return has(found == want, "eviction requirements are %v", list)
		}
	}
	harness.Eventually(t, "the store of a shoot for production does not shrink", held(true))
	vpa := apply()
	if err := garden.Client.Get(t.Context(), client.ObjectKeyFromObject(vpa), vpa); err != nil {
		t.Fatal(err)
	}
	version := vpa.GetResourceVersion()
	if err := held(true)(t.Context()); err != nil {
		t.Errorf("what holds it back is taken away by what describes it: %v", err)
	}
	if err := garden.Client.Get(t.Context(), client.ObjectKeyFromObject(vpa), vpa); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(version, vpa.GetResourceVersion()); diff != "" {
		t.Errorf("it is written without a change (-before +after):\n%s", diff)
	}
	mode, _, err := unstructured.NestedString(vpa.Object, "spec", "updatePolicy", "updateMode")
	if err != nil || mode != "Recreate" {
		t.Errorf("the update mode is %q, %v, want Recreate", mode, err)
	}

	f.Shoot.Spec.Purpose = new(gardencorev1beta1.ShootPurposeEvaluation)
	f.Shoot.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: maintenanceWindow(realClock().Now().UTC().Add(-2*time.Hour), 4*time.Hour)}
	harness.Eventually(t, "another store shrinks while its shoot is maintained", held(false))
	f.Shoot.Annotations[gardencorev1beta1.AnnotationShootScaleDownDisabled] = "true"
	harness.Eventually(t, "its owner forbids it", held(true))
}

// TestNoPodAutoscalers: a seed without the kind has no such controller, and its gardenlet starts nevertheless.
func TestNoPodAutoscalers(t *testing.T) {
	t.Parallel()
	garden := harness.Start(t)
	startEvictions(t, garden)
	seed, err := cluster.New(garden.Config, func(o *cluster.Options) { o.Scheme = garden.Scheme })
	if err != nil {
		t.Fatal(err)
	}
	if served, err := vertical.Served(seed.GetRESTMapper()); served || err != nil {
		t.Errorf("Served(...) = %t, %v, want false", served, err)
	}
	vpa := &unstructured.Unstructured{}
	vpa.SetGroupVersionKind(vertical.Kind())
	if err := garden.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "one"}, vpa); !meta.IsNoMatchError(err) {
		t.Errorf("Get(...) = %v, want that nobody knows the kind", err)
	}
}
