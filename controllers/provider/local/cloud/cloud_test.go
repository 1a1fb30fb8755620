// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
)

const (
	name   = cloudtest.Namespace
	access = cloudtest.Kubeconfig
)

func TestDefaultIsTheSeed(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, "")
	if in := p.Find(t); in.Apart() || in.Client != client.Client(p) || in.Namespace != name || in.Claim(t.Context()) != nil {
		t.Errorf("the machines of a shoot without a kubeconfig are in %+v, not in the seed", in)
	}
}

// TestApart follows a namespace in another cluster through its life.
func TestApart(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, access)
	in := p.Find(t)
	if exists, err := in.Exists(t.Context()); !in.Apart() || in.Place != "other" || exists || err != nil {
		t.Fatalf("the cloud is %+v, exists: %t, %v", in, exists, err)
	}
	for range 2 {
		if err := in.Claim(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	made := &corev1.Namespace{}
	if err := p.Other.Get(t.Context(), client.ObjectKey{Name: name}, made); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{cloud.LabelShoot: cloudtest.UID, "pod-security.kubernetes.io/enforce": "privileged"}
	if diff := cmp.Diff(want, made.Labels); diff != "" {
		t.Errorf("labels of the namespace (-want +got):\n%s", diff)
	}
	p.Record(t, in)
	in = p.Find(t)
	if gone, err := in.Release(t.Context()); gone || err != nil {
		t.Errorf("Release(...) = %t, %v at first", gone, err)
	}
	if gone, err := in.Release(t.Context()); !gone || err != nil {
		t.Errorf("Release(...) = %t, %v when the namespace is gone", gone, err)
	}
	if err := p.Get(t.Context(), client.ObjectKey{Name: name}, &corev1.Namespace{}); err != nil {
		t.Errorf("the namespace in the seed: %v", err)
	}
}

// TestForeignNamespace: a namespace of somebody else, and be it that of a shoot of the same name in another garden, is not used and stays.
func TestForeignNamespace(t *testing.T) {
	t.Parallel()
	for reason, labels := range map[string]map[string]string{
		"an ordinary namespace": nil, "the shoot of another garden": {cloud.LabelShoot: "another"}, "no identity": {cloud.LabelShoot: ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p := cloudtest.New(t, access)
			in := p.Find(t)
			foreign := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
			if err := p.Other.Create(t.Context(), foreign); err != nil {
				t.Fatal(err)
			}
			if err := in.Claim(t.Context()); !errors.Is(err, cloud.ErrForeign) || len(operation.Codes(err)) == 0 {
				t.Errorf("Claim(...) = %v", err)
			}
			if _, err := p.Clouds.Of(t.Context(), name); !errors.Is(err, cloud.ErrForeign) {
				t.Errorf("Of(...) = %v", err)
			}
			if gone, err := in.Release(t.Context()); !gone || err != nil {
				t.Errorf("Release(...) = %t, %v: nothing of the shoot is there", gone, err)
			}
			if err := p.Other.Get(t.Context(), client.ObjectKey{Name: name}, foreign); err != nil || foreign.DeletionTimestamp != nil {
				t.Errorf("the foreign namespace is gone: %v", err)
			}
		})
	}
}

// TestOneOfTwoGardens: of two that want a namespace at the same time, one gets it.
func TestOneOfTwoGardens(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, access)
	mine := p.Find(t)
	cluster := &gardenextensionsv1alpha1.Cluster{}
	if err := p.Get(t.Context(), client.ObjectKey{Name: name}, cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.Shoot.Raw = []byte(strings.Replace(cloudtest.Shoot, cloudtest.UID, "twin", 1))
	if err := p.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	both, errs := []cloud.Cloud{mine, p.Find(t)}, make([]error, 2)
	var wait sync.WaitGroup
	for i := range both {
		wait.Go(func() { errs[i] = both[i].Claim(t.Context()) })
	}
	wait.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), cloud.ErrForeign) {
		t.Errorf("two claims end with %v", errs)
	}
}

