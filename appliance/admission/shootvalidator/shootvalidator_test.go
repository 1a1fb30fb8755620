// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootmutator"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootvalidator"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func checkRefused(t *testing.T, reason string, err error, words ...string) {
	t.Helper()
	if diff := cmp.Diff(metav1.StatusReasonForbidden, apierrors.ReasonForError(err)); diff != "" {
		t.Errorf("%s: got %v\nreason (-want +got):\n%s", reason, err, diff)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: the message lacks %q: %v", reason, w, err)
		}
	}
}

func create(change ...func(*shoot)) admissiontest.Request {
	return admissiontest.Request{Object: admissiontest.Shoot(change...)}
}

func TestMembership(t *testing.T) {
	t.Parallel()
	named := func(name string) func(*shoot) { return func(s *shoot) { s.Name = name } }
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-2":            {Reason: "a shoot lives in a project", Objects: garden(), Request: create()},
		"API-SVAL-2 no project": {Reason: "not outside of one", Objects: []kind.Object{admissiontest.Profile()}, Request: create(), Refused: []string{`namespace "garden-meadow" does not belong to a project`}},
		"API-NAME-3":            {Reason: "21 characters fit", Objects: garden(), Request: create(named("fifteen-letters"))},
		"API-NAME-3 long":       {Reason: "22 do not", Objects: garden(), Request: create(named("sixteen-letters1")), Refused: []string{`project "meadow"`, "too long together", "at most 21 characters (16 with generateName)"}},
		"API-RRM-3 profile":     {Reason: "the profile exists", Objects: []kind.Object{admissiontest.Project()}, Request: create(), Refused: []string{`spec.cloudProfile: CloudProfile "local" does not exist; create it first or name another`}},
		"API-RRM-3 kind":        {Reason: "also when it is one of the project", Objects: garden(), Request: create(func(s *shoot) { s.Spec.CloudProfile.Kind = "NamespacedCloudProfile" }), Refused: []string{`NamespacedCloudProfile "garden-meadow/local" does not exist`}},
	})
}

func TestState(t *testing.T) {
	t.Parallel()
	purposed := func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	op := func(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*shoot) {
		return func(s *shoot) {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
		}
	}
	asleep := func(s *shoot) { s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)} }
	constrained := func(status gardencorev1beta1.ConditionStatus) func(*shoot) {
		return func(s *shoot) {
			s.Status.Constraints = []gardencorev1beta1.Condition{{Type: "HibernationPossible", Status: status, Message: "a webhook is in the way"}}
		}
	}
	asked := func(s *shoot) { s.Spec.SeedName, s.Status.SeedName = new("b"), new("a") }
	seeds := garden(admissiontest.Seed("a", backed), admissiontest.Seed("b", backed))
	change := func(subresource string, before func(*shoot), after ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{
			Object: admissiontest.Shoot(append([]func(*shoot){networked, before}, after...)...), Old: admissiontest.Shoot(networked, before), Subresource: subresource,
		}
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-6 migrating":    {Reason: "what moves does not change", Objects: seeds, Request: change("", op("Migrate", "Processing"), purposed), Refused: []string{"cannot change now", "is being moved"}},
		"API-SVAL-6 asked":        {Reason: "not even before it begins", Objects: seeds, Request: change("", asked, purposed), Refused: []string{"about to be moved"}},
		"API-SVAL-6 restored":     {Reason: "once moved it does", Objects: seeds, Request: change("", op("Restore", "Succeeded"), purposed)},
		"API-SVAL-6 metadata":     {Reason: "metadata may always change", Objects: seeds, Request: change("", op("Migrate", "Processing"), func(s *shoot) { s.Labels = map[string]string{"a": "b"} })},
		"API-SVAL-6 called off":   {Reason: "a move that has not begun is called off", Objects: seeds, Request: change("binding", asked, on("a"))},
		"API-SVAL-6 too late":     {Reason: "one that has begun is not", Objects: seeds, Request: change("binding", func(s *shoot) { asked(s); op("Migrate", "Processing")(s) }, on("a")), Refused: []string{"is being moved"}},
		"API-SVAL-6 delete":       {Reason: "what moves is not deleted", Request: admissiontest.Request{Old: admissiontest.Shoot(op("Restore", "Error"))}, Refused: []string{`shoot "sprout" cannot be deleted now`, "is being moved"}},
		"API-SVAL-6 delete still": {Reason: "what stays is", Request: admissiontest.Request{Old: admissiontest.Shoot(op("Reconcile", "Error"))}},
		"API-SVAL-9":              {Reason: "who could not wake up does not sleep", Objects: seeds, Request: change("", constrained("False"), asleep), Refused: []string{"spec.hibernation.enabled", "a webhook is in the way"}},
		"API-SVAL-9 unknown":      {Reason: "nor who might not", Objects: seeds, Request: change("", constrained("Unknown"), asleep), Refused: []string{"a webhook is in the way"}},
		"API-SVAL-9 possible":     {Reason: "others may", Objects: seeds, Request: change("", constrained("True"), asleep)},
		"API-SVAL-9 no word":      {Reason: "also when nothing is known", Objects: seeds, Request: change("", func(*shoot) {}, asleep)},
		"API-SVAL-9 asleep":       {Reason: "who sleeps may go on", Objects: seeds, Request: change("", func(s *shoot) { asleep(s); constrained("False")(s) }, purposed)},
	})
}

