// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// gardenletOf is the shoot controller of a seed: it is to the garden what a gardenlet is, and acts in a cluster in which
// nothing moves by itself.
func (o *operator) gardenletOf(seed *gardencorev1beta1.Seed) *shoot.Reconciler {
	o.t.Helper()
	vector, err := images.Load("")
	if err != nil {
		o.t.Fatal(err)
	}
	identity := gardencorev1beta1.Gardener{ID: "1", Name: "gardenlet", Version: "v1"}
	o.changeStatus(seed, func() {
		seed.Status.Gardener, seed.Status.ObservedGeneration = &identity, seed.Generation
		seed.Status.Conditions = append(seed.Status.Conditions, gardencorev1beta1.Condition{
			Type: "SeedSystemComponentsHealthy", Status: "True", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
	})
	garden := o.as("gardener.cloud:system:seed:"+seed.Name, "gardener.cloud:system:seeds")
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	inSeed := fake.NewClientBuilder().WithScheme(o.Scheme).Build()
	return &shoot.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: garden, GardenReader: garden, SeedClient: inSeed,
			Shoots: &kit.Shoots{Seed: inSeed, Connect: func([]byte) (*kit.Shoot, error) { return nil, errors.New("there is no shoot") }},
			Clock:  realClock(), Recorder: events.NewFakeRecorder(1000), SeedName: seed.Name,
		},
		Identity: identity, Images: vector, Config: config.Controllers.Shoot,
		IdentityTokenValidity: config.Controllers.TokenRequestorWorkloadIdentity.TokenExpirationDuration.Duration,
	}
}

// TestShootOfAProjectsOwn takes a shoot with a profile and credentials of its project's own from its order through the
// scheduler to its seed, where the gardenlet has no other rights than those of its seed, and to its end.
func TestShootOfAProjectsOwn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		kind   string
		object func(namespace string) client.Object
		key    string
		value  func(string) bool
	}{
		"Secret": {
			reason: "a Secret behind a CredentialsBinding", kind: "Secret", key: "user", value: func(v string) bool { return v == "me" },
			object: func(namespace string) client.Object {
				return &corev1.Secret{ObjectMeta: named(namespace, "account"), Data: map[string][]byte{"user": []byte("me")}}
			},
		},
		"WorkloadIdentity": {
			reason: "an identity behind a CredentialsBinding", kind: "WorkloadIdentity", key: "token", value: func(v string) bool { return strings.Count(v, ".") == 2 },
			object: func(namespace string) client.Object {
				return &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: named(namespace, "account"), Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
					Audiences: []string{"cloud.example"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "local"},
				}}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := operate(t)
			o.provider("local")
			namespace := *o.project("dev").Spec.Namespace
			seed := o.seed("one", "local", "north")
			own := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: named(namespace, "own"), Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
				Parent: gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
			}}
			account := tc.object(namespace)
			o.create(own, account)
			version := "v1"
			if tc.kind == "WorkloadIdentity" {
				version = gardensecurityv1alpha1.GroupVersion.String()
			}
			o.create(&gardensecurityv1alpha1.CredentialsBinding{
				ObjectMeta: named(namespace, "b"), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
				CredentialsRef: corev1.ObjectReference{APIVersion: version, Kind: tc.kind, Namespace: namespace, Name: "account"},
			})
			harness.Await(t, o.Client, own, "the profile is merged", func(p *gardencorev1beta1.NamespacedCloudProfile) error {
				return has(len(p.Status.CloudProfileSpec.MachineTypes) > 0, "status %v", p.Status)
			})
			s := o.shoot(namespace, "own", "local", withWorker("b"), func(s *gardencorev1beta1.Shoot) {
				s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
			})
			harness.Await(t, o.Client, s, "the scheduler finds a seed", func(s *gardencorev1beta1.Shoot) error {
				return has(s.Spec.SeedName != nil, "last operation %v", s.Status.LastOperation)
			})
			o.ready(o.installation("one", "provider-local", "the extension is installed"))
			o.heartbeat("one")
			r := o.gardenletOf(seed)
			request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}
			ctx, cancel := context.WithCancel(ctrl.LoggerInto(t.Context(), testr.New(t)))
			ended := make(chan error, 1)
			go func() {
				_, err := r.Reconcile(ctx, request)
				ended <- err
			}()
			harness.Eventually(t, tc.reason, func(ctx context.Context) error {
				secret := &corev1.Secret{}
				if err := r.SeedClient.Get(ctx, client.ObjectKey{Namespace: "shoot--dev--own", Name: "cloudprovider"}, secret); err != nil {
					return err
				}
				return has(tc.value(string(secret.Data[tc.key])), "key %q is not what is wanted", tc.key)
			})
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("Reconcile(...) = %v, want only the stop", err)
			}
			told := &gardenextensionsv1alpha1.Cluster{}
			if err := r.SeedClient.Get(t.Context(), client.ObjectKey{Name: "shoot--dev--own"}, told); err != nil {
				t.Fatal(err)
			}
			profile := &gardencorev1beta1.CloudProfile{}
			if err := json.Unmarshal(told.Spec.CloudProfile.Raw, profile); err != nil {
				t.Fatal(err)
			}
			o.read(own)
			if diff := cmp.Diff(own.Status.CloudProfileSpec.MachineTypes, profile.Spec.MachineTypes); diff != "" || profile.Name != "own" {
				t.Errorf("machine types of profile %q, as extensions see it (-want +got):\n%s", profile.Name, diff)
			}

			o.confirm(s)
			o.heartbeat("one")
			if _, err := r.Reconcile(t.Context(), request); err != nil {
				t.Errorf("Reconcile(...) of the deletion = %v", err)
			}
			o.gone(s, "the shoot is gone")
		})
	}
}
