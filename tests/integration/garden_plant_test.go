// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// reaching is a kubeconfig with a token for a server, whatever its certificate.
func reaching(server string) map[string][]byte {
	return map[string][]byte{"kubeconfig": fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: a, user: {token: seCret}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`, server)}
}

func plantOf(namespace, name, secret string) *gardencorev1beta1.Plant {
	p := &gardencorev1beta1.Plant{ObjectMeta: named(namespace, name)}
	p.Spec.SecretRef.Name = secret
	return p
}

// says waits until the Plant reports its API server like that.
func (o *operator) says(p *gardencorev1beta1.Plant, want, what string) {
	o.t.Helper()
	harness.Await(o.t, o.Client, p, what, func(p *gardencorev1beta1.Plant) error {
		c, err := condition(p.Status.Conditions, "APIServerAvailable")
		if err != nil {
			return err
		}
		if strings.Contains(c.Message, "seCret") {
			o.t.Errorf("a condition holds a credential: %s", c.Message)
		}
		nodes, err := condition(p.Status.Conditions, "EveryNodeReady")
		return has(err == nil && nodes.Status != "True" && c.Status == "False" && strings.Contains(c.Message, want), "conditions %+v, %v", p.Status.Conditions, err)
	})
}

// TestPlants lets users of a garden name clusters that the garden must not connect to, and one that does not exist. What a look at
// a cluster finds is tested beside the controller, because a test has no cluster that is not on this machine.
func TestPlants(t *testing.T) {
	t.Parallel()
	clock := harness.NewClock(t)
	o := operate(t, harness.WithClock(clock))
	namespace := *o.project("dev").Spec.Namespace
	p := plantOf(namespace, "a", "access")
	o.create(p)
	held(o, p, "core.gardener.cloud/plant", "GCM-PLANT-1: a plant is held")
	o.says(p, `no Secret "access"`, "GCM-PLANT-2: a Plant without its Secret says so")

	secret := &corev1.Secret{ObjectMeta: named(namespace, "access"), Data: reaching(o.Server)}
	o.create(secret)
	o.says(p, "address is not allowed", "GCM-PLANT-4: a new Secret reaches its Plant, and the garden does not connect to itself")
	held(o, secret, "core.gardener.cloud/plant", "GCM-PLANT-1: the Secret is held, too")
	o.change(secret, func() { secret.Data = reaching("https://plant.invalid") })
	o.says(p, "cannot be reached", "GCM-PLANT-4: a changed Secret reaches its Plant")

	before := &gardencorev1beta1.Plant{}
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(p), before); err != nil {
		t.Fatal(err)
	}
	o.changeStatus(p, func() { p.Status.Conditions = nil })
	clock.Step(time.Minute)
	o.says(p, "cannot be reached", "GCM-PLANT-1: a plant is looked at again after a while")

	other := &corev1.Secret{ObjectMeta: named(namespace, "other"), Data: reaching("https://[::ffff:127.0.0.1]:443")}
	o.create(other)
	o.change(p, func() { p.Spec.SecretRef.Name = "other" })
	o.says(p, "address is not allowed", "GCM-PLANT-2: another Secret is used at once")
	harness.Await(t, o.Client, secret, "GCM-PLANT-4: a Secret that is not used any more is free", func(s *corev1.Secret) error {
		return has(len(s.Finalizers) == 0, "finalizers %v", s.Finalizers)
	})

	o.delete(other)
	o.read(other)
	o.delete(p)
	o.gone(p, "GCM-PLANT-4: the Plant goes")
	o.gone(other, "GCM-PLANT-4: and its Secret is free to go")
}
