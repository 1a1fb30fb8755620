// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestManyKeys fills a project with objects of many tiny keys, through each door: they take ten times as much of the memory as of the store
// (GAC-SIZE-3).
func TestManyKeys(t *testing.T) {
	t.Parallel()
	o := operate(t)
	namespace := *o.project("wide", member("rose", "admin")).Spec.Namespace
	rose := o.as("rose")
	harness.Await(t, rose, &corev1.ConfigMap{ObjectMeta: named(namespace, "kube-root-ca.crt")}, "the member has her role", func(*corev1.ConfigMap) error { return nil })
	keys := func(n int, value ...string) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprintf("%05x", i)] = strings.Join(value, "")
		}
		return all
	}
	// With 3,000 keys, it and its managed fields have less than 64 KiB each.
	const many, why = 3_000, "each key after the first 100 counts as 96 bytes more"
	config := &corev1.ConfigMap{ObjectMeta: named(namespace, "a"), Data: keys(many)}
	refusedWith(t, rose.Create(t.Context(), config), why, "create")
	unnamed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "a-"}, Data: keys(many)}
	refusedWith(t, rose.Create(t.Context(), unnamed), why, "a generated name")
	labelled := &corev1.ConfigMap{ObjectMeta: named(namespace, "b")}
	labelled.Labels = keys(many)
	refusedWith(t, rose.Create(t.Context(), labelled), why, "labels")
	config.Data = keys(100)
	if err := rose.Create(t.Context(), config); err != nil {
		t.Fatalf("a usual one is allowed: %v", err)
	}
	grown := config.DeepCopy()
	grown.Data = keys(many)
	refusedWith(t, rose.Update(t.Context(), grown.DeepCopy()), why, "update")
	refusedWith(t, rose.Patch(t.Context(), grown.DeepCopy(), client.MergeFrom(config)), why, "patch")
	grown.APIVersion, grown.Kind, grown.ManagedFields, grown.ResourceVersion = "v1", "ConfigMap", nil, ""
	//nolint:staticcheck // It is sent as kubectl sends it.
	refusedWith(t, rose.Patch(t.Context(), grown, client.Apply, client.FieldOwner("rose"), client.ForceOwnership), why, "server-side apply")

	// An object of a body has 5,000 entries at most. A Secret with 4,000 keys has 80 kB, and takes 453 kB of the 32 MiB of the project.
	const full, want = 4_000, 74
	made := 0
	for i := range want + 4 {
		secret := &corev1.Secret{ObjectMeta: named(namespace, fmt.Sprint("s", i)), StringData: keys(full, "somewhat")}
		err := rose.Create(t.Context(), secret)
		if err == nil {
			made++
		} else if !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
	}
	if made != want {
		t.Errorf("a project has %d Secrets with %d keys, want %d", made, full, want)
	}
}
