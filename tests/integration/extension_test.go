// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// silence is how long an extension of these tests may be silent.
const silence = 3 * time.Second

// TestSecondExtension follows an extension that knows the published contract only, from its registration on. A shoot that
// asks for it waits until its program has answered, and does not believe it any more when it is silent.
func TestSecondExtension(t *testing.T) {
	t.Parallel()
	program := buildGreeter(t)
	n := newNursery(t)
	n.garden.create(greetingRegistration(t)...)
	n.garden.provider("local")
	n.invite(n.token(time.Hour))
	gardenlet := n.run(n.config("one"))
	n.manageResources()
	seed := n.readySeed()
	installation := n.installation("greeting")
	home := "extension-" + installation.Name
	n.conditions(installation, map[gardencorev1beta1.ConditionType]string{
		"Valid": "True RegistrationValid", "Installed": "True InstallationSuccessful", "Healthy": "True ControllerHealthy",
	})
	n.checkGardenAccess(seed, home)
	n.readySeed() // Its last round of care may have been before the extension was installed, and no other comes after the gardenlet is stopped.
	if err := gardenlet.stop(); err != nil {
		t.Fatal(err)
	}

	provider := n.garden.installation("one", "provider-local", "the provider is wanted")
	n.garden.changeStatus(provider, func() { provider.Status.Conditions = nil })
	n.garden.ready(provider)
	s := n.orderGreeted(seed)
	plant := n.plantOf(seed)
	g := n.seed.hire(program, home)
	ended := make(chan error, 1)
	go func() {
		result, err := plant.Reconcile(ctrl.LoggerInto(t.Context(), testr.New(t)), request(s))
		t.Logf("the flow ended with %+v, %v", result, err)
		if n.garden.Client.Get(context.WithoutCancel(t.Context()), client.ObjectKeyFromObject(s), s) == nil {
			t.Logf("last operation %+v", s.Status.LastOperation)
		}
		ended <- err
	}()
	object := &gardenextensionsv1alpha1.Extension{ObjectMeta: named("shoot--dev--a", "greeting")}
	harness.Await(t, n.seed.Client, object, "the extension is asked to act", func(x *gardenextensionsv1alpha1.Extension) error {
		return has(x.Annotations["gardener.cloud/operation"] == "reconcile", "annotations %v", x.Annotations)
	})
	if server := n.apiServer(plant); !apierrors.IsNotFound(server) {
		t.Errorf("EXT-EXT-3: the API server did not wait for an extension that comes before it: %v", server)
	}
	g.start()
	if err := <-ended; err != nil {
		t.Fatalf("EXT-EXT-4: the flow did not go on after the extension had answered: %v", err)
	}
	if err := n.apiServer(plant); err != nil {
		t.Errorf("the API server: %v", err)
	}
	n.checkGreeting()
	n.checkSilence(plant, s, g)
	n.checkFarewell(plant, s, object)
}

func request(s *gardencorev1beta1.Shoot) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}
}

// greetingRegistration registers the extension as docs/extensions.md says. The seed is the API of a garden, which has no Deployments: the
// test itself runs the program as the Deployment of the chart would.
func greetingRegistration(t *testing.T) []client.Object {
	t.Helper()
	files := greetingChart(t)
	delete(files, greetingDeployment)
	packed, err := chart.Pack("greeting", files)
	if err != nil {
		t.Fatal(err)
	}
	return []client.Object{
		&gardencorev1beta1.ControllerDeployment{
			ObjectMeta: metav1.ObjectMeta{Name: "greeting"}, Type: "helm", ProviderConfig: helm(t, packed, greetingValues()),
			InjectGardenKubeconfig: new(true),
		},
		&gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "greeting"}, Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				Policy: new(gardencorev1beta1.ControllerDeploymentPolicyAlways), DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "greeting"}},
			},
			Resources: []gardencorev1beta1.ControllerResource{{
				Kind: "Extension", Type: "greeting", WorkerlessSupported: new(true),
				Lifecycle: &gardencorev1beta1.ControllerResourceLifecycle{Reconcile: new(gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer)},
			}},
		}},
	}
}

