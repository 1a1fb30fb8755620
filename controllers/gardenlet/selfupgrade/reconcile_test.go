// SPDX-License-Identifier: Apache-2.0

package selfupgrade_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/selfupgrade"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	gardenletchart "github.com/terrarium-garden/terrarium/packaging/charts/gardenlet"
)

type gardenlet = gardenseedmanagementv1alpha1.Gardenlet

// told is the ConfigMap of the chart.
const told = `apiVersion: v1
kind: ConfigMap
metadata: {name: gardenlet-configmap}
data:
  replicas: {{ .Values.replicas | quote }}
  image: {{ .Values.image | quote }}
  images: {{ .Values.imageVectorOverwrite | quote }}
  memory: {{ dig "requests" "memory" "" .Values.resources | quote }}
  config: {{ .Values.config | toJson | quote }}
`

// push stores a chart in a registry, and returns its address.
func push(t *testing.T, templates ...string) string {
	t.Helper()
	files := fstest.MapFS{
		"Chart.yaml":          {Data: []byte("apiVersion: v2\nname: gardenlet\nversion: 0.1.0\n")},
		"values.yaml":         {Data: []byte("replicas: 1\nimage: example.org/chart:v1\nimageVectorOverwrite: ''\nresources: {}\n")},
		"templates/told.yaml": {Data: []byte(told)},
	}
	for i, template := range templates {
		files[fmt.Sprintf("templates/more-%d.yaml", i)] = &fstest.MapFile{Data: []byte(template)}
	}
	packed, err := chart.Pack("gardenlet", files)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String() + "/gardenlet"
	ref, err := name.ParseReference(address + ":v2")
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := mutate.AppendLayers(empty.Image, static.NewLayer(packed, "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, artifact); err != nil {
		t.Fatal(err)
	}
	return address
}

// stage is a garden and the cluster of its seed.
type stage struct {
	*selfupgrade.Reconciler

	t       *testing.T
	garden  client.Client
	clock   *clocktesting.FakeClock
	renewed int
}

func newStage(t *testing.T, objects ...client.Object) *stage {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	s := &stage{t: t, clock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	s.garden = fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).WithStatusSubresource(&gardenlet{}).Build()
	kinds := meta.NewDefaultRESTMapper(nil)
	kinds.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	kinds.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	running := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet"}}
	s.Reconciler = &selfupgrade.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: s.garden, GardenReader: s.garden, SeedName: "one", Clock: s.clock,
			SeedClient: fake.NewClientBuilder().WithScheme(types).WithRESTMapper(kinds).WithObjects(running).Build(),
		},
		Connection: &gardenconfigv1alpha1.GardenClientConnection{
			KubeconfigSecret: &corev1.SecretReference{Namespace: "garden", Name: "gardenlet-kubeconfig"}, GardenClusterAddress: new("https://garden.example.org"),
		},
		RenewKubeconfig:   func(context.Context) error { s.renewed++; return nil },
		KubernetesVersion: func() (string, error) { return "v1.36.3", nil },
		Config:            config.Controllers.Gardenlet,
	}
	return s
}

func of(address string, changes ...func(*gardenlet)) *gardenlet {
	g := &gardenlet{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "one", Generation: 1}}
	g.Spec.Deployment.Helm.OCIRepository = gardencorev1.OCIRepository{Repository: &address, Tag: new("v2")}
	g.Spec.Config = runtime.RawExtension{Raw: []byte(`{"logLevel":"debug","seedConfig":{"metadata":{"creationTimestamp":null},"spec":{}}}`)}
	for _, change := range changes {
		change(g)
	}
	return g
}

// pass makes a pass, and returns its error and the condition.
func (s *stage) pass() (string, *gardenlet) {
	s.t.Helper()
	g := of("")
	_, err := s.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(g)})
	if getErr := s.garden.Get(s.t.Context(), client.ObjectKeyFromObject(g), g); client.IgnoreNotFound(getErr) != nil {
		s.t.Fatal(getErr)
	}
	state := ""
	for _, c := range g.Status.Conditions {
		state = string(c.Type) + " " + string(c.Status) + " " + c.Reason
	}
	if err != nil {
		state += ": " + err.Error()
	}
	return state, g
}

// told is what the chart has told the seed.
func (s *stage) told() map[string]string {
	s.t.Helper()
	config := &corev1.ConfigMap{}
	if err := s.SeedClient.Get(s.t.Context(), client.ObjectKey{Namespace: "garden", Name: "gardenlet-configmap"}, config); client.IgnoreNotFound(err) != nil {
		s.t.Fatal(err)
	}
	return config.Data
}

const reconciled = "GardenletReconciled True Reconciled"

