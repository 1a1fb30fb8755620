// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

func service(name string, labels map[string]string, finalizers ...string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, Finalizers: finalizers}}
}

func cleaner(t *testing.T, objs ...client.Object) shoot.Cleaner {
	t.Helper()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return shoot.Cleaner{Client: fake.NewClientBuilder().WithScheme(s).WithObjects(objs...).Build(), Clock: clock.RealClock{}}
}

func services(finalize time.Duration) shoot.CleanGroup {
	return shoot.CleanGroup{
		Kinds:       []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Service"), {Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshot"}},
		DeleteGrace: time.Minute, FinalizeAfter: finalize,
	}
}

func left(t *testing.T, c shoot.Cleaner) []string {
	t.Helper()
	list := &corev1.ServiceList{}
	if err := c.Client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

func TestCleanSparesWhatBelongsToTheShoot_GLET_CLEAN_2(t *testing.T) {
	t.Parallel()
	c := cleaner(
		t,
		service("users", nil),
		service("spared", map[string]string{"shoot.gardener.cloud/no-cleanup": "true"}),
		service("system", map[string]string{"gardener.cloud/role": "system-component"}),
		service("kubernetes", map[string]string{"provider": "kubernetes"}),
	)
	synctest.Test(t, func(t *testing.T) {
		if err := c.Clean(t.Context(), services(time.Hour)); err != nil {
			t.Fatalf("Clean(...) returned %v", err)
		}
		if diff := cmp.Diff([]string{"kubernetes", "spared", "system"}, left(t, c)); diff != "" {
			t.Errorf("Services after the clean-up (-want +got):\n%s", diff)
		}
	})
}

func TestCleanFinalizesByForce_GLET_CLEAN_3(t *testing.T) {
	t.Parallel()
	c := cleaner(t, service("held", nil, "example.com/hold"))
	synctest.Test(t, func(t *testing.T) {
		begin := clock.RealClock{}.Now()
		if err := c.Clean(t.Context(), services(5*time.Minute)); err != nil {
			t.Fatalf("Clean(...) returned %v", err)
		}
		if took := (clock.RealClock{}).Since(begin); took < 5*time.Minute || took > 5*time.Minute+3*time.Second {
			t.Errorf("finalizers were removed after %s, want 5 minutes", took)
		}
	})
}

func TestCleanNamesWhatIsLeft_GLET_CLEAN_8(t *testing.T) {
	t.Parallel()
	var held []client.Object
	for i := range 12 {
		held = append(held, service(fmt.Sprintf("held-%02d", i), nil, "example.com/hold"))
	}
	c := cleaner(t, held...)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		err := c.Clean(ctx, services(time.Hour))
		if err == nil || !strings.Contains(err.Error(), "objects inside the shoot are still there: Service default/held-00, ") || !strings.Contains(err.Error(), "Service default/held-09 and 2 more") {
			t.Errorf("Clean(...) = %v, want the first ten by name", err)
		}
		if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CLEANUP_CLUSTER_RESOURCES"}, operation.Codes(err)); diff != "" {
			t.Errorf("codes (-want +got):\n%s", diff)
		}
	})
}