func TestLeavingSeed(t *testing.T) {
	t.Parallel()
	annotated := func(key string) func(*shoot) {
		return func(s *shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, key, "true") }
	}
	purposed := func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	ask := func(change func(*shoot), groups ...string) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(networked, on("a"), change), Old: admissiontest.Shoot(networked, on("a")), Groups: groups}
	}
	for name, tc := range map[string]struct {
		reason  string
		request admissiontest.Request
		refused bool
	}{
		"API-SVAL-8 spec":       {"nothing changes any more", ask(purposed), true},
		"API-SVAL-8 annotation": {"not even annotations", ask(annotated("a")), true},
		"API-SVAL-8 confirm":    {"but the deletion can be confirmed", ask(annotated("confirmation.gardener.cloud/deletion")), false},
		"API-SVAL-8 labels":     {"and labelled", ask(func(s *shoot) { s.Labels = map[string]string{"a": "b"} }), false},
		"API-SVAL-8 gardenlet":  {"gardenlets go on", ask(annotated("a"), "gardener.cloud:system:seeds"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, garden(admissiontest.Seed("a", func(s *seed) { s.Finalizers = []string{"gardener"} }))...)
			rule := completed(g.World)
			if err := g.Ask(rule, tc.request); err != nil {
				t.Fatalf("as long as the seed lives all may change: %v", err)
			}
			g.Delete("seeds", "a")
			err := g.Ask(rule, tc.request)
			if !tc.refused && err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if tc.refused {
				checkRefused(t, tc.reason, err, `seed "a" is being deleted`)
			}
		})
	}
}

func TestLeftSeed(t *testing.T) {
	t.Parallel()
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-8 gone": {
			Reason: "a seed that is gone holds nobody back", Objects: garden(),
			Request: admissiontest.Request{
				Object: admissiontest.Shoot(networked, on("a"), func(s *shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, "a", "b") }),
				Old:    admissiontest.Shoot(networked, on("a")),
			},
		},
	})
}

func TestRefusedByDeletion(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Profile(), admissiontest.Project(func(p *project) { p.Finalizers = []string{"gardener"} }),
		admissiontest.Seed("a", func(s *seed) { s.Finalizers = []string{"gardener"} }))
	g.Delete("projects", "meadow")
	g.Delete("seeds", "a")
	rule := completed(g.World)
	checkRefused(t, "API-SVAL-2: a project that goes takes no shoots", g.Ask(rule, create()), `project "meadow" is being deleted`)
	bind := admissiontest.Request{Object: admissiontest.Shoot(networked, on("a")), Old: admissiontest.Shoot(networked), Subresource: "binding"}
	checkRefused(t, "API-SVAL-3: a seed that goes takes none either", g.Ask(rule, bind), `seed "a" is being deleted`)
}

// TestDomainsAtOnce asks for domains before anything was written.
func TestDomainsAtOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, garden()...)
	rule := completed(g.World)
	ask := func(name, domain string) error {
		return g.Ask(rule, create(func(s *shoot) { s.Name, s.Spec.DNS = name, &gardencorev1beta1.DNS{Domain: &domain} }))
	}
	if err := ask("one", "a.example.com"); err != nil {
		t.Fatalf("the first one gets it: %v", err)
	}
	checkRefused(t, "API-SVAL-18: of two requests at once one is refused", ask("two", "a.example.com"), "has just requested")
	checkRefused(t, "API-SVAL-18: also below", ask("two", "b.a.example.com"), "has just requested")
	if err := ask("two", "b.example.com"); err != nil {
		t.Errorf("API-SVAL-18: beside is fine, got %v", err)
	}
}