// TestUpgrade_GLET_GL_1 renders the chart with what the Gardenlet says, and with what is in the chart or in use where it says nothing.
func TestUpgrade_GLET_GL_1(t *testing.T) {
	t.Parallel()
	address := push(t)
	const connection = `"gardenClientConnection":{"gardenClusterAddress":"https://garden.example.org","kubeconfigSecret":{"name":"gardenlet-kubeconfig","namespace":"garden"}}`
	const rest = `"logLevel":"debug","seedConfig":{"metadata":{"creationTimestamp":null,"name":"one"},"spec":{}}`
	for reason, tc := range map[string]struct {
		change func(*gardenlet)
		want   map[string]string
	}{
		"it says nothing": {
			change: func(*gardenlet) {},
			want:   map[string]string{"replicas": "1", "image": "example.org/chart:v1", "images": "", "memory": "", "config": "{" + connection + "," + rest + "}"},
		},
		"it says all": {
			change: func(g *gardenlet) {
				d := &g.Spec.Deployment
				d.ReplicaCount, d.ImageVectorOverwrite = new(int32(3)), new("images: []")
				d.Image = &gardenseedmanagementv1alpha1.Image{Repository: new("example.org/terrarium"), Tag: new("v2")}
				d.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse("1Gi")}}
				g.Spec.Config.Raw = []byte(`{"gardenClientConnection":{"kubeconfigSecret":{"name":"mine","namespace":"garden"},"gardenClusterAddress":"https://b"}}`)
			},
			want: map[string]string{
				"replicas": "3", "image": "example.org/terrarium:v2", "images": "images: []", "memory": "1Gi",
				"config": `{"gardenClientConnection":{"gardenClusterAddress":"https://b","kubeconfigSecret":{"name":"mine","namespace":"garden"}},"seedConfig":{"metadata":{"name":"one"}}}`,
			},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, of(address, tc.change))
			if got, g := s.pass(); got != reconciled || g.Status.ObservedGeneration != g.Generation {
				t.Errorf("the Gardenlet is %q, of generation %d", got, g.Status.ObservedGeneration)
			}
			if diff := cmp.Diff(tc.want, s.told()); diff != "" {
				t.Errorf("what the chart was told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChart_GLET_GL_1 renders the chart of this version with what a Gardenlet says.
func TestChart_GLET_GL_1(t *testing.T) {
	t.Parallel()
	g := of("", func(g *gardenlet) {
		g.Spec.Deployment.ReplicaCount = new(int32(3))
		g.Spec.Deployment.Image = &gardenseedmanagementv1alpha1.Image{Ref: new("example.org/terrarium:v2")}
	})
	values, err := selfupgrade.Values(g, &gardenconfigv1alpha1.GardenClientConnection{KubeconfigSecret: &corev1.SecretReference{Namespace: "garden", Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := chart.LoadFS(gardenletchart.Files())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := loaded.Render(chart.Release{Name: "gardenlet", Namespace: "garden", KubernetesVersion: "v1.36.3"}, values)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment":
			d := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, d); err != nil {
				t.Fatal(err)
			}
			got[d.Namespace+"/"+d.Name] = fmt.Sprintf("%d of %s", *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image)
		case "ConfigMap":
			config, _, err := unstructured.NestedString(object.Object, "data", "config.yaml")
			if err != nil {
				t.Fatal(err)
			}
			got[object.GetName()] = config
		default:
			got[object.GetKind()] = object.GetName()
		}
	}
	want := map[string]string{
		"garden/gardenlet": "3 of example.org/terrarium:v2", "ServiceAccount": "gardenlet", "ClusterRoleBinding": "gardener.cloud:system:gardenlet",
		"gardenlet-configmap": "gardenClientConnection:\n  kubeconfigSecret:\n    name: a\n    namespace: garden\nlogLevel: debug\n" +
			"seedConfig:\n  metadata:\n    creationTimestamp: null\n    name: one\n  spec: {}",
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("trim", strings.TrimSpace)); diff != "" {
		t.Errorf("objects of the chart (-want +got):\n%s", diff)
	}
}

// TestWhen_GLET_GL_1 sees when the chart is applied: for a new process, a change, and once a period.
func TestWhen_GLET_GL_1(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if got, _ := s.pass(); got != "" {
		t.Fatalf("without a Gardenlet: %s", got)
	}
	if err := s.garden.Create(t.Context(), of(push(t))); err != nil {
		t.Fatal(err)
	}
	applied := func() bool {
		t.Helper()
		there := s.told() != nil
		if err := s.SeedClient.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("garden")); err != nil {
			t.Fatal(err)
		}
		return there
	}
	for _, step := range []struct {
		reason string
		do     func(g *gardenlet)
		want   bool
	}{
		{reason: "it is new", want: true},
		{reason: "nothing has changed"},
		{reason: "a minute has passed", do: func(*gardenlet) { s.clock.Step(time.Minute) }},
		{reason: "it has changed", do: func(g *gardenlet) { g.Generation = 2 }, want: true},
		{reason: "an hour has passed", do: func(*gardenlet) { s.clock.Step(time.Hour) }, want: true},
		{reason: "somebody asks", do: func(g *gardenlet) { g.Annotations = map[string]string{"gardener.cloud/operation": "force-redeploy"} }, want: true},
		{reason: "somebody asks for credentials (GLET-ROT-7)", do: func(g *gardenlet) { g.Annotations = map[string]string{"gardener.cloud/operation": "renew-kubeconfig"} }},
		{reason: "it is being deleted", do: func(g *gardenlet) { g.Generation, g.Finalizers = 3, []string{"example.org/hold"} }, want: true},
	} {
		g := of("")
		if err := s.garden.Get(t.Context(), client.ObjectKeyFromObject(g), g); err != nil {
			t.Fatal(err)
		}
		if step.do != nil {
			step.do(g)
			if err := s.garden.Update(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		got, after := s.pass()
		if got != reconciled || len(after.Annotations) > 0 || applied() != step.want {
			t.Errorf("%s: the Gardenlet is %q with annotations %v; want it applied: %t", step.reason, got, after.Annotations, step.want)
		}
	}
	if s.renewed != 1 {
		t.Errorf("GLET-ROT-7: credentials were asked for %d times, want 1", s.renewed)
	}
	if err := s.garden.Delete(t.Context(), of("")); err != nil {
		t.Fatal(err)
	}
	s.clock.Step(time.Hour)
	if s.pass(); applied() {
		t.Error("the deletion of a Gardenlet has had an effect")
	}
}

// TestTroubles_GLET_GL_1 sees that nothing is applied and why it is not.
func TestTroubles_GLET_GL_1(t *testing.T) {
	t.Parallel()
	address := push(t)
	for reason, tc := range map[string]struct {
		change func(*gardenlet)
		stage  func(*stage)
		want   string
	}{
		"no such chart": {change: func(g *gardenlet) { g.Spec.Deployment.Helm.OCIRepository.Tag = new("v3") }, want: "cannot be pulled"},
		"a registry that needs credentials": {
			change: func(g *gardenlet) {
				g.Spec.Deployment.Helm.OCIRepository.PullSecretRef = &corev1.LocalObjectReference{Name: "a"}
			}, want: "not served yet",
		},
		"no configuration":  {change: func(g *gardenlet) { g.Spec.Config.Raw = []byte("[]") }, want: "spec.config"},
		"another program":   {stage: func(s *stage) { s.stopped() }, want: "does not run as Deployment"},
		"a kubeconfig file": {stage: func(s *stage) { s.Connection = &gardenconfigv1alpha1.GardenClientConnection{} }, want: "kubeconfigSecret: required"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			g := of(address)
			if tc.change != nil {
				tc.change(g)
			}
			s := newStage(t, g)
			if tc.stage != nil {
				tc.stage(s)
			}
			got, _ := s.pass()
			if !strings.HasPrefix(got, "GardenletReconciled False ReconcileError: ") || !strings.Contains(got, tc.want) {
				t.Errorf("the Gardenlet is %q, want %q in it", got, tc.want)
			}
			if s.told() != nil {
				t.Error("the chart was applied")
			}
		})
	}
}

// stopped takes the Deployment away.
func (s *stage) stopped() {
	s.t.Helper()
	if err := s.SeedClient.DeleteAllOf(s.t.Context(), &appsv1.Deployment{}, client.InNamespace("garden")); err != nil {
		s.t.Fatal(err)
	}
}

// TestWavering sees that a chart with random values does not replace the pods of the gardenlet without end: each process makes a pass, and the
// pods that it replaces start the next process.
func TestWavering_GLET_GL_1(t *testing.T) {
	t.Parallel()
	const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: gardenlet}
spec:
  selector: {matchLabels: {role: gardenlet}}
  template:
    metadata: {labels: {role: gardenlet}, annotations: {roll: %s}}
    spec: {containers: [{name: gardenlet, image: {{ .Values.image | quote }}}]}
`
	for reason, tc := range map[string]struct {
		roll    string
		message string
		// repaired is what a further process does to an object that somebody has deleted.
		repaired bool
	}{
		"a chart that asks for random values": {roll: `{{ randAlphaNum 20 | quote }}`, message: "until what it is made of changes"},
		"a chart that does not":               {roll: `{{ .Values.config | toJson | sha256sum | quote }}`, message: "applied to the seed", repaired: true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, of(push(t, fmt.Sprintf(deployment, tc.roll))))
			template := func() string {
				t.Helper()
				s.restart()
				if got, g := s.pass(); got != reconciled {
					t.Fatalf("the Gardenlet is %q: %v", got, g.Status.Conditions)
				}
				d := &appsv1.Deployment{}
				if err := s.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "gardenlet"}, d); err != nil {
					t.Fatal(err)
				}
				return fmt.Sprint(d.Spec.Template)
			}
			change := func(how func(*gardenlet)) {
				t.Helper()
				g := of("")
				if err := s.garden.Get(t.Context(), client.ObjectKeyFromObject(g), g); err != nil {
					t.Fatal(err)
				}
				how(g)
				if err := s.garden.Update(t.Context(), g); err != nil {
					t.Fatal(err)
				}
			}
			first := template()
			if err := s.SeedClient.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("garden")); err != nil {
				t.Fatal(err)
			}
			if second := template(); second != first {
				t.Errorf("the next process has replaced the pods (-first +second):\n%s", cmp.Diff(first, second))
			}
			if repaired := s.told() != nil; repaired != tc.repaired {
				t.Errorf("what somebody has deleted was made again: %t", repaired)
			}
			if _, g := s.pass(); !strings.HasSuffix(g.Status.Conditions[0].Message, tc.message) {
				t.Errorf("message %q", g.Status.Conditions[0].Message)
			}
			change(func(g *gardenlet) {
				g.Generation = 2
				g.Spec.Deployment.Image = &gardenseedmanagementv1alpha1.Image{Ref: new("example.org/v3")}
			})
			changed := template()
			if !strings.Contains(changed, "example.org/v3") {
				t.Errorf("another image was not applied: %s", changed)
			}
			change(func(g *gardenlet) { g.Annotations = map[string]string{"gardener.cloud/operation": "force-redeploy"} })
			if asked := template(); (asked != changed) == tc.repaired {
				t.Errorf("somebody has asked for it, and the pods are (-before +after):\n%s", cmp.Diff(changed, asked))
			}
		})
	}
}

// TestOwed_GLET_ROT_7 applies a chart with random values again when somebody has asked for it and the first time has failed.
func TestOwed_GLET_ROT_7(t *testing.T) {
	t.Parallel()
	s := newStage(t, of(push(t, `apiVersion: apps/v1
kind: Deployment
metadata: {name: gardenlet}
spec:
  selector: {matchLabels: {role: gardenlet}}
  template:
    metadata: {labels: {role: gardenlet}, annotations: {roll: {{ randAlphaNum 20 | quote }}}}
    spec: {containers: [{name: gardenlet, image: {{ .Values.image | quote }}}]}
`)))
	template := func() string {
		t.Helper()
		d := &appsv1.Deployment{}
		if err := s.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "gardenlet"}, d); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(d.Spec.Template)
	}
	if got, g := s.pass(); got != reconciled {
		t.Fatalf("the Gardenlet is %q: %v", got, g.Status.Conditions)
	}
	first := template()
	g := of("")
	if err := s.garden.Get(t.Context(), client.ObjectKeyFromObject(g), g); err != nil {
		t.Fatal(err)
	}
	g.Annotations = map[string]string{"gardener.cloud/operation": "force-redeploy"}
	if err := s.garden.Update(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	whole, ok := s.SeedClient.(client.WithWatch)
	if !ok {
		t.Fatalf("a client that cannot be wrapped: %T", s.SeedClient)
	}
	away := errors.New("a webhook of the seed is away")
	s.SeedClient = interceptor.NewClient(whole, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return away
		},
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return away
		},
	})
	if got, g := s.pass(); got == reconciled {
		t.Fatalf("the chart was applied without its objects: %v", g.Status.Conditions)
	}
	s.SeedClient = whole
	if got, g := s.pass(); got != reconciled {
		t.Fatalf("the Gardenlet is %q: %v", got, g.Status.Conditions)
	}
	second := template()
	if second == first {
		t.Errorf("somebody has asked for it, it has failed, and was not done again: %s", second)
	}
	s.pass()
	if third := template(); third != second {
		t.Errorf("it was done twice:\n%s", cmp.Diff(second, third))
	}
}

// restart makes the next passes those of another process.
func (s *stage) restart() {
	r := s.Reconciler
	s.Reconciler = &selfupgrade.Reconciler{
		SeedBase: r.SeedBase, Connection: r.Connection, RenewKubeconfig: r.RenewKubeconfig, KubernetesVersion: r.KubernetesVersion, Config: r.Config,
	}
}
