// SPDX-License-Identifier: Apache-2.0

package extensionwebhook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/extension/webhook"
	"github.com/terrarium-garden/terrarium/tests/badge"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	inSeed  = "gardener-extension-provider-badge"
	inShoot = "gardener-extension-provider-badge-shoot"
)

// TestWebhooks runs an extension that changes what the gardenlet writes and what is in the shoot, through the life of its authority and
// without it.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	keeper, stop := s.extension()
	s.eventually("EXT-WH-1: the API server of the seed asks the extension", func(ctx context.Context) error {
		probe := s.rendered(ours)[0].(*appsv1.Deployment)
		if err := s.gardenlet.Client.Create(ctx, probe, client.DryRunAll); err != nil {
			return err
		}
		return worn(probe)
	})
	s.checkSelection()
	s.checkPeace()
	s.checkConfigurations()
	s.checkRefusal()
	s.checkFence()
	s.checkShoot(keeper)
	s.checkRenewal(keeper)
	stop()
	s.checkSilence()
	s.checkReturn()
}

func worn(d *appsv1.Deployment) error {
	args := d.Spec.Template.Spec.Containers[0].Args
	count := 0
	for _, arg := range args {
		if arg == badge.Flag {
			count++
		}
	}
	if d.Annotations[badge.Worn] != "true" || count != 1 {
		return fmt.Errorf("annotations %v, the flag is there %d times", d.Annotations, count)
	}
	return nil
}

// checkSelection writes objects that the webhook is for, and others.
func (s *stage) checkSelection() {
	s.t.Helper()
	s.apply(s.rendered(ours)...)
	s.apply(s.rendered(others)...)
	if err := worn(s.apiServer(ours)); err != nil {
		s.t.Errorf("EXT-WH-1: the API server of a shoot of the provider: %v", err)
	}
	if worn(s.apiServer(others)) == nil || s.apiServer(others).Annotations[badge.Worn] != "" {
		s.t.Error("EXT-WH-1: the extension has changed a shoot of another provider")
	}
	plain, _ := s.rendered(unmarked)[0].(*appsv1.Deployment)
	delete(plain.Labels, "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook")
	if err := s.gardenlet.Client.Create(s.t.Context(), plain, client.DryRunAll); err != nil {
		s.t.Fatal(err)
	}
	if plain.Annotations[badge.Worn] != "" {
		s.t.Error("EXT-WH-3: an object without the label was changed")
	}
}

// checkPeace writes the same objects again, as a gardenlet does in each operation, and other ones, as it does when the shoot changes.
func (s *stage) checkPeace() {
	s.t.Helper()
	before := s.apiServer(ours)
	for range 3 {
		s.apply(s.rendered(ours)...)
	}
	after := s.apiServer(ours)
	if before.ResourceVersion != after.ResourceVersion || before.Generation != after.Generation {
		s.t.Errorf("the gardenlet and the webhook fight: version %s became %s, generation %d became %d", before.ResourceVersion, after.ResourceVersion, before.Generation, after.Generation)
	}
	changed := s.rendered(ours)
	d, _ := changed[0].(*appsv1.Deployment)
	d.Spec.Template.Spec.Containers[0].Args = append(d.Spec.Template.Spec.Containers[0].Args, "--v=3")
	s.apply(changed...)
	after = s.apiServer(ours)
	if err := worn(after); err != nil || !slices.Contains(after.Spec.Template.Spec.Containers[0].Args, "--v=3") || after.Generation != before.Generation+1 {
		s.t.Errorf("what both want is there after one change: generation %d became %d, error %v", before.Generation, after.Generation, err)
	}
	s.apply(s.rendered(ours)...)
	if after = s.apiServer(ours); slices.Contains(after.Spec.Template.Spec.Containers[0].Args, "--v=3") {
		s.t.Error("a flag that the gardenlet gives up stays")
	}

	s.checkMachines("pool", gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision)
	s.checkMachines("pool-original", gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile)
}

