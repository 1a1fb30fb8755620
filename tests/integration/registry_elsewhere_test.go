// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// servedElsewhere is the list of resources.md for the groups beside core, without ManagedSeeds, of which a shoot can have one.
func servedElsewhere() []served {
	return []served{
		{
			kind: "Bastion", resource: "bastions", group: gardenoperationsv1alpha1.GroupVersion, singular: "bastion",
			categories: []string{"all"}, namespaced: true, generation: true,
			columns:   []string{"Name", "Shoot", "Seed", "IP", "Heartbeat", "Expires", "Age"},
			selectors: map[string]string{"spec.seedName": "kinds", "spec.shootRef.name": "host"},
			made: func(namespace, name string) client.Object {
				return &gardenoperationsv1alpha1.Bastion{ObjectMeta: named(namespace, name), Spec: gardenoperationsv1alpha1.BastionSpec{
					ShootRef: corev1.LocalObjectReference{Name: "host"}, SSHPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIJ2vJBXMmMK6L0EV3uQh6dZl6rX8J5RrA0Z9QF0iXBx rose", Ingress: from("192.0.2.0/24"),
				}}
			},
			edit: with(func(b *gardenoperationsv1alpha1.Bastion) { b.Spec.Ingress = from("198.51.100.0/24") }),
			report: with(func(b *gardenoperationsv1alpha1.Bastion) {
				b.Status.Ingress = &corev1.LoadBalancerIngress{IP: "192.0.2.7"}
			}),
			reported: shows(func(b *gardenoperationsv1alpha1.Bastion) bool { return b.Status.Ingress != nil }),
		},
		{
			kind: "CredentialsBinding", resource: "credentialsbindings", group: gardensecurityv1alpha1.GroupVersion, singular: "credentialsbinding",
			shortNames: []string{"cb"}, namespaced: true,
			columns: []string{"Name", "Provider", "APIVersion", "Kind", "Name", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardensecurityv1alpha1.CredentialsBinding{
					ObjectMeta: named(namespace, name), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "kinds"},
					CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: "kinds"},
				}
			},
		},
		{
			kind: "WorkloadIdentity", resource: "workloadidentities", group: gardensecurityv1alpha1.GroupVersion, singular: "workloadidentity",
			shortNames: []string{"wi"}, namespaced: true,
			columns: []string{"Name", "Sub", "Type", "Audiences†", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: named(namespace, name), Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
					Audiences: []string{"cloud.example"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "kinds"},
				}}
			},
			edit: with(func(w *gardensecurityv1alpha1.WorkloadIdentity) { w.Spec.Audiences = []string{"other.example"} }),
		},
		{
			kind: "OpenIDConnectPreset", resource: "openidconnectpresets", group: gardensettingsv1alpha1.GroupVersion, singular: "openidconnectpreset",
			shortNames: []string{"oidcps"}, categories: []string{"all"}, namespaced: true,
			columns: []string{"Name", "Issuer", "Shoot-Selector", "Age"},
			made: func(namespace, name string) client.Object {
				return &gardensettingsv1alpha1.OpenIDConnectPreset{ObjectMeta: named(namespace, name), Spec: openID()}
			},
			edit: with(func(p *gardensettingsv1alpha1.OpenIDConnectPreset) { p.Spec.Weight = 8 }),
		},
		{
			kind: "ClusterOpenIDConnectPreset", resource: "clusteropenidconnectpresets", group: gardensettingsv1alpha1.GroupVersion,
			singular: "clusteropenidconnectpreset", shortNames: []string{"coidcps"}, categories: []string{"all"},
			columns: []string{"Name", "Issuer", "Project-Selector", "Shoot-Selector", "Age"},
			made: func(_, name string) client.Object {
				return &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{
					ObjectMeta: named("", name), Spec: gardensettingsv1alpha1.ClusterOpenIDConnectPresetSpec{OpenIDConnectPresetSpec: openID()},
				}
			},
			edit: with(func(p *gardensettingsv1alpha1.ClusterOpenIDConnectPreset) { p.Spec.Weight = 8 }),
		},
		{
			kind: "Gardenlet", resource: "gardenlets", group: gardenseedmanagementv1alpha1.GroupVersion, singular: "gardenlet",
			shortNames: []string{"gl", "glet"}, namespaced: true, home: "garden", generation: true,
			columns: []string{"Name", "OCI Repository", "Reconciled", "Age"},
			made: func(namespace, name string) client.Object {
				g := &gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: named(namespace, name)}
				g.Spec.Deployment.Helm.OCIRepository = gardencorev1.OCIRepository{Ref: new("registry.example/gardenlet:v1")}
				g.Spec.Config = described("none")
				return g
			},
			edit: with(func(g *gardenseedmanagementv1alpha1.Gardenlet) { g.Spec.Deployment.ReplicaCount = new(int32(3)) }),
			report: with(func(g *gardenseedmanagementv1alpha1.Gardenlet) {
				g.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReconciled", Status: "True"}}
			}),
			reported: shows(func(g *gardenseedmanagementv1alpha1.Gardenlet) bool { return len(g.Status.Conditions) > 0 }),
		},
		{
			kind: "ManagedSeedSet", resource: "managedseedsets", group: gardenseedmanagementv1alpha1.GroupVersion, singular: "managedseedset",
			shortNames: []string{"mss"}, namespaced: true, home: "garden", generation: true,
			columns: []string{"Name", "Ready", "Pending", "Age"},
			made:    func(namespace, name string) client.Object { return bed(namespace, name) },
			edit:    with(func(s *gardenseedmanagementv1alpha1.ManagedSeedSet) { s.Spec.Replicas = new(int32(2)) }),
			// The controller of sets clears what it knows to be over.
			report:   with(func(s *gardenseedmanagementv1alpha1.ManagedSeedSet) { s.Status.CollisionCount = new(int32(1)) }),
			reported: shows(func(s *gardenseedmanagementv1alpha1.ManagedSeedSet) bool { return s.Status.CollisionCount != nil }),
		},
	}
}