func TestDomain(t *testing.T) {
	t.Parallel()
	domain := func(name string) func(*shoot) {
		return func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: &name} }
	}
	other := append(garden(), admissiontest.Shoot(domain("a.example.com"), func(s *shoot) { s.Name = "other" }))
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-18 same":   {Reason: "a domain has one shoot", Objects: other, Request: create(domain("a.example.com")), Refused: []string{"spec.dns.domain", `"a.example.com" is used`}},
		"API-SVAL-18 below":  {Reason: "nobody lives below another", Objects: other, Request: create(domain("b.a.example.com")), Refused: []string{"above or below"}},
		"API-SVAL-18 above":  {Reason: "nor above", Objects: other, Request: create(domain("example.com")), Refused: []string{"above or below"}},
		"API-SVAL-18 beside": {Reason: "beside is fine", Objects: other, Request: create(domain("ba.example.com"))},
		"API-SVAL-18 kept":   {Reason: "what stays is not looked at", Objects: other, Request: admissiontest.Request{Object: admissiontest.Shoot(domain("a.example.com"), surviving), Old: admissiontest.Shoot(domain("a.example.com"))}},
		"API-SVAL-18 own":    {Reason: "nobody is in its own way", Objects: append(garden(), admissiontest.Shoot(domain("a.example.com"))), Request: admissiontest.Request{Object: admissiontest.Shoot(domain("a.example.com")), Old: admissiontest.Shoot()}},
	})
}

func TestRaw(t *testing.T) {
	t.Parallel()
	internal := &runtime.RawExtension{Raw: []byte(`{"apiVersion":"local.provider.extensions.gardener.cloud/__internal","kind":"X"}`)}
	good := &runtime.RawExtension{Raw: []byte(`{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"X"}`)}
	all := func(raw *runtime.RawExtension) func(*shoot) {
		return func(s *shoot) {
			s.Spec.Provider.InfrastructureConfig, s.Spec.Provider.ControlPlaneConfig, s.Spec.Networking.ProviderConfig = raw, raw, raw
			s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "x", ProviderConfig: raw}}
			w := &s.Spec.Provider.Workers[0]
			w.ProviderConfig, w.Machine.Image.ProviderConfig = raw, raw
		}
	}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-11 served": {Reason: "what an extension serves passes", Objects: garden(), Request: create(all(good))},
		"API-SVAL-11": {
			Reason: "the internal version is nobody's", Objects: garden(), Request: create(all(internal)),
			Refused: []string{
				"spec.provider.infrastructureConfig.apiVersion", "spec.provider.controlPlaneConfig.apiVersion", "spec.networking.providerConfig.apiVersion",
				"spec.extensions[0].providerConfig.apiVersion", "spec.provider.workers[0].providerConfig.apiVersion", "spec.provider.workers[0].machine.image.providerConfig.apiVersion",
			},
		},
	})
}

// pair judges what another rule has completed before, as both do in the chain.
type pair struct {
	admission.ValidationInterface

	before admission.MutationInterface
}

func (p pair) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.before.Handles(a.GetOperation()) {
		return nil
	}
	return p.before.Admit(ctx, a, o)
}

// completed makes the rule, with the one before it.
func completed(w *world.World) admission.Interface {
	return pair{
		ValidationInterface: shootvalidator.New(w).(admission.ValidationInterface),
		before:              shootmutator.New(w).(admission.MutationInterface),
	}
}

// TestTechnicalID gives shoots technical IDs of others.
func TestTechnicalID(t *testing.T) {
	t.Parallel()
	project := []kind.Object{admissiontest.Project()}
	id := func(id string) *gardencorev1beta1.Shoot {
		return admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = id })
	}
	ask := func(now, before string) admissiontest.Request {
		return admissiontest.Request{Object: id(now), Old: id(before), Subresource: "status"}
	}
	admissiontest.Run(t, shootvalidator.New, map[string]admissiontest.Case{
		"API-VALSHOOT-2 own":     {Reason: "the gardenlet sets it", Objects: project, Request: ask("shoot--meadow--sprout", "")},
		"API-VALSHOOT-2 none":    {Reason: "or not yet", Objects: project, Request: ask("", "")},
		"API-VALSHOOT-2 kept":    {Reason: "what is set stays, also that of an older version", Objects: project, Request: ask("shoot-meadow-sprout", "shoot-meadow-sprout")},
		"API-VALSHOOT-2 project": {Reason: "a shoot is in no other project", Objects: project, Request: ask("shoot--victim--sprout", ""), Refused: []string{"status.technicalID", `"shoot--meadow--sprout"`}},
		"API-VALSHOOT-2 name":    {Reason: "and has no other name", Objects: project, Request: ask("shoot--meadow--prod", ""), Refused: []string{"status.technicalID"}},
		"API-VALSHOOT-2 system":  {Reason: "it is in no namespace of the seed", Objects: project, Request: ask("kube-system", ""), Refused: []string{"status.technicalID"}},
	})
}