// checkMachines asks for the configuration of machines over and over again: of those that start, or of those that run.
func (s *stage) checkMachines(name string, purpose gardenextensionsv1alpha1.OperatingSystemConfigPurpose) {
	s.t.Helper()
	asks := extension.Engine{Client: s.seed.Client, Clock: clock.RealClock{}}
	var generation int64
	for round := range 3 {
		osc := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ours, Name: name}}
		err := asks.Apply(s.t.Context(), osc, extension.Always, func() error {
			osc.Spec = gardenextensionsv1alpha1.OperatingSystemConfigSpec{Purpose: purpose}
			osc.Spec.Type = "os"
			component.Mutable(osc)
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if generation == 0 {
			generation = osc.Generation
		}
		if len(osc.Spec.Files) != 1 || osc.Spec.Files[0].Path != badge.File || osc.Generation != generation {
			s.t.Errorf("EXT-WH-1: round %d: the configuration of machines to %s has files %v, generation %d, want %d", round, purpose, osc.Spec.Files, osc.Generation, generation)
		}
	}
}

// checkConfigurations is about what is fixed of the registration.
func (s *stage) checkConfigurations() {
	s.t.Helper()
	c := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := s.seed.Client.Get(s.t.Context(), client.ObjectKey{Name: inSeed}, c); err != nil {
		s.t.Fatal(err)
	}
	hook := c.Webhooks[0]
	if hook.Name != "controlplane.badge.extensions.gardener.cloud" || *hook.FailurePolicy != "Fail" || *hook.TimeoutSeconds != 10 || *hook.MatchPolicy != "Exact" ||
		*hook.SideEffects != "None" || c.Labels["remediation.webhook.shoot.gardener.cloud/exclude"] != "true" || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].Name != home {
		s.t.Errorf("EXT-WH-5: the configuration is %+v", c)
	}
	want := metav1.LabelSelector{MatchLabels: map[string]string{"shoot.gardener.cloud/provider": "badge"}}
	if diff := cmp.Diff(&want, hook.NamespaceSelector); diff != "" {
		s.t.Errorf("EXT-WH-1: selector of namespaces (-want +got):\n%s", diff)
	}
}

func (s *stage) checkRefusal() {
	s.t.Helper()
	before := s.apiServer(ours)
	wrong := s.rendered(ours)
	wrong[0].SetAnnotations(map[string]string{badge.Refuse: "too loud"})
	err := s.gardenlet.Apply(s.t.Context(), wrong...)
	if err == nil || !strings.Contains(err.Error(), `the webhook of extension "badge" refuses it`) || !strings.Contains(err.Error(), "no badge for it: too loud") {
		s.t.Errorf("EXT-WH-7: a refusal is told as %v", err)
	}
	if after := s.apiServer(ours); after.ResourceVersion != before.ResourceVersion {
		s.t.Error("EXT-WH-7: what was refused is stored")
	}
}

