// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestExtensionOfASeed follows an extension that a seed has for itself: from the wish of an operator to the deletion of the seed.
// Everything is real but the pods: the garden, the gardenlet, the API of the seed, and the program of the extension.
func TestExtensionOfASeed(t *testing.T) {
	t.Parallel()
	program := buildGreeter(t)
	n := newNursery(t)
	n.garden.create(seedGreeting(t)...)
	n.garden.provider("local")
	for name, signature := range map[string]string{"pen": "Flora", "other": "nobody"} {
		n.garden.create(&corev1.Secret{ObjectMeta: named("garden", name), Data: map[string][]byte{"name": []byte(signature)}})
	}
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))
	n.manageResources()
	seed := n.readySeed()

	n.garden.change(seed, func() {
		seed.Spec.Extensions = []gardencorev1beta1.Extension{{
			Type: "greeting", ProviderConfig: greetingOf(`{"apiVersion":"greeting.example.org/v1","kind":"Greeting","text":"Hello","signature":"pen"}`),
		}}
		seed.Spec.Resources = []gardencorev1beta1.NamedResourceReference{secretRef("author", "pen")}
	})
	home := "extension-" + n.installation("greeting").Name
	object := &gardenextensionsv1alpha1.Extension{ObjectMeta: named("garden", "greeting")}
	object = harness.Await(t, n.seed.Client, object, "the extension is asked to act", func(x *gardenextensionsv1alpha1.Extension) error {
		return has(x.Annotations["gardener.cloud/operation"] == "reconcile", "annotations %v", x.Annotations)
	})
	if class := object.Spec.Class; class == nil || *class != gardenextensionsv1alpha1.ExtensionClassSeed {
		t.Errorf("EXT-CLASS-2: the class of the object is %v", class)
	}
	n.seed.hire(program, home).start()
	n.greets(seed, map[string]string{"text": "Hello", "volume": "normal", "signature": "Flora"})
	n.seed.absent(secretIn("garden", "ref-other"), "only what the Seed refers to is copied")
	n.checkReach(seed)

	n.garden.change(seed, func() {
		seed.Spec.Extensions[0].ProviderConfig = greetingOf(`{"apiVersion":"greeting.example.org/v1","kind":"Greeting","text":"Good evening"}`)
		seed.Spec.Resources = nil
	})
	n.greets(seed, map[string]string{"text": "Good evening", "volume": "normal"})
	n.seed.gone(secretIn("garden", "ref-pen"), "EXT-CONV-3: what the Seed does not refer to any more")
	n.checkComplaint(seed)

	n.garden.delete(seed)
	harness.Within(t, 2*time.Minute, "GLET-SEED-12: the Seed goes at last", func(ctx context.Context) error {
		err := n.garden.Client.Get(ctx, client.ObjectKeyFromObject(seed), seed)
		return has(client.IgnoreNotFound(err) == nil && err != nil, "error %v, finalizers %v, last operation %+v", err, seed.Finalizers, seed.Status.LastOperation)
	})
	n.seed.absent(&corev1.ConfigMap{ObjectMeta: named("garden", "extension-greeting")}, "GLET-SEED-12: the extension has cleaned up while it was installed")
	checkNoDefinitions(n)
}

// seedGreeting registers the extension for seeds, to be installed where it is needed.
func seedGreeting(t *testing.T) []client.Object {
	t.Helper()
	objects := greetingRegistration(t)
	for _, object := range objects {
		if r, ok := object.(*gardencorev1beta1.ControllerRegistration); ok {
			r.Spec.Deployment.Policy = new(gardencorev1beta1.ControllerDeploymentPolicyOnDemand)
			r.Spec.Resources[0].ClusterCompatibility = []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeSeed, gardencorev1beta1.ClusterTypeShoot}
		}
	}
	return objects
}

func greetingOf(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

func secretRef(name, secret string) gardencorev1beta1.NamedResourceReference {
	ref := gardencorev1beta1.NamedResourceReference{Name: name}
	ref.ResourceRef.APIVersion, ref.ResourceRef.Kind, ref.ResourceRef.Name = "v1", "Secret", secret
	return ref
}

// greets waits until the extension has greeted the seed so, and everybody is content.
func (n *nursery) greets(seed *gardencorev1beta1.Seed, want map[string]string) {
	n.t.Helper()
	greeting := &corev1.ConfigMap{ObjectMeta: named("garden", "extension-greeting")}
	harness.Await(n.t, n.seed.Client, greeting, "EXT-GEN-3: the extension greets the seed", func(c *corev1.ConfigMap) error {
		return has(cmp.Equal(want, c.Data), "data %v, want %v", c.Data, want)
	})
	*seed = *n.readySeed()
}

// checkReach acts with the credentials of the gardenlet: it reads what its Seed refers to, and cannot make it refer to more.
func (n *nursery) checkReach(seed *gardencorev1beta1.Seed) {
	n.t.Helper()
	stored := secretIn("garden", "gardenlet-kubeconfig")
	if err := n.seed.Client.Get(n.t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		n.t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(stored.Data["kubeconfig"])
	if err != nil {
		n.t.Fatal(err)
	}
	hostile, err := client.New(config, client.Options{Scheme: n.garden.Scheme})
	if err != nil {
		n.t.Fatal(err)
	}
	for name, may := range map[string]bool{"pen": true, "other": false} {
		err := hostile.Get(n.t.Context(), client.ObjectKey{Namespace: "garden", Name: name}, &corev1.Secret{})
		if may && err != nil || !may && !apierrors.IsForbidden(err) {
			n.t.Errorf("GAC-GR-3: the gardenlet reads Secret %q: %v, may %t", name, err, may)
		}
	}
	more := seed.DeepCopy()
	more.Spec.Resources = append(more.Spec.Resources, secretRef("more", "other"))
	err = hostile.Patch(n.t.Context(), more, client.MergeFrom(seed))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "which an operator has not given to seed") {
		n.t.Errorf("GAC-SR-11: a gardenlet refers to what is not for its seed: %v", err)
	}
}

// checkComplaint gives the extension a configuration that it cannot read: the Seed says so, with the code of the extension.
func (n *nursery) checkComplaint(seed *gardencorev1beta1.Seed) {
	n.t.Helper()
	n.garden.change(seed, func() {
		seed.Spec.Extensions[0].ProviderConfig = greetingOf(`{"apiVersion":"greeting.example.org/v1","kind":"Greeting","shout":true}`)
	})
	harness.Await(n.t, n.garden.Client, seed, "EXT-HEALTH-2: what the extension reports is a condition of the Seed", func(s *gardencorev1beta1.Seed) error {
		c, err := condition(s.Status.Conditions, gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy)
		if err != nil {
			return err
		}
		told := c.Status != gardencorev1beta1.ConditionTrue && cmp.Equal(c.Codes, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem})
		return has(told, "condition %+v", c)
	})
}
