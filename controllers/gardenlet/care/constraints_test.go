// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care/webhook"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// guard is a webhook that is called for all pods.
func guard(changes ...func(*admissionregistrationv1.ValidatingWebhookConfiguration)) admissionregistrationv1.ValidatingWebhookConfiguration {
	c := admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "pods.example.org", FailurePolicy: new(admissionregistrationv1.Fail), TimeoutSeconds: new(int32(10)),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func mended(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
	c.Annotations = map[string]string{"gardener.cloud/warning": "corrected"}
	c.Webhooks[0].FailurePolicy = new(admissionregistrationv1.Ignore)
}

func switchedOff(name string) gardenresourcesv1alpha1.ManagedResource {
	return gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shoot--dev--a", Name: name, Annotations: map[string]string{"resources.gardener.cloud/ignore": "true"},
	}}
}

func TestJudgeConstraints(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	webhooks := func(all ...admissionregistrationv1.ValidatingWebhookConfiguration) func(*care.World) {
		return func(w *care.World) { w.Inside.Webhooks = webhook.Configurations{Validating: all} }
	}
	for name, tc := range map[string]struct {
		reason string
		world  care.World
		// want is status, reason and codes of both required constraints, others are all others that are shown.
		want, others string
		message      string
	}{
		"GLET-CONSTR-1 none":       {reason: "nothing is in the way", world: healthy(), want: "True NoProblematicWebhooks"},
		"GLET-CONSTR-1 webhook":    {reason: "a webhook is", world: healthy(webhooks(guard())), want: "False ProblematicWebhooks ERR_PROBLEMATIC_WEBHOOK", message: `webhook "pods.example.org" of ValidatingWebhookConfiguration "guard"`},
		"GLET-CONSTR-2 remediated": {reason: "one was corrected", world: healthy(webhooks(guard(mended))), want: "False RemediatedWebhooks ERR_PROBLEMATIC_WEBHOOK", message: `ValidatingWebhookConfiguration "guard"`},
		"GLET-CONSTR-7 no access":  {reason: "nothing is known without an API server", world: healthy(func(w *care.World) { w.API = care.Answer{} }, webhooks(guard())), want: "False ConstraintNotChecked"},
		"GLET-CONSTR-7 ill":        {reason: "nor from one that is ill", world: healthy(func(w *care.World) { w.API.Status = 500 }), want: "False ConstraintNotChecked"},
		"GLET-CONSTR-7 error":      {reason: "a check that cannot be made says so", world: healthy(func(w *care.World) { w.Inside.Err = errors.New("boom") }), want: "Unknown ConditionCheckError", message: "boom"},
		"GLET-CONSTR-5 authority": {
			reason: "an authority that ends in less than a year", want: "True NoProblematicWebhooks",
			world: healthy(func(w *care.World) {
				w.Authorities = []care.Authority{{Name: "ca-etcd", End: now.Add(year)}, {Name: "ca", End: now.Add(year - time.Second)}}
			}),
			others: `CACertificateValiditiesAcceptable=False ExpiringCACertificates: Certificate authorities end within a year and have to be rotated: "ca" ends on 2027-03-01`,
		},
		"GLET-CONSTR-5 definitions": {
			reason: "what is stored can only be read by a webhook", want: "True NoProblematicWebhooks",
			world:  healthy(func(w *care.World) { w.Inside.Converted = []string{"pets.example.org", "birds.example.org"} }),
			others: "CRDsWithProblematicConversionWebhooks=False CRDsWithProblematicConversionWebhooks: Objects are stored in several versions, and only webhooks can convert them: birds.example.org, pets.example.org",
		},
		"GLET-CONSTR-6 ignored": {
			reason: "managed resources are switched off", want: "True NoProblematicWebhooks", world: healthy(func(w *care.World) { w.Managed = []gardenresourcesv1alpha1.ManagedResource{switchedOff("dns")} }),
			others: "HasIgnoredManagedResources=False ManagedResourcesIgnored: Managed resources are ignored and will not be kept up to date: dns",
		},
		"GLET-CONSTR-6 preserved": {
			reason: "failed machines are kept for analysis", want: "True NoProblematicWebhooks",
			world: healthy(func(w *care.World) {
				w.Machines.Deployments = make([]gardenmachinev1alpha1.MachineDeployment, 3)
				w.Machines.Deployments[0].Status.PreservedFailedReplicas, w.Machines.Deployments[2].Status.PreservedFailedReplicas = 1, 2
			}),
			others: "PreservedFailedMachinesAbsent=False FailedMachinesPreserved: 3 machines are kept for analysis after a failure. " +
				"The annotation node.machine.sapcloud.io/preserve=false of a node has its machine replaced",
		},
		"GLET-CONSTR-6 replaced": {
			reason: "none is", want: "True NoProblematicWebhooks",
			world: healthy(func(w *care.World) {
				w.Machines.Deployments = make([]gardenmachinev1alpha1.MachineDeployment, 1)
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var required, others []string
			for _, c := range care.JudgeConstraints(tc.world, now) {
				switch {
				case c.Type == "HibernationPossible" || c.Type == "MaintenancePreconditionsSatisfied":
					required = append(required, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Status, c.Reason, strings.Trim(fmt.Sprint(c.Codes), "[]"))))
					if !strings.Contains(c.Message, tc.message) {
						t.Errorf("%s\nthe message is %q, want %q in it", tc.reason, c.Message, tc.message)
					}
				case c.Status != "":
					others = append(others, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
				}
			}
			if diff := cmp.Diff([]string{tc.want, tc.want}, required); diff != "" {
				t.Errorf("%s\nHibernationPossible and MaintenancePreconditionsSatisfied (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.others, strings.Join(others, "\n")); diff != "" {
				t.Errorf("%s\nothers (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// inhabited is a ward whose shoot has objects of its users.
func inhabited(t *testing.T, s *gardencorev1beta1.Shoot, inSeed []client.Object, inside ...client.Object) (*ward, client.Client) {
	t.Helper()
	w := newWard(t, s, inSeed...)
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	n := node(corev1.ConditionTrue)
	c := fake.NewClientBuilder().WithScheme(types).WithObjects(append(inside, &n)...).Build()
	w.Shoots = &kit.Shoots{Seed: w.SeedClient, Connect: func([]byte) (*kit.Shoot, error) {
		return &kit.Shoot{Client: c, Healthz: func(context.Context) (int, error) { return w.status, w.err }}, nil
	}}
	return w, c
}

// constraints makes a check and returns the constraints as type=status reason, sorted.
func (w *ward) constraints(t *testing.T) []string {
	t.Helper()
	w.look(t)
	live := &gardencorev1beta1.Shoot{}
	if err := w.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, live); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range live.Status.Constraints {
		lines = append(lines, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(lines)
	return lines
}

func generated(name string, end time.Time, labels ...string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name + "-1", Labels: map[string]string{
		"managed-by": "secrets-manager", "name": name, "valid-until-time": strconv.FormatInt(end.Unix(), 10),
	}}}
	for _, label := range labels {
		s.Labels[label] = "x"
	}
	return s
}

// TestConstraintsOfAShoot looks at a shoot in which much is in the way, until all of it is put right.
func TestConstraintsOfAShoot(t *testing.T) {
	t.Parallel()
	hook := guard()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "pets.example.org"}}
	definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	definition.Status.StoredVersions = []string{"v1alpha1", "v1"}
	soon := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	resource := switchedOff("dns")
	ca := generated("ca", soon)
	w, inside := inhabited(t, shoot(), append(controlPlane(), ca, &resource, generated("kube-apiserver", soon), generated("ca-bundle", soon, "bundle-for")), &hook, definition)
	want := []string{
		"CACertificateValiditiesAcceptable=False ExpiringCACertificates",
		"CRDsWithProblematicConversionWebhooks=False CRDsWithProblematicConversionWebhooks",
		"HasIgnoredManagedResources=False ManagedResourcesIgnored",
		"HibernationPossible=False ProblematicWebhooks",
		"MaintenancePreconditionsSatisfied=False ProblematicWebhooks",
	}
	if diff := cmp.Diff(want, w.constraints(t)); diff != "" {
		t.Errorf("GLET-CONSTR-1, 5, 6: constraints (-want +got):\n%s", diff)
	}
	if err := inside.Get(t.Context(), client.ObjectKeyFromObject(&hook), &hook); err != nil || *hook.Webhooks[0].FailurePolicy != admissionregistrationv1.Fail {
		t.Errorf("GLET-WEBHOOK-1: a webhook was corrected although nobody asked for it: %v %v", hook, err)
	}
	definition.Status.StoredVersions = []string{"v1"}
	if err := errors.Join(
		inside.Delete(t.Context(), &hook), inside.Status().Update(t.Context(), definition), w.SeedClient.Delete(t.Context(), ca), w.SeedClient.Delete(t.Context(), &resource),
	); err != nil {
		t.Fatal(err)
	}
	want = []string{"HibernationPossible=True NoProblematicWebhooks", "MaintenancePreconditionsSatisfied=True NoProblematicWebhooks"}
	if diff := cmp.Diff(want, w.constraints(t)); diff != "" {
		t.Errorf("GLET-CONSTR-5: constraints once all is put right (-want +got):\n%s", diff)
	}
}

// definitions is an API server whose list of definitions does not end. All of them have several stored versions, or one.
type definitions struct {
	client.Reader

	several bool
	pages   int
}

func (d *definitions) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	page, _ := list.(*apiextensionsv1.CustomResourceDefinitionList)
	if d.pages++; d.pages > 5000 {
		return errors.New("the list is read without an end")
	}
	for i := range (&client.ListOptions{}).ApplyOptions(options).Limit {
		one := apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%d-%d.example.org", d.pages, i)}}
		one.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
		if one.Status.StoredVersions = []string{"v1"}; d.several {
			one.Status.StoredVersions = []string{"v1", "v2"}
		}
		page.Items = append(page.Items, one)
	}
	page.Continue = "more"
	return nil
}

// TestEndlessDefinitions has a program of the owner answer in the place of the API server.
func TestEndlessDefinitions_GLET_CONSTR_5(t *testing.T) {
	t.Parallel()
	if names, err := care.ConvertedIn(t.Context(), &definitions{several: true}); err != nil || len(names) != 50 {
		t.Errorf("ConvertedIn(...) = %d names, %v, want as many as are enough", len(names), err)
	}
	if _, err := care.ConvertedIn(t.Context(), &definitions{}); !errors.Is(err, kit.ErrEndless) {
		t.Errorf("ConvertedIn(...) = %v, want %v", err, kit.ErrEndless)
	}
}

// TestRestingConstraints sees what is said about a shoot that sleeps, and about one that is being made.
func TestRestingConstraints(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, want string
		change       func(*gardencorev1beta1.Shoot)
		silent       bool
	}{
		"GLET-CONSTR-7 asleep":  {"what sleeps can be woken up as it could be put to sleep", "True ConstraintNotChecked", func(s *gardencorev1beta1.Shoot) { s.Status.Hibernated = true }, true},
		"GLET-CONSTR-7 created": {"what is being made is not there yet", "Progressing ConstraintNotChecked", func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil }, true},
		"GLET-CONSTR-7 silent":  {"nobody knows what is inside", "False ConstraintNotChecked", func(*gardencorev1beta1.Shoot) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook := guard()
			w, _ := inhabited(t, shoot(tc.change), controlPlane(), &hook)
			if tc.silent {
				w.status, w.err = 0, errors.New("refused")
			}
			want := []string{"HibernationPossible=" + tc.want, "MaintenancePreconditionsSatisfied=" + tc.want}
			if diff := cmp.Diff(want, w.constraints(t)); diff != "" {
				t.Errorf("%s\nconstraints (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRemediation sees that webhooks are corrected if that is switched on, and that the shoot says so until their owner has mended them.
func TestRemediation(t *testing.T) {
	t.Parallel()
	hook := guard()
	other := guard(func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
		c.Name, c.Labels = "mine", map[string]string{"remediation.webhook.shoot.gardener.cloud/exclude": "true"}
	})
	w, inside := inhabited(t, shoot(), controlPlane(), &hook, &other)
	w.Config.WebhookRemediatorEnabled = new(true)
	w.look(t)
	for _, c := range []*admissionregistrationv1.ValidatingWebhookConfiguration{&hook, &other} {
		if err := inside.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			t.Fatal(err)
		}
	}
	if hook.Webhooks[0].NamespaceSelector == nil || hook.Annotations["gardener.cloud/warning"] == "" {
		t.Errorf("GLET-WEBHOOK-1, 2: the webhook was not corrected: %+v", hook)
	}
	if other.Webhooks[0].NamespaceSelector != nil || other.Annotations["gardener.cloud/warning"] != "" {
		t.Errorf("GLET-WEBHOOK-1: a webhook that its owner excludes was corrected: %+v", other)
	}
	if err := inside.Delete(t.Context(), &other); err != nil {
		t.Fatal(err)
	}
	want := []string{"HibernationPossible=False RemediatedWebhooks", "MaintenancePreconditionsSatisfied=False RemediatedWebhooks"}
	if diff := cmp.Diff(want, w.constraints(t)); diff != "" {
		t.Errorf("GLET-CONSTR-2: constraints (-want +got):\n%s", diff)
	}
}

// TestStalePods sees where stale pods are deleted.
func TestStalePods(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		want   []string
	}{
		"GLET-GC-1 usual": {"what users have made is theirs", func(*gardencorev1beta1.Shoot) {}, []string{"mine/evicted"}},
		"GLET-GC-1 in deletion": {"all has to go", func(s *gardencorev1beta1.Shoot) {
			s.DeletionTimestamp, s.Finalizers = new(metav1.Now()), []string{"gardener"}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			evicted := func(namespace string) *corev1.Pod {
				return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "evicted", UID: "u"}, Status: corev1.PodStatus{Reason: "Evicted"}}
			}
			w, inside := inhabited(t, shoot(tc.change), append(controlPlane(), evicted("shoot--dev--a"), evicted("shoot--dev--b")), evicted("kube-system"), evicted("mine"))
			if _, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-dev", Name: "a"}}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, pods(t, inside)); diff != "" {
				t.Errorf("%s\npods left in the shoot (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{"shoot--dev--b/evicted"}, pods(t, w.SeedClient)); diff != "" {
				t.Errorf("GLET-GC-1: pods left in the seed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStalePodsKeepNobodyAwake_GLET_GC_1: a run that puts a shoot to sleep waits until the pods of its control plane are gone. A ReplicaSet
// without replicas leaves those alone that were evicted before.
func TestStalePodsKeepNobodyAwake_GLET_GC_1(t *testing.T) {
	t.Parallel()
	wanted := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	}
	for name, tc := range map[string]struct {
		change func(*gardencorev1beta1.Shoot)
		want   []string
	}{
		"falls asleep": {wanted, nil},
		"wakes up":     {func(s *gardencorev1beta1.Shoot) { s.Status.Hibernated = true }, nil},
		"sleeps": {func(s *gardencorev1beta1.Shoot) {
			wanted(s)
			s.Status.Hibernated = true
		}, []string{"shoot--dev--a/evicted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			evicted := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "evicted", UID: "u"}, Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"},
			}
			w := newWard(t, shoot(tc.change), append(controlPlane(), evicted)...)
			if _, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-dev", Name: "a"}}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, pods(t, w.SeedClient)); diff != "" {
				t.Errorf("pods left in the seed (-want +got):\n%s", diff)
			}
		})
	}
}

func pods(t *testing.T, c client.Client) []string {
	t.Helper()
	list := &corev1.PodList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Namespace+"/"+list.Items[i].Name)
	}
	return names
}
