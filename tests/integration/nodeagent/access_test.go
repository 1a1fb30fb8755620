// SPDX-License-Identifier: Apache-2.0

// Package nodeagent_test shows what agents of nodes may do, with the roles and the policy of a shoot in an API server that enforces them.
package nodeagent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

func lease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("a")}}
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}
}

// TestAHostileNodeGetsItsOwnPoolOnly_GRM_WH_AUTHZ_1 has the agent of node a in the pool small try what it may and what it may not.
func TestAHostileNodeGetsItsOwnPoolOnly_GRM_WH_AUTHZ_1(t *testing.T) {
	t.Parallel()
	garden := harness.Start(t)
	objs, err := osc.AgentObjects(&gardencorev1beta1.Shoot{}, []osc.Kept{{Pool: "small", Secret: "config-small"}, {Pool: "large", Secret: "config-large"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range append(objs, secret("other"), lease("kube-controller-manager"), lease("gardener-node-agent-b")) {
		if err := garden.Client.Create(t.Context(), obj); err != nil {
			t.Fatalf("create %T %q: %v", obj, obj.GetName(), err)
		}
	}
	agent := garden.As(t, "gardener.cloud:node-agent:machine:a", "gardener.cloud:node-agents", "gardener.cloud:node-agents:pool:small", "system:authenticated")
	// Roles and policies are enforced a moment after they were written.
	harness.Eventually(t, "the agent has its own lease, and those of others are out of reach", func(ctx context.Context) error {
		if err := agent.Create(ctx, lease("gardener-node-agent-a"), client.DryRunAll); err != nil {
			return fmt.Errorf("create the own lease: %w", err)
		}
		if err := agent.Create(ctx, lease("gardener-node-agent-c"), client.DryRunAll); err == nil {
			return errors.New("the lease of another node could be created")
		}
		return nil
	})
	get := func(name string) error {
		return agent.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: name}, &corev1.Secret{})
	}
	update := func(name string) error {
		found := &coordinationv1.Lease{}
		if err := garden.Client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: name}, found); err != nil {
			t.Fatal(err)
		}
		now := metav1.NewMicroTime(time.Now())
		found.Spec.RenewTime = &now
		return agent.Update(t.Context(), found)
	}
	watch := func(options ...client.ListOption) error {
		watcher, err := agent.Watch(t.Context(), &corev1.SecretList{}, append(options, client.InNamespace("kube-system"))...)
		if err == nil {
			watcher.Stop()
		}
		return err
	}
	elsewhere := lease("gardener-node-agent-a")
	elsewhere.Namespace = "default"
	want, got := map[string]string{}, map[string]string{}
	for _, try := range []struct {
		what string
		err  error
		may  bool
	}{
		{"get the configuration of its pool", get("config-small"), true},
		{"watch it", watch(client.MatchingFields{"metadata.name": "config-small"}), true},
		{"create its lease", agent.Create(t.Context(), lease("gardener-node-agent-a")), true},
		{"renew its lease", update("gardener-node-agent-a"), true},
		{"get the configuration of another pool", get("config-large"), false},
		{"get another secret", get("other"), false},
		{"list secrets", agent.List(t.Context(), &corev1.SecretList{}, client.InNamespace("kube-system")), false},
		{"watch all secrets", watch(), false},
		{"watch the configuration of another pool", watch(client.MatchingFields{"metadata.name": "config-large"}), false},
		{"change the configuration of its pool", agent.Update(t.Context(), secret("config-small")), false},
		{"renew the lease of another node", update("gardener-node-agent-b"), false},
		{"take the lease of a controller", update("kube-controller-manager"), false},
		{"create the lease of another node", agent.Create(t.Context(), lease("gardener-node-agent-c")), false},
		{"create a lease in another namespace", agent.Create(t.Context(), elsewhere), false},
		{"delete its lease", agent.Delete(t.Context(), lease("gardener-node-agent-a")), false},
	} {
		want[try.what], got[try.what] = "refused", "allowed"
		if try.may {
			want[try.what] = "allowed"
		}
		switch {
		case apierrors.IsForbidden(try.err) || apierrors.IsInvalid(try.err):
			got[try.what] = "refused"
		case try.err != nil:
			got[try.what] = try.err.Error()
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the agent may (-want +got):\n%s", diff)
	}
}