// TestReleaseSparesASuccessor: a namespace of the same name that was made in between is not deleted.
func TestReleaseSparesASuccessor(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, access)
	if err := p.Find(t).Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := ""
	writable, _ := p.Other.(client.WithWatch)
	p.Other = interceptor.NewClient(writable, interceptor.Funcs{
		Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption) error {
			o := (&client.DeleteOptions{}).ApplyOptions(options)
			if o.Preconditions != nil && o.Preconditions.UID != nil {
				asked = string(*o.Preconditions.UID)
			}
			return nil
		},
	})
	p.Provide(t, access+"#\n")
	live := &corev1.Namespace{}
	if err := p.Other.Get(t.Context(), client.ObjectKey{Name: name}, live); err != nil {
		t.Fatal(err)
	}
	live.UID = "first"
	if err := p.Other.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Find(t).Release(t.Context()); err != nil || asked != "first" {
		t.Errorf("Release(...) = %v, for the UID %q", err, asked)
	}
}

// TestDoesNotMove: machines that exist are not lost because of another provider secret.
func TestDoesNotMove(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		before, after string
		other         string
		want          string
	}{
		"ToAnother":   {before: access, after: access + "# changed\n", other: "third", want: `UID "other" and do not move`},
		"ToTheSeed":   {before: access, want: "do not move to the seed"},
		"FromTheSeed": {after: access, want: "in the seed and do not move"},
		"Rotation":    {before: access, after: strings.Replace(access, "secret-token", "fresh", 1), other: "other"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			p := cloudtest.New(t, tc.before)
			p.Record(t, p.Find(t))
			p.Provide(t, tc.after)
			if tc.other != "" {
				p.Other = cloudtest.Cluster(t, tc.other)
			}
			_, err := p.Clouds.Of(t.Context(), name)
			if tc.want == "" {
				if err != nil {
					t.Errorf("Of(...) = %v for other credentials of the same cluster", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(operation.Codes(err)) == 0 || !kit.IsFailure(err) {
				t.Errorf("Of(...) = %v, want a configuration problem with %q", err, tc.want)
			}
		})
	}
}

// TestFormerVersions recorded nothing, and had all machines in the seed.
func TestFormerVersions(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, access)
	object := p.Infrastructure(t)
	object.Status.Networking = &gardenextensionsv1alpha1.InfrastructureStatusNetworking{Nodes: []string{"10.98.0.0/16"}}
	if err := p.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Clouds.Of(t.Context(), name); err == nil || !strings.Contains(err.Error(), "in the seed and do not move") {
		t.Errorf("Of(...) = %v", err)
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	node := func(name, network string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{PodCIDR: network}}
	}
	many := func(n int) []client.Object {
		nodes := make([]client.Object, n)
		for i := range nodes {
			nodes[i] = node(fmt.Sprintf("n%d", i), fmt.Sprintf("10.96.0.%d/32", i))
			if i > 255 {
				nodes[i] = node(fmt.Sprintf("n%d", i), fmt.Sprintf("10.96.1.%d/32", i-256))
			}
		}
		return nodes
	}
	cases := map[string]struct {
		nodes []client.Object
		want  []string
		err   string
	}{
		"Several":    {nodes: []client.Object{node("b", "10.96.1.0/24"), node("a", "10.96.0.0/24"), node("c", ""), node("d", "10.96.1.0/24")}, want: []string{"10.96.0.0/24", "10.96.1.0/24"}},
		"None":       {nodes: []client.Object{node("a", ""), node("b", "fd00::/64")}, err: "spec.podCIDR"},
		"OfTheSeed":  {nodes: []client.Object{node("a", "10.0.0.0/8")}, err: "overlaps with"},
		"Anywhere":   {nodes: []client.Object{node("a", "0.0.0.0/0")}, err: "overlaps with"},
		"Endless":    {nodes: many(257), err: "at most 256"},
		"OfTheShoot": {nodes: []client.Object{node("a", "10.3.7.0/24")}, err: "overlaps with 10.3.0.0/16"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			p := cloudtest.New(t, access)
			p.Other = cloudtest.Cluster(t, "other", tc.nodes...)
			got, err := p.Find(t).Networks(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.err == "") || (err != nil && !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("Networks(...) = %v, want %q (-want +got):\n%s", err, tc.err, diff)
			}
		})
	}
}