// checkFence has the extension register what it must not.
func (s *stage) checkFence() {
	s.t.Helper()
	hostile, err := client.New(s.asExtension(), client.Options{Scheme: s.seed.Scheme})
	if err != nil {
		s.t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*admissionregistrationv1.MutatingWebhook)
		want   string
	}{
		"own": {reason: "shoots of its own provider", change: func(*admissionregistrationv1.MutatingWebhook) {}},
		"all": {reason: "everything in the seed", change: func(w *admissionregistrationv1.MutatingWebhook) { w.NamespaceSelector = nil }, want: "needs a namespaceSelector"},
		"another": {reason: "shoots of another provider", change: func(w *admissionregistrationv1.MutatingWebhook) {
			w.NamespaceSelector.MatchLabels["shoot.gardener.cloud/provider"] = "other"
		}, want: "needs a namespaceSelector"},
		"garden": {reason: "the gardenlet's own namespace", change: func(w *admissionregistrationv1.MutatingWebhook) {
			w.NamespaceSelector.MatchLabels = map[string]string{"kubernetes.io/metadata.name": "garden"}
		}, want: "needs a namespaceSelector"},
		"not in": {reason: "all others", change: func(w *admissionregistrationv1.MutatingWebhook) {
			w.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "shoot.gardener.cloud/provider", Operator: metav1.LabelSelectorOpNotIn, Values: []string{badge.Type}}}}
		}, want: "needs a namespaceSelector"},
		"in": {reason: "the other way to write it", change: func(w *admissionregistrationv1.MutatingWebhook) {
			w.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "shoot.gardener.cloud/provider", Operator: metav1.LabelSelectorOpIn, Values: []string{badge.Type}}}}
		}},
		"roles": {reason: "what is in no namespace is asked about whatever the selector says", change: func(w *admissionregistrationv1.MutatingWebhook) {
			w.Rules[0].APIGroups, w.Rules[0].Resources, w.Rules[0].Scope = []string{"rbac.authorization.k8s.io"}, []string{"clusterroles"}, nil
		}, want: "need the scope Namespaced"},
		"wildcard": {reason: "so is everything", change: func(w *admissionregistrationv1.MutatingWebhook) {
			w.Rules[0].APIGroups, w.Rules[0].Resources, w.Rules[0].Scope = []string{"*"}, []string{"*/*"}, nil
		}, want: "need the scope Namespaced"},
	} {
		c := &admissionregistrationv1.MutatingWebhookConfiguration{}
		if err := s.seed.Client.Get(s.t.Context(), client.ObjectKey{Name: inSeed}, c); err != nil {
			s.t.Fatal(err)
		}
		tc.change(&c.Webhooks[0])
		made := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "hostile"}, Webhooks: c.Webhooks}
		s.eventually("the policy is known: "+name, func(ctx context.Context) error {
			err := hostile.Create(ctx, made.DeepCopy(), client.DryRunAll)
			if refused := err != nil && tc.want != "" && strings.Contains(err.Error(), tc.want); refused || err == nil && tc.want == "" {
				return nil
			}
			return fmt.Errorf("EXT-WH-1: %s: a webhook for it = %w, want %q", tc.reason, err, tc.want)
		})
	}
}

// checkShoot registers the webhooks in the shoot.
func (s *stage) checkShoot(keeper *webhook.Keeper) {
	s.t.Helper()
	if err := keeper.Register(s.t.Context(), ours); err != nil {
		s.t.Fatal(err)
	}
	hooks := harness.Await(s.t, s.shoot.Client, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: inShoot}},
		"EXT-WH-4: the shoot has the webhooks", func(*admissionregistrationv1.MutatingWebhookConfiguration) error { return nil })
	if hook := hooks.Webhooks[0]; *hook.FailurePolicy != "Ignore" || hook.Name != "system.badge.extensions.gardener.cloud" ||
		*hook.ClientConfig.URL != fmt.Sprintf("https://127.0.0.1:%d/system", s.address.ShootPort) || hooks.Labels["remediation.webhook.shoot.gardener.cloud/exclude"] != "true" {
		s.t.Errorf("EXT-WH-5: the webhook of the shoot is %+v", hook)
	}
	s.eventually("EXT-WH-4: the shoot asks the extension in the seed", func(ctx context.Context) error {
		labels, err := s.createdInShoot(ctx, metav1.NamespaceSystem)
		return errors.Join(err, is(labels[badge.Worn] == "true", "labels %v", labels))
	})
	if labels, err := s.createdInShoot(s.t.Context(), metav1.NamespaceDefault); err != nil || labels[badge.Worn] != "" {
		s.t.Errorf("EXT-WH-4: what the owner writes: labels %v, error %v", labels, err)
	}
	s.checkWay()
}

// createdInShoot are the labels of a ConfigMap that would be created in a namespace.
func (s *stage) createdInShoot(ctx context.Context, namespace string) (map[string]string, error) {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}
	err := s.shoot.Client.Create(ctx, m, client.DryRunAll)
	return m.Labels, err
}

