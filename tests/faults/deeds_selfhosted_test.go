// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
)

// deedsOfSelfHosted are about a shoot that runs its control plane on its own machines, and needs two extensions there.
func deedsOfSelfHosted() []deed {
	return []deed{
		{
			name: "GCM-CR-10 the finalizer of a self-hosted shoot", begin: createLone, rest: installedInLone("metering", "provider-local"),
			kill: &gardencorev1beta1.ShootList{}, matches: finalized("lone", gardencorev1beta1.FinalizerControllerRegistration, true),
		},
		{
			name:  "GCM-CSR-7 the token of a self-hosted shoot that was marked",
			begin: joinWithToken("hosted", jointoken.ForShoot(client.ObjectKeyFromObject(lone())), "gardener.cloud:system:shoot:garden:lone", "gardener.cloud:system:shoots"),
			rest:  approved("hosted"),
			kill:  &corev1.SecretList{}, matches: called("bootstrap-token-hosted", watch.Modified),
		},
		{
			name: "GCM-CR-10 a self-hosted shoot ends", begin: func(w *world) error { return w.confirm(lone()) }, rest: withoutLone,
			kill: &gardencorev1beta1.ControllerInstallationList{}, matches: func(event watch.EventType, o client.Object) bool {
				i, ok := o.(*gardencorev1beta1.ControllerInstallation)
				return ok && event == watch.Deleted && i.Spec.ShootRef != nil
			},
		},
	}
}

// lone is in the operators' project, as all self-hosted shoots are.
func lone() *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{ObjectMeta: in("garden", "lone"), Spec: shootSpec()}
}

func createLone(w *world) error {
	shoot := withMachines(lone())
	shoot.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	shoot.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "metering"}}
	return create(shoot)(w)
}

// inLone returns the names of the extensions that are installed in the self-hosted shoot.
func inLone(w *world) ([]string, error) {
	all := &gardencorev1beta1.ControllerInstallationList{}
	if err := w.client().List(w.t.Context(), all, client.MatchingFields{"spec.shootRef.namespace": "garden", "spec.shootRef.name": "lone"}); err != nil {
		return nil, err
	}
	var names []string
	for _, i := range all.Items {
		names = append(names, i.Spec.RegistrationRef.Name)
	}
	slices.Sort(names)
	return names, nil
}

// installedInLone says that these extensions are installed in the self-hosted shoot, once each.
func installedInLone(registrations ...string) func(*world) error {
	return func(w *world) error {
		got, err := inLone(w)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(registrations, got); diff != "" {
			return fmt.Errorf("extensions in the shoot (-want +got):\n%s", diff)
		}
		return nil
	}
}

// withoutLone says that the self-hosted shoot is gone with all that was installed there.
func withoutLone(w *world) error {
	if err := installedInLone()(w); err != nil {
		return err
	}
	return gone(lone())(w)
}
