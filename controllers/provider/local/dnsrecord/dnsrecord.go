// SPDX-License-Identifier: Apache-2.0

// Package dnsrecord publishes the DNS records of a shoot. Where the seed has a name server for them (see package nameserver), they are
// names for everything that asks it: pods of the seed, machines, and pods of shoots. Elsewhere they are lines of a hosts file that every
// machine of the shoot mounts, so only names with addresses can be served there: no aliases and no wildcards.
package dnsrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/nameserver"
)

// ConfigMapName is the ConfigMap with the hosts file, in the namespace of the records.
const ConfigMapName = "dns-records"

// recheck is the time between two looks whether machines have a namespace yet.
const recheck = time.Second

// turn is the time until the next attempt if another record of the shoot is being written.
const turn = 200 * time.Millisecond

// Actor publishes records. Each run on one of a namespace renders all of them, so they wait for each other; those of others do not wait,
// because the cluster of a shoot may be slow to answer.
type Actor struct {
	engine.Access

	// Cloud returns where the machines of a shoot run.
	Cloud cloud.Find

	// busy has the namespaces whose records are being written.
	busy sync.Map
}

// Reconcile publishes the record in the seed, and in the cluster of the machines if that is another one.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, _ *engine.Cluster) error {
	return a.alone(object.Namespace, func() error {
		zone, err := a.publish(ctx, object)
		if err != nil {
			a.doubt(object, err)
			return err
		}
		a.report(object, zone)
		return nil
	})
}

// publish returns the zone that a name server has for the record; it is empty if there is none.
func (a *Actor) publish(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord) (string, error) {
	in, err := a.Cloud(ctx, object.Namespace)
	if err != nil {
		return "", fmt.Errorf("find the cloud of the machines: %w", err)
	}
	zone, err := a.ofSeed().Publish(ctx, object)
	if err != nil {
		return "", err
	}
	if exists, err := in.Exists(ctx); err != nil || !exists {
		return "", cmp.Or(in.Trouble(err), kit.Wait(recheck, "Waiting until there is a namespace for the machines"))
	}
	there := zone
	if in.Apart() {
		if there, err = ofCloud(in).Publish(ctx, object); ignoreForbidden(err) != nil {
			return "", in.Trouble(err)
		}
	}
	if zone == "" && there == "" {
		if err := Check(object); err != nil {
			return "", engine.ConfigurationProblem(err)
		}
	}
	return cmp.Or(zone, there), a.render(ctx, in, object.Namespace, there != "")
}

// conditionCreated tells whether a record exists (EXT-DNS-6).
const conditionCreated gardencorev1beta1.ConditionType = "Created"

// report says in the status where the record is.
func (a *Actor) report(object *gardenextensionsv1alpha1.DNSRecord, zone string) {
	message := "The record is in the hosts file of the machines"
	if zone != "" {
		message = "The name server of the cluster has the record"
	}
	a.say(object, gardencorev1beta1.Condition{Status: gardencorev1beta1.ConditionTrue, Reason: "RecordCreated", Message: message})
	object.Status.Zone = new(cmp.Or(zone, Zone(object)))
}

// doubt says in the status that a new record does not exist, because it is refused, or that nobody knows. One that was made before exists as it
// was then.
func (a *Actor) doubt(object *gardenextensionsv1alpha1.DNSRecord, err error) {
	before := query.FindCondition(object.GetExtensionStatus().Conditions, conditionCreated)
	if !kit.IsFailure(err) || before != nil && before.Status == gardencorev1beta1.ConditionTrue {
		return
	}
	condition := gardencorev1beta1.Condition{Status: gardencorev1beta1.ConditionUnknown, Reason: "RecordUnknown", Message: err.Error()}
	if slices.Contains(operation.Codes(err), gardencorev1beta1.ErrorCodeConfigurationProblem) {
		condition.Status, condition.Reason = gardencorev1beta1.ConditionFalse, "RecordRefused"
	}
	a.say(object, condition)
}

func (a *Actor) say(object *gardenextensionsv1alpha1.DNSRecord, condition gardencorev1beta1.Condition) {
	condition.Type = conditionCreated
	status := object.GetExtensionStatus()
	status.Conditions = kit.SetCondition(status.Conditions, condition, a.Seed.Clock.Now())
}

// Zone is the zone of a record where there is no name server: the one that it names, or the one that it is in already. All other names are
// in one that is named after the provider (EXT-DNS-4).
func Zone(record *gardenextensionsv1alpha1.DNSRecord) string {
	return cmp.Or(ptr.Deref(record.Spec.Zone, ""), ptr.Deref(record.Status.Zone, ""), engine.Type)
}

// Delete withdraws the record. Where there are no machines any more, there is no hosts file; when the shoot is deleted by force, it stays in
// a cluster that cannot be asked.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, cluster *engine.Cluster) error {
	return a.alone(object.Namespace, func() error {
		served, err := a.ofSeed().Withdraw(ctx, object)
		if err != nil {
			return err
		}
		err = a.withdrawFromCloud(ctx, object, served)
		if errors.Is(err, cloud.ErrForeign) || (cluster.ForceDeleted() && kit.IsFailure(err)) {
			return nil
		}
		return cloud.Unsolvable(err, cluster)
	})
}