func is(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// checkWay has network policies made between the API server of a shoot and the extension.
func (s *stage) checkWay() {
	s.t.Helper()
	service := webhook.Home{Namespace: home, Service: badge.Extension}.ServiceFor(map[string]string{"app": badge.Extension})
	s.apply(service, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ours, Name: "kube-apiserver", Labels: component.WithWays(nil, "kube-apiserver")},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	})
	key := client.ObjectKey{Namespace: ours, Name: "egress-to-" + home + "-provider-badge-tcp-10251-via-all-webhook-targets-from-" + ours}
	out := harness.Await(s.t, s.seed.Client, &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
		"EXT-WH-4: the API server of a shoot may reach the extension", func(*networkingv1.NetworkPolicy) error { return nil })
	want := map[string]string{"networking.resources.gardener.cloud/to-extensions-all-webhook-targets": "allowed"}
	if diff := cmp.Diff(want, out.Spec.PodSelector.MatchLabels); diff != "" || len(out.Spec.Egress) != 1 || out.Spec.Egress[0].Ports[0].Port.IntValue() != webhook.ShootPort {
		s.t.Errorf("EXT-WH-4: it may reach %+v; pods (-want +got):\n%s", out.Spec.Egress, diff)
	}
	in := &networkingv1.NetworkPolicyList{}
	if err := s.seed.Client.List(s.t.Context(), in, client.InNamespace(home)); err != nil {
		s.t.Fatal(err)
	}
	for _, policy := range in.Items {
		if strings.HasSuffix(policy.Name, "-from-"+ours) && policy.Spec.Ingress[0].Ports[0].Port.IntValue() != webhook.ShootPort {
			s.t.Errorf("EXT-WH-4: shoots reach the webhooks of the seed too: %s", policy.Name)
		}
	}
}

