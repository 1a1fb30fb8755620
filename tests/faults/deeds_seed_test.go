// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// deedsOfSeeds are about a second seed and what is installed on seeds.
func deedsOfSeeds() []deed {
	return []deed{
		{
			name: "GCM-SEED-1 the namespace of a seed", begin: createSecondSeed, rest: furnished("south", "provider-local"),
			kill: &corev1.NamespaceList{}, matches: called("seed-south", watch.Added),
		},
		{
			name: "GCM-SEEDREF-1 what a seed refers to", begin: createSeedWithPapers, rest: protectsFor("west-papers", "west", true),
			kill: &gardencorev1beta1.SeedList{}, matches: finalized("west", referenceProtection, true),
		},
		{
			name: "GCM-SEEDREF-1 a seed that refers to nothing", begin: patch(otherSeed("west"), `{"spec":{"resources":null}}`), rest: protectsFor("west-papers", "west", false),
			kill: &corev1.SecretList{}, matches: finalized("west-papers", referenceProtection, false),
		},
		{
			name: "GCM-CR-7 an extension for all seeds", begin: createEverywhere, rest: installed("metering", "north", "south", "west"),
			kill: &gardencorev1beta1.ControllerInstallationList{}, matches: installation("metering", watch.Added),
		},
		{
			name: "GCM-CR-9 an extension that nobody wants", begin: patch(everywhere(), `{"spec":{"deployment":{"policy":"OnDemand"}}}`), rest: installed("metering"),
			kill: &gardencorev1beta1.ControllerInstallationList{}, matches: installation("metering", watch.Deleted),
		},
		{
			name: "GCM-SEED-1 a seed ends", begin: remove(otherSeed("south")), rest: withoutSeed("south"),
			kill: &gardencorev1beta1.SeedList{}, matches: func(_ watch.EventType, o client.Object) bool {
				return o.GetName() == "south" && o.GetDeletionTimestamp() != nil
			},
		},
	}
}

func otherSeed(name string) *gardencorev1beta1.Seed {
	s := seed()
	s.Name, s.Spec.Ingress.Domain = name, "ingress."+name+".example.org"

	return s
}

func createSecondSeed(w *world) error { return create(otherSeed("south"))(w) }

func createSeedWithPapers(w *world) error {
	s := otherSeed("west")
	s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{
		Name: "papers", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "west-papers"},
	}}

	return create(&corev1.Secret{ObjectMeta: in("garden", "west-papers")}, s)(w)
}

func patch(object client.Object, text string) func(*world) error {
	return func(w *world) error {
		changed, _ := object.DeepCopyObject().(client.Object)

		return w.client().Patch(w.t.Context(), changed, client.RawPatch("application/merge-patch+json", []byte(text)))
	}
}

// everywhere is an extension that is installed on each seed.
func everywhere() *gardencorev1beta1.ControllerRegistration {
	r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: in("", "metering")}
	r.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Extension", Type: "metering"}}
	r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{
		Policy: new(gardencorev1beta1.ControllerDeploymentPolicyAlways), DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "provider-local"}},
	}

	return r
}

func createEverywhere(w *world) error { return create(everywhere())(w) }

func installation(registration string, event watch.EventType) func(watch.EventType, client.Object) bool {
	return func(seen watch.EventType, o client.Object) bool {
		i, ok := o.(*gardencorev1beta1.ControllerInstallation)

		return ok && seen == event && i.Spec.RegistrationRef.Name == registration
	}
}

// seedOf returns the name of the seed on which something is installed. It is empty for what is installed in a self-hosted shoot.
func seedOf(i *gardencorev1beta1.ControllerInstallation) string {
	if i.Spec.SeedRef == nil {
		return ""
	}
	return i.Spec.SeedRef.Name
}

// installed says that an extension is installed on these seeds, once on each.
func installed(registration string, seeds ...string) func(*world) error {
	return func(w *world) error {
		all := &gardencorev1beta1.ControllerInstallationList{}
		if err := w.client().List(w.t.Context(), all); err != nil {
			return err
		}
		var on []string
		for _, i := range all.Items {
			if i.Spec.RegistrationRef.Name == registration && i.Spec.SeedRef != nil {
				on = append(on, seedOf(&i))
			}
		}
		slices.Sort(on)
		if diff := cmp.Diff(seeds, on); diff != "" {
			return fmt.Errorf("seeds with extension %q (-want +got):\n%s", registration, diff)
		}

		return nil
	}
}

// furnished says that a seed has its namespace and its provider.
func furnished(name, registration string) func(*world) error {
	return func(w *world) error {
		if err := w.client().Get(w.t.Context(), client.ObjectKey{Name: "seed-" + name}, &corev1.Namespace{}); err != nil {
			return err
		}
		all := &gardencorev1beta1.ControllerInstallationList{}
		if err := w.client().List(w.t.Context(), all); err != nil {
			return err
		}
		for _, i := range all.Items {
			if i.Spec.RegistrationRef.Name == registration && seedOf(&i) == name {
				return nil
			}
		}

		return fmt.Errorf("provider %q is not installed on seed %q", registration, name)
	}
}

func protectsFor(secretName, seedName string, wanted bool) func(*world) error {
	return func(w *world) error {
		papers, s := &corev1.Secret{ObjectMeta: in("garden", secretName)}, otherSeed(seedName)
		for _, o := range []client.Object{papers, s} {
			if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			has := false
			for _, f := range o.GetFinalizers() {
				has = has || f == referenceProtection
			}
			if has != wanted {
				return fmt.Errorf("%T %q has finalizers %v", o, o.GetName(), o.GetFinalizers())
			}
		}

		return nil
	}
}

// withoutSeed says that a seed is gone with all that was its own.
func withoutSeed(name string) func(*world) error {
	return func(w *world) error {
		all := &gardencorev1beta1.ControllerInstallationList{}
		if err := w.client().List(w.t.Context(), all); err != nil {
			return err
		}
		for _, i := range all.Items {
			if seedOf(&i) == name {
				return fmt.Errorf("installation %q on seed %q is still there", i.Name, name)
			}
		}

		return errors.Join(gone(otherSeed(name))(w), gone(&corev1.Namespace{ObjectMeta: in("", "seed-"+name)})(w))
	}
}
