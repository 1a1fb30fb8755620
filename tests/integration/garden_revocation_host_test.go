// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// managedOn makes a ManagedSeed whose shoot runs on a seed.
func (o *operator) managedOn(name, seed string) *gardencorev1beta1.Shoot {
	o.t.Helper()
	shoot := order("garden", name, "beds", func(s *gardencorev1beta1.Shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new(name + ".example.com")}
		s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
		s.Spec.SeedName = &seed
	})
	o.create(shoot, &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", name), Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
		Shoot: &gardenseedmanagementv1alpha1.Shoot{Name: name}, Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{Config: planted()},
	}})
	harness.Eventually(o.t, "the managed seed belongs to "+seed, func(context.Context) error {
		data, err := o.office(http.MethodGet, "/"+seed, "") //nolint:contextcheck // It has that of the test.
		if err != nil {
			return err
		}
		var answer revocationAnswer
		if err := json.Unmarshal(data, &answer); err != nil {
			return err
		}
		is := slices.ContainsFunc(answer.Exposed, func(x struct{ Kind, Namespace, Name string }) bool { return x.Kind == "ManagedSeed" && x.Name == name })
		return has(is, "exposed %v", answer.Exposed)
	})

	return shoot
}

// hostToken is the join token that a gardenlet makes for a ManagedSeed.
func hostToken(id, managed string) *corev1.Secret {
	return tokenFor(id, map[string]string{"description": "A bootstrap token for the ManagedSeed resource garden/" + managed})
}

func bootstrapAccount(managed string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: named("garden", "gardenlet-bootstrap-"+managed)}
}

// joins asks for the certificate of a seed and returns the message of a denial.
func (o *operator) joins(who client.Client, name, seed string) string {
	o.t.Helper()
	request := signingRequest(o.t, name, "gardener.cloud:system:seed:"+seed)
	harness.Eventually(o.t, "the requester has its role", func(ctx context.Context) error {
		return client.IgnoreAlreadyExists(who.Create(ctx, request))
	})
	approved, message := o.verdict(request)
	if approved != (message == "") {
		o.t.Errorf("request %s: approved %t, message %q", name, approved, message)
	}

	return message
}

// TestRevokedHost shuts out a seed whose gardenlet made credentials for managed seeds, which it knows.
func TestRevokedHost(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("beds")
	o.home()
	o.credentials("garden", "beds")
	o.seed("host", "beds", "north")
	o.seed("other", "beds", "north")
	o.managedOn("soil", "host")
	rock := o.managedOn("rock", "other")
	o.create(hostToken("aaaaaa", "soil"), hostToken("bbbbbb", "rock"), tokenFor("cccccc", map[string]string{"seed": "soil"}),
		bootstrapAccount("soil"), bootstrapAccount("rock"))
	if _, err := o.office(http.MethodPost, "/host", `{"reason":"the machine was stolen"}`); err != nil {
		t.Fatalf("revoke: %v", err)
	}

	left := map[string]bool{}
	for name, object := range map[string]client.Object{
		"token for its managed seed": hostToken("aaaaaa", "soil"), "token for that of another seed": hostToken("bbbbbb", "rock"),
		"token of an operator": tokenFor("cccccc", nil), "account of its managed seed": bootstrapAccount("soil"),
		"account of that of another seed": bootstrapAccount("rock"),
	} {
		err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		left[name] = !apierrors.IsNotFound(err)
	}
	want := map[string]bool{
		"token for its managed seed": false, "token for that of another seed": true, "token of an operator": true,
		"account of its managed seed": false, "account of that of another seed": true,
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("credentials for joining that are left (-want +got):\n%s", diff)
	}

	// What it may have made in the meantime is refused.
	o.create(hostToken("dddddd", "soil"), hostToken("eeeeee", "rock"), bootstrapAccount("soil"), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-soil"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "gardener.cloud:system:seed-bootstrapper"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "garden", Name: "gardenlet-bootstrap-soil"}},
	})
	const refused = `runs on seed "host", which is shut out`
	for name, who := range map[string]client.Client{
		"dddddd": o.holder("dddddd"), "account": o.as("system:serviceaccount:garden:gardenlet-bootstrap-soil", "system:serviceaccounts"),
	} {
		if message := o.joins(who, name, "soil"); !strings.Contains(message, refused) {
			t.Errorf("%s for its managed seed: got %q, want a denial with %q", name, message, refused)
		}
	}
	for id, seed := range map[string]string{"bbbbbb": "rock", "cccccc": "soil"} {
		if message := o.joins(o.holder(id), id, seed); message != "" {
			t.Errorf("token %s for seed %s is valid: got %q", id, seed, message)
		}
	}
	o.changeStatus(rock, func() { rock.Status.SeedName = new("host") })
	if message := o.joins(o.holder("eeeeee"), "eeeeee", "rock"); !strings.Contains(message, refused) {
		t.Errorf("a shoot that moves away from it: got %q, want a denial with %q", message, refused)
	}
}
