// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// bindings gives a project bindings to one account: each refers to the Quota of its name, and "free" to none.
func (o *operator) bindings(namespace string, processors map[string]string) {
	o.t.Helper()
	free := boundTo(namespace, "account", "cloud")
	free.Name = "free"
	o.create(unowned(namespace, "account"), free)
	for name, most := range processors {
		quota, binding := limit(namespace, name, nil), boundTo(namespace, "account", "cloud")
		quota.Spec.Metrics = corev1.ResourceList{"cpu": resource.MustParse(most)}
		binding.Name, binding.Quotas = name, []corev1.ObjectReference{{Namespace: namespace, Name: name}}
		o.create(quota, binding)
	}
}

func unowned(namespace, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: named(namespace, name)}
}

// TestQuotaAtOnce wants more of Quotas than there is, from many sides at once: with new shoots, with shoots that grow, and with
// shoots that move to a binding with a Quota. Each shoot takes 4 processors.
func TestQuotaAtOnce_API_QUOTA_4(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("cloud")
	namespace := *o.project("dev").Spec.Namespace
	o.bindings(namespace, map[string]string{"new": "20", "grow": "44", "move": "12"})
	patch := func(format string, args ...any) func(client.Object) error {
		return func(object client.Object) error {
			return o.Client.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, format, args...)))
		}
	}
	shoots := func(prefix, binding string) func(n int) client.Object {
		return func(n int) client.Object {
			return o.shoot(namespace, fmt.Sprintf("%s%d", prefix, n), "cloud", withWorker(binding), unattended)
		}
	}

	o.atOnce(24, func(n int) client.Object {
		return ordered(namespace, fmt.Sprintf("n%d", n), cloudy, withWorker("new"), unattended)
	}, func(object client.Object) error { return o.Client.Create(t.Context(), object) }, 5, "is exceeded")

	worker := `{"name":"one","minimum":1,"maximum":2,"machine":{"type":"small"}}`
	grown := o.atOnce(8, shoots("g", "grow"), patch(`{"spec":{"provider":{"workers":[%s]}}}`, worker), 3, "is exceeded")
	if len(grown) != 3 {
		t.Errorf("%d shoots have grown", len(grown))
	}

	moved := o.atOnce(8, shoots("m", "free"), patch(`{"spec":{"credentialsBindingName":"move"}}`), 3, "is exceeded")

	o.confirm(moved[0])
	o.gone(moved[0], "a shoot that no gardenlet knows is deleted at once")
	late := o.shoot(namespace, "late", "cloud", withWorker("free"), unattended)
	if err := patch(`{"spec":{"credentialsBindingName":"move"}}`)(late); err != nil {
		t.Errorf("what a shoot that is gone has used is free: %v", err)
	}
}

func cloudy(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.CloudProfile.Name, shoot.Spec.Provider.Type = "cloud", "cloud"
}