func from(cidr string) []gardenoperationsv1alpha1.BastionIngressPolicy {
	return []gardenoperationsv1alpha1.BastionIngressPolicy{{IPBlock: networkingv1.IPBlock{CIDR: cidr}}}
}

func openID() gardensettingsv1alpha1.OpenIDConnectPresetSpec {
	return gardensettingsv1alpha1.OpenIDConnectPresetSpec{
		Server: gardensettingsv1alpha1.KubeAPIServerOpenIDConnect{ClientID: "garden", IssuerURL: "https://login.example"}, Weight: 7,
	}
}

// described is the least configuration of a gardenlet that registers a seed, which is labelled as one of a set.
func described(set string) runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration","seedConfig":{` +
		`"metadata":{"labels":{"set":"` + set + `"}},"spec":{` +
		`"provider":{"type":"local","region":"north"},"networks":{"pods":"10.1.0.0/16","services":"10.2.0.0/16","nodes":"10.3.0.0/16"},` +
		`"ingress":{"domain":"ingress.example.org","controller":{"kind":"nginx"}},"dns":{` +
		`"provider":{"type":"local","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"domain"}},` +
		`"internal":{"type":"local","domain":"internal.example.org","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"domain"}}}}}}`)}
}

// bed is a set of no managed seeds.
func bed(namespace, name string) *gardenseedmanagementv1alpha1.ManagedSeedSet {
	s := &gardenseedmanagementv1alpha1.ManagedSeedSet{ObjectMeta: named(namespace, name)}
	labels := map[string]string{"set": name}
	s.Spec.Replicas, s.Spec.Selector.MatchLabels = new(int32(0)), labels
	s.Spec.Template.Labels, s.Spec.ShootTemplate.Labels = labels, labels
	s.Spec.Template.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{MergeWithParent: new(true), Config: described(name)}
	s.Spec.ShootTemplate.Spec = order("garden", "", "local").Spec
	return s
}

