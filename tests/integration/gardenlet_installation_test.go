// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// extensionChart is a chart that writes down what it was told.
func extensionChart(t *testing.T, templates map[string]string) []byte {
	t.Helper()
	files := fstest.MapFS{
		"Chart.yaml":  {Data: []byte("apiVersion: v2\nname: demo\nversion: 0.1.0\n")},
		"values.yaml": {Data: []byte("colour: white\nsize: small\n")},
	}
	for name, content := range templates {
		files["templates/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	packed, err := chart.Pack("demo", files)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

const toldTemplate = `apiVersion: v1
kind: ConfigMap
metadata: {name: told}
data:
  colour: {{ .Values.colour }}
  size: {{ .Values.size }}
  version: {{ .Values.gardener.version }}
  garden: {{ .Values.gardener.garden.clusterIdentity }}
  seed: {{ .Values.gardener.seed.name }}
  identity: {{ .Values.gardener.seed.clusterIdentity }}
  region: {{ .Values.gardener.seed.spec.provider.region }}
  climate: {{ .Values.gardener.seed.labels.climate }}
  protected: {{ .Values.gardener.seed.protected | quote }}
  visible: {{ .Values.gardener.seed.visible | quote }}
`

func helm(t *testing.T, packed []byte, values map[string]any) runtime.RawExtension {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"chart": packed, "values": values})
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

// TestGardenletInstallsExtensions follows an extension from its registration to its end, on one seed.
func TestGardenletInstallsExtensions(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.garden.create(
		&gardencorev1beta1.ControllerDeployment{
			ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Type: "helm",
			ProviderConfig: helm(t, extensionChart(t, map[string]string{
				"told.yaml": toldTemplate,
				"old.yaml":  "apiVersion: v1\nkind: Secret\nmetadata: {name: old, namespace: default}\n",
				"role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: demo-role}\nrules: []\n",
			}), map[string]any{"colour": "green", "gardener": map[string]any{"version": "mine", "extra": "kept"}}),
		},
		&gardencorev1beta1.ControllerRegistration{
			ObjectMeta: metav1.ObjectMeta{Name: "demo", Annotations: map[string]string{"security.gardener.cloud/pod-security-enforce": "baseline"}},
			Spec: gardencorev1beta1.ControllerRegistrationSpec{
				Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
					Policy: new(gardencorev1beta1.ControllerDeploymentPolicyAlways), DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "demo"}},
				},
				Resources: []gardencorev1beta1.ControllerResource{
					{Kind: "Infrastructure", Type: "local"},
					{Kind: "ControlPlane", Type: "local"},
					{Kind: "Worker", Type: "local"},
					{Kind: "Network", Type: "demo"},
					{Kind: "DNSRecord", Type: "local"},
				},
			},
		},
	)
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))
	n.manageResources()
	n.readySeed()

	installation := n.installation("demo")
	installation = n.conditions(installation, map[gardencorev1beta1.ConditionType]string{
		"Valid": "True RegistrationValid", "Installed": "True InstallationSuccessful", "Healthy": "True ControllerHealthy",
		"Progressing": "False ControllerRolledOut", "Required": "False NoExtensionObjects",
	})
	checkInstalled(n, installation)
	checkRequired(n, installation)
	checkPruned(n, installation)
	checkInvalid(n, installation)
	checkUninstalled(n, installation)
}

// installation waits for the one of a registration.
func (n *nursery) installation(registration string) *gardencorev1beta1.ControllerInstallation {
	n.t.Helper()
	var found *gardencorev1beta1.ControllerInstallation
	n.await("the garden wants the extension on the seed", func(ctx context.Context) error {
		list := &gardencorev1beta1.ControllerInstallationList{}
		if err := n.garden.Client.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			if list.Items[i].Spec.RegistrationRef.Name == registration {
				found = &list.Items[i]
				return nil
			}
		}
		return fmt.Errorf("%d installations, none of %q", len(list.Items), registration)
	})
	return found
}

