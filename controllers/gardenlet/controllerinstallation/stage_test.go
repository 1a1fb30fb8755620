// SPDX-License-Identifier: Apache-2.0

package controllerinstallation_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

// stage is a garden and a seed with the installation demo-x of the controller deployment demo.
type stage struct {
	t            *testing.T
	garden, seed client.Client
	reconciler   *controllerinstallation.Reconciler
}

func newStage(t *testing.T, objects ...client.Object) *stage {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	seed.Status.ClusterIdentity = new("seed-one")
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "demo-x"}}
	installation.Spec.RegistrationRef.Name = "demo"
	installation.Spec.SeedRef = &corev1.ObjectReference{Name: "one"}
	installation.Spec.DeploymentRef = &corev1.ObjectReference{Name: "demo"}
	identity := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-identity"}, Data: map[string]string{"cluster-identity": "garden"},
	}
	objects = append(objects, seed, installation, identity, &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "demo"}})
	kinds := meta.NewDefaultRESTMapper(nil)
	for gvk := range types.AllKnownTypes() {
		kinds.Add(gvk, meta.RESTScopeNamespace)
	}
	kinds.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	s := &stage{
		t:      t,
		garden: fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(installation, seed).WithObjects(objects...).Build(),
		seed:   fake.NewClientBuilder().WithScheme(types).WithRESTMapper(kinds).Build(),
	}
	s.reconciler = &controllerinstallation.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: s.garden, GardenReader: s.garden, SeedClient: s.seed, Clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one",
		},
		KubernetesVersion: func() (string, error) { return "v1.36.3", nil },
	}
	return s
}

func (s *stage) reconcile() (reconcile.Result, error) {
	return s.reconciler.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "demo-x"}})
}

// pass makes a pass and returns the condition Valid after it, with its error.
func (s *stage) pass() (gardencorev1beta1.Condition, error) {
	s.t.Helper()
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "demo-x"}}
	_, passErr := s.reconcile()
	if err := s.garden.Get(s.t.Context(), client.ObjectKeyFromObject(installation), installation); err != nil {
		s.t.Fatal(err)
	}
	valid := query.FindCondition(installation.Status.Conditions, gardencorev1beta1.ConditionTypeValid)
	if valid == nil {
		s.t.Fatalf("no condition Valid; error of the pass: %v", passErr)
	}
	return *valid, passErr
}

// installed returns what the resource manager is to apply.
func (s *stage) installed() string {
	s.t.Helper()
	secret := &corev1.Secret{}
	if err := s.seed.Get(s.t.Context(), client.ObjectKey{Namespace: "garden", Name: "managedresource-demo-x"}, secret); err != nil {
		s.t.Fatal(err)
	}
	return string(secret.Data["objects.yaml"])
}

// settle makes a pass, and does what the resource manager does.
func (s *stage) settle() {
	s.t.Helper()
	if valid, err := s.pass(); valid.Status != gardencorev1beta1.ConditionTrue || err != nil {
		s.t.Fatalf("condition %s: %s, error %v", valid.Reason, valid.Message, err)
	}
	secret, mr := &corev1.Secret{}, &gardenresourcesv1alpha1.ManagedResource{}
	for key, object := range map[string]client.Object{"managedresource-demo-x": secret, "demo-x": mr} {
		if err := s.seed.Get(s.t.Context(), client.ObjectKey{Namespace: "garden", Name: key}, object); err != nil {
			s.t.Fatal(err)
		}
	}
	mr.Status.ObservedGeneration = mr.Generation
	mr.Status.SecretsDataChecksum = new(managedresource.Decode(secret).Checksum)
	mr.Status.Conditions = []gardencorev1beta1.Condition{{Type: "ResourcesApplied", Status: "True"}}
	if err := s.seed.Update(s.t.Context(), mr); err != nil {
		s.t.Fatal(err)
	}
}

// installedSecret returns what a Secret of the chart holds.
func (s *stage) installedSecret(name string) map[string]string {
	s.t.Helper()
	for document := range strings.SplitSeq(s.installed(), "---\n") {
		secret := &corev1.Secret{}
		if err := yaml.Unmarshal([]byte(document), secret); err != nil {
			s.t.Fatal(err)
		}
		if secret.Kind == "Secret" && secret.Name == name {
			return secret.StringData
		}
	}
	return nil
}

// change changes an object of the garden.
func (s *stage) change(object client.Object, mutate func()) {
	s.t.Helper()
	if err := s.garden.Get(s.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.t.Fatal(err)
	}
	mutate()
	if err := s.garden.Update(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) create(object client.Object) {
	s.t.Helper()
	if err := s.garden.Create(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

// replace puts an object in the place of another one.
func (s *stage) replace(object client.Object) {
	s.t.Helper()
	if err := s.garden.Update(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

func deployment(helm gardencorev1.HelmControllerDeployment) *gardencorev1.ControllerDeployment {
	return &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Helm: &helm}
}

// packed is a chart with one template.
func packed(t *testing.T, template string) []byte {
	t.Helper()
	data, err := chart.Pack("demo", fstest.MapFS{
		"Chart.yaml": {Data: []byte("apiVersion: v2\nname: demo\nversion: 0.1.0\n")}, "templates/told.yaml": {Data: []byte(template)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// secret is one of the namespace garden with a role.
func secret(name, role string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name, Labels: map[string]string{"gardener.cloud/role": role}}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}