// withdrawFromCloud takes the record away from the machines. served says whether the seed has a name server.
func (a *Actor) withdrawFromCloud(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, served bool) error {
	in, err := a.Cloud(ctx, object.Namespace)
	if err != nil {
		return fmt.Errorf("find the cloud of the machines: %w", err)
	}
	exists, err := in.Exists(ctx)
	if err != nil {
		return in.Trouble(err)
	}
	if in.Apart() {
		if served, err = ofCloud(in).Withdraw(ctx, object); ignoreForbidden(err) != nil {
			return in.Trouble(err)
		}
	}
	if !exists {
		return nil
	}
	return a.render(ctx, in, object.Namespace, served)
}

// Migrate withdraws the record from the name server of a seed that the shoot leaves: its control plane is elsewhere from now on, and the
// server of the next seed has the record. What the machines have stays as long as they exist: the hosts file goes with the namespace, and in
// the name server of another cluster the next seed finds the record as its own.
func (a *Actor) Migrate(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, _ *engine.Cluster) error {
	_, err := a.ofSeed().Withdraw(ctx, object)
	return err
}

// alone acts on the records of a namespace, unless somebody does so already.
func (a *Actor) alone(namespace string, act func() error) error {
	if _, taken := a.busy.LoadOrStore(namespace, true); taken {
		return kit.Wait(turn, "Waiting for another record of the shoot")
	}
	defer a.busy.Delete(namespace)
	return act()
}

// ofSeed is the name server of the seed. All DNSRecords that write into it are in the seed.
func (a *Actor) ofSeed() nameserver.Server {
	return nameserver.Server{Reader: a.Reader, Writer: a.Seed.Client, Exists: func(ctx context.Context, key client.ObjectKey) (bool, error) {
		err := a.Reader.Get(ctx, key, &gardenextensionsv1alpha1.DNSRecord{})
		if err := client.IgnoreNotFound(err); err != nil {
			return false, fmt.Errorf("look for DNS record %q: %w", key, err)
		}
		return err == nil, nil
	}}
}

// ofCloud is the name server of the cluster of the machines.
func ofCloud(in cloud.Cloud) nameserver.Server {
	return nameserver.Server{Reader: in, Writer: in}
}

// ignoreForbidden is for another cluster, whose user need not have a right to its name server. Its machines have a hosts file then.
func ignoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// render writes the hosts file of all records in the namespace. It is empty where a name server has them: nothing on a machine looks up a
// name before it can ask that server, and a file would hide a changed record from what runs.
func (a *Actor) render(ctx context.Context, in cloud.Cloud, namespace string, served bool) error {
	var live []gardenextensionsv1alpha1.DNSRecord
	if !served {
		list := &gardenextensionsv1alpha1.DNSRecordList{}
		if err := a.Reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list DNS records: %w", err)
		}
		for _, record := range list.Items {
			if record.Spec.Type == engine.Type && record.DeletionTimestamp == nil {
				live = append(live, record)
			}
		}
	}
	if err := in.Engine(a.Seed.Clock).Apply(ctx, ConfigMap(in.Namespace, Hosts(live))); err != nil {
		return fmt.Errorf("write hosts file: %w", in.Trouble(err))
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

const hostsHeader = `# Kept by provider-local. Machines see it as /etc/hosts.
127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
`

// Hosts renders the hosts file for the records. The order of the records does not matter.
func Hosts(records []gardenextensionsv1alpha1.DNSRecord) string {
	var lines []string
	for _, record := range records {
		if Check(&record) != nil || record.Spec.RecordType == gardenextensionsv1alpha1.DNSRecordTypeTXT {
			continue
		}
		for _, value := range record.Spec.Values {
			lines = append(lines, value+"\t"+strings.TrimSuffix(record.Spec.Name, "."))
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) == 0 {
		return hostsHeader
	}
	return hostsHeader + strings.Join(lines, "\n") + "\n"
}

// Check returns why a record cannot be served by a hosts file. TXT records are accepted but not served, because no machine of a local shoot
// needs them.
func Check(record *gardenextensionsv1alpha1.DNSRecord) error {
	spec := &record.Spec
	switch spec.RecordType {
	case gardenextensionsv1alpha1.DNSRecordTypeTXT:
		return nil
	case gardenextensionsv1alpha1.DNSRecordTypeA, gardenextensionsv1alpha1.DNSRecordTypeAAAA:
	default:
		return fmt.Errorf("record %q: without a name server in the seed there are no records of type %q, only A, AAAA and TXT", spec.Name, spec.RecordType)
	}
	if strings.Contains(spec.Name, "*") {
		return fmt.Errorf("record %q: without a name server in the seed there are no wildcards", spec.Name)
	}
	for _, value := range spec.Values {
		if _, err := netip.ParseAddr(value); err != nil {
			return fmt.Errorf("record %q: %q is not an IP address", spec.Name, value)
		}
	}
	// What a zone file cannot have, this file cannot have either: a name or a zone of an address could have lines of its own.
	_, err := nameserver.Of(spec)
	return err
}