func (n *nursery) conditions(installation *gardencorev1beta1.ControllerInstallation, want map[gardencorev1beta1.ConditionType]string) *gardencorev1beta1.ControllerInstallation {
	n.t.Helper()
	return harness.Await(n.t, n.garden.Client, installation, fmt.Sprintf("conditions become %v", want), func(i *gardencorev1beta1.ControllerInstallation) error {
		for kind, text := range want {
			c, err := condition(i.Status.Conditions, kind)
			if err != nil {
				return err
			}
			if got := string(c.Status) + " " + c.Reason; got != text {
				return fmt.Errorf("%s is %q: %s", kind, got, c.Message)
			}
		}
		return nil
	})
}

func checkInstalled(n *nursery, installation *gardencorev1beta1.ControllerInstallation) {
	n.t.Helper()
	home := "extension-" + installation.Name
	told := &corev1.ConfigMap{}
	if err := n.seed.Client.Get(n.t.Context(), client.ObjectKey{Namespace: home, Name: "told"}, told); err != nil {
		n.t.Fatalf("GLET-CI-3: objects without a namespace go to that of the extension: %v", err)
	}
	want := map[string]string{
		"colour": "green", "size": "small", "version": "v1.149.0", "garden": n.garden.ClusterIdentity, "seed": "one",
		"identity": n.seed.ClusterIdentity, "region": "north", "climate": "mild", "protected": "false", "visible": "true",
	}
	if diff := cmp.Diff(want, told.Data); diff != "" {
		n.t.Errorf("GLET-CI-2: values of the deployment win over the chart's, and what the gardenlet knows wins over both (-want +got):\n%s", diff)
	}
	namespace := &corev1.Namespace{}
	if err := n.seed.Client.Get(n.t.Context(), client.ObjectKey{Name: home}, namespace); err != nil {
		n.t.Fatal(err)
	}
	for key, value := range map[string]string{
		"gardener.cloud/role": "extension", "controllerregistration.core.gardener.cloud/name": "demo",
		"pod-security.kubernetes.io/enforce": "baseline", "high-availability-config.resources.gardener.cloud/consider": "true",
	} {
		if namespace.Labels[key] != value {
			n.t.Errorf("GLET-CI-3: label %s of the namespace is %q, want %q", key, namespace.Labels[key], value)
		}
	}
	if zones := namespace.Annotations["high-availability-config.resources.gardener.cloud/zones"]; zones != "a,b" {
		n.t.Errorf("GLET-CI-3: the zones of the seed are told, got %q", zones)
	}
}

func checkRequired(n *nursery, installation *gardencorev1beta1.ControllerInstallation) {
	n.t.Helper()
	object := &gardenextensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "net"}}
	object.Spec.Type = "demo"
	object.Spec.PodCIDR, object.Spec.ServiceCIDR = "10.11.0.0/16", "10.12.0.0/16"
	n.seed.create(object)
	n.conditions(installation, map[gardencorev1beta1.ConditionType]string{"Required": "True ExtensionObjectsExist"})
	object.Annotations = map[string]string{"confirmation.gardener.cloud/deletion": "true"}
	if err := n.seed.Client.Update(n.t.Context(), object); err != nil {
		n.t.Fatal(err)
	}
	n.seed.delete(object)
	n.conditions(installation, map[gardencorev1beta1.ConditionType]string{"Required": "False NoExtensionObjects"})
}

