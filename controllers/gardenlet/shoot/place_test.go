// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// victims are what another shoot has in the seed, and what belongs to nobody's shoot.
func victims() []client.Object {
	var objs []client.Object
	for _, name := range []string{"shoot--victim--prod", "shoot--dev--a", "kube-system"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if strings.HasPrefix(name, "shoot--") {
			namespace.Annotations = map[string]string{"shoot.gardener.cloud/uid": "uid-of-the-victim"}
		}
		objs = append(objs, namespace, &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return objs
}

func worldOf(ctx context.Context, t *testing.T, c client.Client) []string {
	t.Helper()
	var all []string
	for _, list := range []client.ObjectList{&corev1.NamespaceList{}, &gardenextensionsv1alpha1.ClusterList{}} {
		if err := c.List(ctx, list); err != nil {
			t.Fatal(err)
		}
		switch l := list.(type) {
		case *corev1.NamespaceList:
			for i := range l.Items {
				all = append(all, "Namespace "+l.Items[i].Name+" "+l.Items[i].ResourceVersion)
			}
		case *gardenextensionsv1alpha1.ClusterList:
			for i := range l.Items {
				all = append(all, "Cluster "+l.Items[i].Name+" "+l.Items[i].ResourceVersion)
			}
		}
	}
	return all
}

// TestForeignNamespaceIsNotTouched_GLET_SHOOT_18 gives a shoot the technical ID of another one, as the gardenlet of another seed could
// try, and looks whether anything of the other shoot changes.
func TestForeignNamespaceIsNotTouched_GLET_SHOOT_18(t *testing.T) {
	t.Parallel()
	type change = func(*gardencorev1beta1.Shoot)
	id := func(id string) change {
		return func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID, s.Status.UID = id, "x" }
	}
	deleted := func(s *gardencorev1beta1.Shoot) {
		inDeletion(s)
		s.Finalizers = []string{"gardener"}
		s.Status.SeedName = new("eu-1")
	}
	over := func(s *gardencorev1beta1.Shoot) {
		deleted(s)
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Delete", State: "Succeeded", Progress: 100}
	}
	forced := func(s *gardencorev1beta1.Shoot) {
		deleted(s)
		s.Annotations = map[string]string{"confirmation.gardener.cloud/force-deletion": "true"}
	}
	ignored := func(s *gardencorev1beta1.Shoot) {
		s.Namespace, s.Annotations = "garden-dev", map[string]string{"shoot.gardener.cloud/ignore": "true"}
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100}
	}
	theirs, wrong := `namespace "shoot--dev--a" on the seed belongs to the shoot with UID "uid-of-the-victim"`, `technical ID of shoot "a" in project "dev" is "shoot--dev--a"`
	for name, tc := range map[string]struct {
		reason  string
		changes []change
		want    string
	}{
		"reconcile":       {reason: "the control plane of another shoot is not overwritten", changes: []change{id("shoot--victim--prod")}, want: wrong},
		"system":          {reason: "nor is a namespace of the seed", changes: []change{id("kube-system")}, want: wrong},
		"same name":       {reason: "what is left of a shoot of the same name is not taken over", changes: []change{id("shoot--dev--a")}, want: theirs},
		"new":             {reason: "also by a new shoot", want: theirs},
		"delete":          {reason: "nor deleted", changes: []change{id("shoot--victim--prod"), deleted}, want: wrong},
		"delete, system":  {reason: "nor is a namespace of the seed", changes: []change{id("kube-system"), deleted}, want: wrong},
		"delete, same":    {reason: "nor what is left of another shoot", changes: []change{id("shoot--dev--a"), deleted}, want: theirs},
		"force":           {reason: "also not by force", changes: []change{id("shoot--victim--prod"), forced}, want: wrong},
		"last steps":      {reason: "the Cluster object of another shoot stays", changes: []change{id("shoot--victim--prod"), over}, want: wrong},
		"ignored":         {reason: "and is not written when no operation runs", changes: []change{id("shoot--victim--prod"), ignored}, want: wrong},
		"ignored, theirs": {reason: "nor if the name is right", changes: []change{id("shoot--dev--a"), ignored}, want: theirs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh(tc.changes...))
			l.Config.RespectSyncPeriodOverwrite = new(true)
			l.SeedClient = fake.NewClientBuilder().WithScheme(kindsOfClusters(t)).WithObjects(victims()...).Build()
			l.Shoots.Seed = l.SeedClient
			before := worldOf(t.Context(), t, l.SeedClient)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := l.pass(ctx)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nReconcile(...) = %v, want %s", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(before, worldOf(t.Context(), t, l.SeedClient)); diff != "" {
				t.Errorf("%s\nthe seed has changed (-want +got):\n%s", tc.reason, diff)
			}
			if s := l.shoot(t); !strings.HasPrefix(name, "ignored") && (len(s.Status.LastErrors) != 1 || len(s.Status.LastErrors[0].Codes) != 1) {
				t.Errorf("%s\nlastErrors = %+v, want one with a code", tc.reason, s.Status.LastErrors)
			}
		})
	}
}

func TestCheckPlace_GLET_SHOOT_18(t *testing.T) {
	t.Parallel()
	seed := fake.NewClientBuilder().WithScheme(kindsOfClusters(t)).WithObjects(victims()...).Build()
	for id, own := range map[string]bool{"": true, "shoot--meadow--a": true, "shoot--dev--a": false, "shoot--victim--prod": false, "kube-system": false} {
		s := fresh()
		s.Status.TechnicalID = id
		if err := shoot.CheckPlace(t.Context(), seed, s); (err == nil) != own {
			t.Errorf("CheckPlace(%q) = %v, want an error: %v", id, err, !own)
		}
	}
}
