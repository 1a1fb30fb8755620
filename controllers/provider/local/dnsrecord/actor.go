// SPDX-License-Identifier: Apache-2.0

package dnsrecord

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// ConfigMapName is the ConfigMap with the hosts file, in the namespace of the records.
const ConfigMapName = "dns-records"

const zone = "local"

const conditionCreated gardencorev1beta1.ConditionType = "Created"

// Actor keeps the hosts file of a namespace. It must not run for two records at once: each run renders all of them.
type Actor struct {
	// Reader lists the records of the seed without a cache.
	Reader client.Reader
	// Seed applies objects in the seed.
	Seed deploy.Engine
	// Clock gives the times of conditions.
	Clock clock.PassiveClock
}

// Reconcile puts the record into the hosts file.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, _ *engine.Cluster) error {
	if err := Check(object); err != nil {
		return engine.ConfigurationProblem(err)
	}
	if err := a.render(ctx, object.Namespace); err != nil {
		return err
	}
	status := object.GetExtensionStatus()
	status.Conditions = kit.SetCondition(status.Conditions, gardencorev1beta1.Condition{
		Type:    conditionCreated,
		Status:  gardencorev1beta1.ConditionTrue,
		Reason:  "RecordCreated",
		Message: "The record is in the hosts file of the machines",
	}, a.Clock.Now())
	object.Status.Zone = new(zone)
	return nil
}

// Delete takes the record out of the hosts file. Records in deletion are not rendered.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, _ *engine.Cluster) error {
	return a.render(ctx, object.Namespace)
}

// Migrate does nothing: the file goes with the namespace, and the machines need it until then.
func (a *Actor) Migrate(context.Context, *gardenextensionsv1alpha1.DNSRecord, *engine.Cluster) error {
	return nil
}

// render writes the hosts file of all records in the namespace.
func (a *Actor) render(ctx context.Context, namespace string) error {
	list := &gardenextensionsv1alpha1.DNSRecordList{}
	if err := a.Reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list DNS records: %w", err)
	}
	var live []gardenextensionsv1alpha1.DNSRecord
	for _, record := range list.Items {
		if record.Spec.Type == engine.Type && record.DeletionTimestamp == nil {
			live = append(live, record)
		}
	}
	if err := a.Seed.Apply(ctx, ConfigMap(namespace, Hosts(live))); err != nil {
		return fmt.Errorf("write hosts file: %w", err)
	}
	return nil
}

// ConfigMap holds a hosts file for the machines of a namespace.
func ConfigMap(namespace, hosts string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ConfigMapName},
		Data:       map[string]string{machine.HostsKey: hosts},
	}
}
