// SPDX-License-Identifier: Apache-2.0

// Package tunnel finds out whether the API server of a shoot reaches its nodes. The end of a shoot's flow waits for that, and health
// checks look at it.
package tunnel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/tunnel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// limit is how many pods are looked at: the owner of the shoot can give the label to any number of them.
	limit = 20
	// tries is how many of them are asked.
	tries = 3
)

// FaultError is what is wrong with a tunnel.
type FaultError struct {
	// Reason and Message are those of a condition. The same fault has the same message each time.
	Reason, Message string
	// Err is what the API server said.
	Err error
}

// Error implements error.
func (f *FaultError) Error() string {
	if f.Err != nil {
		return f.Message + ": " + f.Err.Error()
	}
	return f.Message
}

// Unwrap returns what the API server said.
func (f *FaultError) Unwrap() error {
	return f.Err
}

// Check has the API server of a shoot ask a pod of the tunnel for its health. There has to be one, and one of them has to answer; the
// error is a FaultError if not. Only a shoot with nodes has such pods (GLET-CARE-11).
func Check(ctx context.Context, shoot *kit.Shoot) error {
	pods := &corev1.PodList{}
	err := shoot.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels(tunnel.Selector()), client.Limit(limit))
	if err != nil {
		return fmt.Errorf("list the pods of the tunnel: %w", err)
	}
	if len(pods.Items) == 0 {
		return &FaultError{Reason: gardencorev1beta1.ReasonNoTunnelDeployed, Message: "There is no pod of the tunnel in namespace kube-system"}
	}
	running := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning })
	if len(running) == 0 {
		return broken("No pod of the tunnel runs", nil)
	}
	slices.SortStableFunc(running, readyFirst)
	var failed []error
	for i := range running[:min(len(running), tries)] {
		path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/healthz", metav1.NamespaceSystem, running[i].Name, tunnel.HealthPort)
		err := shoot.Try(ctx, path)
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return broken("The API server reaches no pod of the tunnel", errors.Join(failed...))
}

func broken(message string, err error) error {
	return &FaultError{Reason: gardencorev1beta1.ReasonTunnelConnectionBroken, Message: message, Err: err}
}

// readyFirst puts pods first that have a connection, and orders the others by name.
func readyFirst(a, b corev1.Pod) int {
	rank := func(p corev1.Pod) int {
		if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			return 0
		}
		return 1
	}
	if by := rank(a) - rank(b); by != 0 {
		return by
	}
	return strings.Compare(a.Name, b.Name)
}