// orderGreeted orders a shoot on the seed that asks for the extension and refers to a Secret.
func (n *nursery) orderGreeted(seed *gardencorev1beta1.Seed) *gardencorev1beta1.Shoot {
	n.t.Helper()
	namespace := *n.garden.project("dev").Spec.Namespace
	n.garden.create(&corev1.Secret{ObjectMeta: named(namespace, "pen"), Data: map[string][]byte{"name": []byte("Flora")}})
	s := workerless(namespace, "a", seed.Name)
	s.Spec.Extensions = []gardencorev1beta1.Extension{{
		Type: "greeting", ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"greeting.example.org/v1","kind":"Greeting","text":"Hello","signature":"author"}`)},
	}}
	ref := gardencorev1beta1.NamedResourceReference{Name: "author"}
	ref.ResourceRef.APIVersion, ref.ResourceRef.Kind, ref.ResourceRef.Name = "v1", "Secret", "pen"
	s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{ref}
	n.garden.create(s)
	n.seed.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}})
	return s
}

// plantOf is the shoot controller of the seed, which acts in a seed that is half alive.
func (n *nursery) plantOf(seed *gardencorev1beta1.Seed) *shoot.Reconciler {
	n.t.Helper()
	r := n.garden.gardenletOf(seed)
	inside := fake.NewClientBuilder().WithScheme(n.garden.Scheme).WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}).Build()
	r.SeedClient = halfAlive(n.seed.Client, n.garden.Scheme, inside)
	r.Shoots = &kit.Shoots{Seed: r.SeedClient, Connect: func([]byte) (*kit.Shoot, error) {
		return &kit.Shoot{Client: inside, Healthz: func(context.Context) (int, error) { return http.StatusOK, nil }}, nil
	}}
	return r
}

func (n *nursery) apiServer(plant *shoot.Reconciler) error {
	return plant.SeedClient.Get(n.t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "kube-apiserver"}, &appsv1.Deployment{})
}

func (n *nursery) checkGreeting() {
	n.t.Helper()
	greeting := &corev1.ConfigMap{}
	if err := n.seed.Client.Get(n.t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "extension-greeting"}, greeting); err != nil {
		n.t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"text": "Hello", "volume": "normal", "signature": "Flora"}, greeting.Data); diff != "" {
		n.t.Errorf("EXT-GEN-3, EXT-CONV-3: what the extension was told, and found (-want +got):\n%s", diff)
	}
}

// checkSilence kills the program, and runs it again.
func (n *nursery) checkSilence(plant *shoot.Reconciler, s *gardencorev1beta1.Shoot, g *greeter) {
	n.t.Helper()
	outdated := func(want bool) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			c, err := n.controlPlaneOf(ctx, plant, s)
			if err != nil {
				return err
			}
			is := c.Status == gardencorev1beta1.ConditionUnknown && c.Reason == "ExtensionOutdatedHealthCheckReport"
			return has(is == want, "ControlPlaneHealthy is %s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	n.await("EXT-HB-2: an extension that sends heartbeats is believed", outdated(false))
	g.stop()
	n.await("EXT-HEALTH-3: one that is silent is not", outdated(true))
	g.start()
	n.await("it is again when it has come back", outdated(false))
}

// controlPlaneOf checks the shoot's health once, with heartbeats that are read anew.
func (n *nursery) controlPlaneOf(ctx context.Context, plant *shoot.Reconciler, s *gardencorev1beta1.Shoot) (*gardencorev1beta1.Condition, error) {
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	config.Controllers.ShootCare.ConditionThresholds = nil
	config.Controllers.ShootCare.StaleExtensionHealthChecks.Threshold.Duration = silence
	r := &care.Reconciler{SeedBase: plant.SeedBase, Config: config.Controllers.ShootCare}
	r.GardenClient, r.GardenReader = n.garden.Client, n.garden.Client
	if _, err := r.Reconcile(ctx, request(s)); err != nil {
		return nil, err
	}
	if err := n.garden.Client.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
		return nil, err
	}
	c := query.FindCondition(s.Status.Conditions, gardencorev1beta1.ConditionTypeControlPlaneHealthy)
	if c == nil {
		return nil, errors.New("there is no condition ControlPlaneHealthy")
	}
	return c, nil
}

// checkFarewell lets the shoot do without the extension: its object goes, and what the extension has made with it.
func (n *nursery) checkFarewell(plant *shoot.Reconciler, s *gardencorev1beta1.Shoot, object client.Object) {
	n.t.Helper()
	n.garden.change(s, func() { s.Spec.Extensions = nil })
	n.garden.heartbeat("one")
	if _, err := plant.Reconcile(n.t.Context(), request(s)); err != nil {
		n.t.Fatalf("Reconcile(...) without the extension = %v", err)
	}
	n.seed.absent(object, "EXT-AGENT-6: nobody asks for it any more")
	n.seed.absent(&corev1.ConfigMap{ObjectMeta: named("shoot--dev--a", "extension-greeting")}, "EXT-CTRL-3: its deletion acted")
}