func checkPruned(n *nursery, installation *gardencorev1beta1.ControllerInstallation) {
	n.t.Helper()
	deployment := &gardencorev1beta1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	n.garden.change(deployment, func() {
		deployment.ProviderConfig = helm(n.t, extensionChart(n.t, map[string]string{"told.yaml": toldTemplate}), map[string]any{"colour": "red"})
	})
	told := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "extension-" + installation.Name, Name: "told"}}
	harness.Await(n.t, n.seed.Client, told, "a new chart is rolled out", func(c *corev1.ConfigMap) error {
		return has(c.Data["colour"] == "red", "data %v", c.Data)
	})
	n.seed.gone(secretIn("default", "old"), "GLET-CI-5: what has left the chart leaves the seed")

	uid := told.UID
	n.seed.delete(told)
	n.await("GLET-CI-5: what somebody deletes comes back", func(ctx context.Context) error {
		err := n.seed.Client.Get(ctx, client.ObjectKeyFromObject(told), told)
		return has(err == nil && told.UID != uid, "error %v, uid %s", err, told.UID)
	})
}

// manageResources runs the resource manager of the seed until the test ends, as its Deployment does in a seed with nodes.
func (n *nursery) manageResources() {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(n.t.Context()))
	done := make(chan error, 1)
	options := resourcemanager.Options{Seed: n.seed.Config, SyncPeriod: 2 * time.Second, Log: testr.New(n.t)}
	go func() { done <- resourcemanager.Run(ctx, options) }()
	n.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			n.t.Errorf("resource manager: %v", err)
		}
	})
}

func checkInvalid(n *nursery, installation *gardencorev1beta1.ControllerInstallation) {
	n.t.Helper()
	deployment := &gardencorev1beta1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	for reason, config := range map[string]runtime.RawExtension{
		"False ChartInformationInvalid": helm(n.t, []byte("no chart"), nil),
		"False OCIChartCannotBePulled":  {Raw: []byte(`{"ociRepository":{"ref":"localhost:1/demo:v1"}}`)},
		"False ChartCannotBeRendered":   helm(n.t, extensionChart(n.t, map[string]string{"bad.yaml": `{{ required "give a shape" .Values.shape }}`}), nil),
	} {
		n.garden.change(deployment, func() { deployment.ProviderConfig = config })
		n.conditions(installation, map[gardencorev1beta1.ConditionType]string{"Valid": reason})
	}
	n.garden.change(deployment, func() {
		deployment.ProviderConfig = helm(n.t, extensionChart(n.t, map[string]string{"told.yaml": toldTemplate}), nil)
	})
	n.conditions(installation, map[gardencorev1beta1.ConditionType]string{"Valid": "True RegistrationValid", "Installed": "True InstallationSuccessful", "Healthy": "True ControllerHealthy"})
}

func checkUninstalled(n *nursery, installation *gardencorev1beta1.ControllerInstallation) {
	n.t.Helper()
	n.garden.delete(installation)
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extension-" + installation.Name}}
	harness.Within(n.t, time.Minute, "GLET-CI-10: the installation ends when its objects are gone", func(ctx context.Context) error {
		err := n.garden.Client.Get(ctx, client.ObjectKeyFromObject(installation), installation)
		if err := n.seed.Client.Get(ctx, client.ObjectKeyFromObject(home), home); client.IgnoreNotFound(err) != nil {
			return err
		}
		return has(client.IgnoreNotFound(err) == nil && err != nil, "error %v, conditions %+v, namespace %+v", err, installation.Status.Conditions, home.Status)
	})
	n.seed.absent(home, "GLET-CI-10: the namespace is gone before the finalizer")
	n.seed.absent(secretIn("garden", "managedresource-"+installation.Name), "the manifests go at last")
}

// TestGardenletLeaves deletes a Seed: shoots keep it, then everything of it goes.
func TestGardenletLeaves(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))
	seed := n.readySeed()
	n.garden.delete(seed)
	harness.Within(t, time.Minute, "GLET-SEED-12: the Seed goes at last", func(ctx context.Context) error {
		err := n.garden.Client.Get(ctx, client.ObjectKeyFromObject(seed), seed)
		return has(client.IgnoreNotFound(err) == nil && err != nil, "error %v, finalizers %v, last operation %+v", err, seed.Finalizers, seed.Status.LastOperation)
	})
	checkNoDefinitions(n)
}