// TestScale changes the size of a set as kubectl scale does.
func TestScale(t *testing.T) {
	t.Parallel()
	o := operate(t)
	s := bed("garden", "scaled")
	o.create(s)
	harness.Await(t, client.Reader(o.Client), s, "the controller has done its part", func(s *gardenseedmanagementv1alpha1.ManagedSeedSet) error {
		if s.Status.ObservedGeneration != s.Generation {
			return fmt.Errorf("generation %d is not observed yet", s.Generation)
		}
		return nil
	})
	scale := &autoscalingv1.Scale{}
	if err := o.Client.SubResource("scale").Get(t.Context(), s, scale); err != nil {
		t.Fatalf("API-RES-4: a scale can be read: %v", err)
	}
	if scale.Status.Selector != "set=scaled" || scale.UID != s.UID {
		t.Errorf("API-RES-4: the scale is that of the set, got %+v", scale)
	}
	scale.Spec.Replicas = 3
	accepted(t, "API-RES-4: a scale can be written", o.Client.SubResource("scale").Update(t.Context(), s, client.WithSubResourceBody(scale)))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":4}}`))
	accepted(t, "API-RES-4: and patched", o.Client.SubResource("scale").Patch(t.Context(), s, patch, &client.SubResourcePatchOptions{SubResourceBody: &autoscalingv1.Scale{}}))
	o.read(s)
	if diff := cmp.Diff([]int64{4, 3}, []int64{int64(*s.Spec.Replicas), s.Generation}); diff != "" {
		t.Errorf("API-RES-4: replicas and generation (-want +got):\n%s", diff)
	}
	apply := []byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"scaled","namespace":"garden"},"spec":{"replicas":5}}`)
	accepted(t, "API-RES-4: and applied", o.Client.SubResource("scale").Patch(t.Context(), s, client.RawPatch(types.ApplyPatchType, apply),
		&client.SubResourcePatchOptions{
			SubResourceBody: &autoscalingv1.Scale{}, PatchOptions: client.PatchOptions{FieldManager: "autoscaler", Force: new(true)},
		}))
	o.read(s)
	owner := slices.IndexFunc(s.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "autoscaler" })
	if *s.Spec.Replicas != 5 || owner < 0 || s.ManagedFields[owner].APIVersion != "seedmanagement.gardener.cloud/v1alpha1" {
		t.Errorf("API-RES-4: %d replicas, want 5, which belong to who applied them: %v", *s.Spec.Replicas, s.ManagedFields)
	}
}

// TestWorkloadIdentityToken gets a token and checks it as a system outside of the garden does: with what everybody can
// read.
func TestWorkloadIdentityToken(t *testing.T) {
	t.Parallel()
	o := operate(t)
	namespace := o.owned("tokens")
	w := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: named(namespace, "wi"), Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
		Audiences: []string{"cloud.example"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "cloud"},
	}}
	o.create(w)
	request := &gardensecurityv1alpha1.TokenRequest{}
	if err := o.Client.SubResource("token").Create(t.Context(), w, request); err != nil {
		t.Fatalf("API-TOKEN-1: a token is issued: %v", err)
	}
	if left := time.Until(request.Status.ExpirationTimestamp.Time); left < 59*time.Minute || left > 61*time.Minute {
		t.Errorf("API-TOKEN-1: the token is valid for %s, want an hour", left)
	}

	claims := map[string]any{}
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(request.Status.Token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &claims); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(w.Status.Sub), claims["sub"]); diff != "" || w.Status.Sub == "" {
		t.Errorf("API-TOKEN-1: subject of the token (-want +got):\n%s", diff)
	}
	by, _ := claims["iss"].(string)

	o.Config = o.Anonymous()
	const issuer = "/garden/workload-identity/issuer"
	found := o.ask(http.MethodGet, issuer+"/.well-known/openid-configuration", plain, nil)
	discovery := map[string]any{}
	if err := json.Unmarshal(found.body, &discovery); err != nil || found.code != http.StatusOK {
		t.Fatalf("everybody may read who issues tokens: %d, %s", found.code, found.body)
	}
	published := map[string]any{"issuer": discovery["issuer"], "jwks_uri": discovery["jwks_uri"]}
	if diff := cmp.Diff(map[string]any{"issuer": by, "jwks_uri": by + "/jwks"}, published); diff != "" || !strings.HasSuffix(by, issuer) {
		t.Errorf("API-TOKEN-1: the issuer of the token is %q; the document of the issuer (-want +got):\n%s", by, diff)
	}
	keys := o.ask(http.MethodGet, issuer+"/jwks", plain, nil)
	if keys.code != http.StatusOK || !strings.Contains(string(keys.body), `"alg":"RS256"`) {
		t.Errorf("everybody may read the key: %d, %s", keys.code, keys.body)
	}
}

// TestManagedSeed makes a shoot a seed, as far as the API goes.
func TestManagedSeed(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("beds")
	o.home()
	o.credentials("garden", "beds")
	o.create(order("garden", "soil", "beds", func(s *gardencorev1beta1.Shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("soil.example.com")}
		s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
	}))
	made := func() *gardenseedmanagementv1alpha1.ManagedSeed {
		return &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", "soil"), Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
			Shoot: &gardenseedmanagementv1alpha1.Shoot{Name: "soil"}, Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{Config: planted()},
		}}
	}
	m := made()
	o.create(m)
	if m.Generation != 1 || m.Spec.Gardenlet.Bootstrap == nil || *m.Spec.Gardenlet.Deployment.ReplicaCount != 2 {
		t.Errorf("API-DEF-18: what was not said is filled in, got generation %d, %+v", m.Generation, m.Spec.Gardenlet)
	}
	o.change(m, func() { m.Labels = map[string]string{"touched": "yes"} })
	if m.Generation != 1 {
		t.Errorf("API-STRAT-2: what the server fills in again is no new generation, got %d", m.Generation)
	}
	o.change(m, func() { m.Annotations = map[string]string{"gardener.cloud/operation": "renew-kubeconfig"} })
	if m.Generation != 2 || m.Annotations["gardener.cloud/operation"] == "" {
		t.Errorf("API-STRAT-4: renew-kubeconfig counts and stays, got generation %d, annotations %v", m.Generation, m.Annotations)
	}
	again := made()
	again.Name = "other"
	refused(t, "API-MS-1: a shoot is one seed", o.Client.Create(t.Context(), again), apierrors.IsInvalid)
	m.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "other"}
	refused(t, "API-VALMS-1: of one shoot", o.Client.Update(t.Context(), m), func(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) })
	o.read(m)
	o.delete(m)
	o.gone(m, "a ManagedSeed that nobody looks after goes at once")
}

// planted is the configuration of a gardenlet with what does not follow from its shoot.
func planted() runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration",` +
		`"seedConfig":{"spec":{"dns":{"provider":{"type":"local",` +
		`"credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"internal"}},` +
		`"internal":{"type":"local","domain":"internal.example.org",` +
		`"credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"internal"}}}}}}`)}
}