// checkRenewal steps through the life of the authority.
func (s *stage) checkRenewal(keeper *webhook.Keeper) {
	s.t.Helper()
	// The extension may have looked just before a step and begun to wait after it, so it is given one more period after a while.
	const missed = 5 * time.Second
	bundles := func(ctx context.Context) (seed, shoot []string, err error) {
		seed, err = trusted(ctx, s.seed.Client, inSeed)
		shoot, inErr := trusted(ctx, s.shoot.Client, inShoot)
		return seed, shoot, errors.Join(err, inErr)
	}
	await := func(what string, good func(seed, shoot []string) bool) []string {
		s.t.Helper()
		var seed, shoot []string
		began, late := time.Now(), false
		s.eventually(what, func(ctx context.Context) (err error) {
			seed, shoot, err = bundles(ctx)
			if !late && time.Since(began) > missed {
				late = true
				s.clock.Step(webhook.DefaultPeriod)
			}
			return errors.Join(err, is(good(seed, shoot), "the seed trusts %v, the shoot %v", seed, shoot))
		})
		s.asked(what)
		return seed
	}
	first := await("there is one authority", func(seed, shoot []string) bool { return len(seed) == 1 && slices.Equal(seed, shoot) })
	s.clock.Step(19 * day)
	if err := keeper.Keep(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	await("EXT-WH-6: it stays for 19 days", func(seed, shoot []string) bool { return slices.Equal(seed, first) && slices.Equal(shoot, first) })
	// From here on, the extension finds out by itself.
	s.clock.Step(day + webhook.DefaultPeriod)
	both := await("EXT-WH-6: in good time there is a second one, and both are trusted everywhere", func(seed, shoot []string) bool {
		return len(seed) == 2 && seed[1] == first[0] && slices.Equal(seed, shoot)
	})
	s.clock.Step(day - 2*webhook.DefaultPeriod)
	if err := keeper.Keep(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	await("EXT-WH-6: they overlap for a day", func(seed, _ []string) bool { return slices.Equal(seed, both) })
	s.clock.Step(3 * webhook.DefaultPeriod)
	await("EXT-WH-6: then the first is trusted no more", func(seed, shoot []string) bool {
		return slices.Equal(seed, both[:1]) && slices.Equal(shoot, both[:1])
	})
	secrets := &corev1.SecretList{}
	if err := s.seed.Client.List(s.t.Context(), secrets, client.InNamespace(home)); err != nil {
		s.t.Fatal(err)
	}
	kinds := map[string]int{}
	for i := range secrets.Items {
		kinds[secrets.Items[i].Labels["name"]]++
	}
	if diff := cmp.Diff(map[string]int{"ca-provider-badge-webhook": 1, "ca-provider-badge-webhook-bundle": 1, "provider-badge-webhook-server": 1}, kinds); diff != "" {
		s.t.Errorf("EXT-WH-6: what is left (-want +got):\n%s", diff)
	}
}

// asked waits until both API servers ask the extension, which they only do if they trust its certificate. The one of the seed refuses what
// it cannot ask about, at any time.
func (s *stage) asked(what string) {
	s.t.Helper()
	probe, _ := s.rendered(ours)[0].(*appsv1.Deployment)
	probe.Name = "kube-apiserver-probe"
	s.eventually(what+": the seed asks the extension", func(ctx context.Context) error {
		return s.seed.Client.Create(ctx, probe.DeepCopy(), client.DryRunAll)
	})
	s.eventually(what+": the shoot asks the extension", func(ctx context.Context) error {
		labels, err := s.createdInShoot(ctx, metav1.NamespaceSystem)
		return errors.Join(err, is(labels[badge.Worn] == "true", "labels %v", labels))
	})
}

// checkSilence is about an extension that does not answer.
func (s *stage) checkSilence() {
	s.t.Helper()
	before := s.apiServer(ours)
	err := s.gardenlet.Apply(s.t.Context(), s.rendered(ours)...)
	for _, want := range []string{`"` + ours + `/kube-apiserver"`, `webhook "controlplane.badge.extensions.gardener.cloud" of an extension does not answer`, `ControllerInstallation of extension "badge"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			s.t.Errorf("EXT-WH-5: a write while the extension is away = %v, want %s in it", err, want)
		}
	}
	if !apierrors.IsInternalError(err) {
		s.t.Errorf("EXT-WH-5: the answer of the server is lost: %v", err)
	}
	if after := s.apiServer(ours); after.ResourceVersion != before.ResourceVersion {
		s.t.Error("EXT-WH-5: it was written without the extension")
	}
	s.apply(s.rendered(others)...)
	if _, err := s.createdInShoot(s.t.Context(), metav1.NamespaceSystem); err != nil {
		s.t.Errorf("EXT-WH-5: a shoot goes on without the extension: %v", err)
	}
}

// checkReturn starts it again: it goes on with the authority that it had.
func (s *stage) checkReturn() {
	s.t.Helper()
	before, err := trusted(s.t.Context(), s.seed.Client, inSeed)
	if err != nil {
		s.t.Fatal(err)
	}
	keeper, _ := s.extension()
	s.asked("the extension has come back")
	s.apply(s.rendered(ours)...)
	if after, err := trusted(s.t.Context(), s.seed.Client, inSeed); err != nil || !slices.Equal(before, after) {
		s.t.Errorf("EXT-WH-6: after a restart the seed trusts %v, want %v, error %v", after, before, err)
	}
	s.eventually("EXT-WH-4: the webhooks are taken from the shoot", func(ctx context.Context) error {
		gone, err := keeper.Unregister(ctx, ours, false)
		return errors.Join(err, is(gone, "they are still there"))
	})
	if err := s.shoot.Client.Get(s.t.Context(), client.ObjectKey{Name: inShoot}, &admissionregistrationv1.MutatingWebhookConfiguration{}); !apierrors.IsNotFound(err) {
		s.t.Errorf("EXT-WH-4: the shoot still has them: %v", err)
	}
	if err := keeper.Keep(s.t.Context()); err != nil {
		s.t.Errorf("the keeper without shoots: %v", err)
	}
}
