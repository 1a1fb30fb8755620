// SPDX-License-Identifier: Apache-2.0

// Package dnsrecord publishes the DNS records of a shoot to its machines, as lines of a hosts file that every machine mounts. There is no
// name server, so only names with addresses can be served: no aliases and no wildcards.
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// ConfigMapName is the ConfigMap with the hosts file, in the namespace of the records.
const ConfigMapName = "dns-records"

// recheck is the time between two looks whether machines have a namespace yet.
const recheck = time.Second

// turn is the time between two looks whether another record is done.
const turn = 200 * time.Millisecond

// Actor writes the hosts file of a namespace. Each run renders all records, so those of one namespace wait for each other; those of others do
// not wait, because the cluster of a shoot may be slow to answer.
type Actor struct {
	engine.Access

	// Cloud returns where the machines of a shoot run.
	Cloud cloud.Find

	// busy has the namespaces whose file is being written.
	busy sync.Map
}

// Reconcile adds the record to the hosts file.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, _ *engine.Cluster) error {
	if err := Check(object); err != nil {
		return engine.ConfigurationProblem(err)
	}
	written, err := a.render(ctx, object.Namespace)
	if err != nil {
		return err
	}
	if !written {
		return kit.Wait(recheck, "Waiting until there is a namespace for the machines")
	}
	status := object.GetExtensionStatus()
	status.Conditions = kit.SetCondition(status.Conditions, gardencorev1beta1.Condition{
		Type:    "Created",
		Status:  gardencorev1beta1.ConditionTrue,
		Reason:  "RecordCreated",
		Message: "The record is in the hosts file of the machines",
	}, a.Seed.Clock.Now())
	object.Status.Zone = new(Zone(object))
	return nil
}

// Zone is the zone of a record: the one that it names, or the one that it is in already. There is no name server with zones of its own, so
// all other names are in one that is named after the provider (EXT-DNS-4).
func Zone(record *gardenextensionsv1alpha1.DNSRecord) string {
	return cmp.Or(ptr.Deref(record.Spec.Zone, ""), ptr.Deref(record.Status.Zone, ""), engine.Type)
}

// Delete removes the record from the hosts file. Records that are being deleted are not rendered. Where there are no machines any more,
// there is no file; when the shoot is deleted by force, it stays in a cluster that cannot be asked.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord, cluster *engine.Cluster) error {
	_, err := a.render(ctx, object.Namespace)
	if errors.Is(err, cloud.ErrForeign) || cluster.ForceDeleted() {
		return nil
	}
	return cloud.Unsolvable(err, cluster)
}

// Migrate does nothing: machines need the file as long as they exist, and it is deleted with the namespace.
func (a *Actor) Migrate(context.Context, *gardenextensionsv1alpha1.DNSRecord, *engine.Cluster) error {
	return nil
}

// render writes the hosts file of all records in the namespace. It reports whether there is a place for it.
func (a *Actor) render(ctx context.Context, namespace string) (bool, error) {
	if _, taken := a.busy.LoadOrStore(namespace, true); taken {
		return false, kit.Wait(turn, "Waiting for another record of the shoot")
	}
	defer a.busy.Delete(namespace)
	in, err := a.Cloud(ctx, namespace)
	if err != nil {
		return false, fmt.Errorf("find the cloud of the machines: %w", err)
	}
	if exists, err := in.Exists(ctx); !exists {
		return false, in.Trouble(err)
	}
	list := &gardenextensionsv1alpha1.DNSRecordList{}
	if err := a.Reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return false, fmt.Errorf("list DNS records: %w", err)
	}
	var live []gardenextensionsv1alpha1.DNSRecord
	for _, record := range list.Items {
		if record.Spec.Type == engine.Type && record.DeletionTimestamp == nil {
			live = append(live, record)
		}
	}
	if err := in.Engine(a.Seed.Clock).Apply(ctx, ConfigMap(in.Namespace, Hosts(live))); err != nil {
		return false, fmt.Errorf("write hosts file: %w", in.Trouble(err))
	}
	return true, nil
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

// Check returns why a record cannot be served. TXT records are accepted but not served, because no machine of a local shoot needs them.
func Check(record *gardenextensionsv1alpha1.DNSRecord) error {
	spec := &record.Spec
	switch spec.RecordType {
	case gardenextensionsv1alpha1.DNSRecordTypeTXT:
		return nil
	case gardenextensionsv1alpha1.DNSRecordTypeA, gardenextensionsv1alpha1.DNSRecordTypeAAAA:
	default:
		return fmt.Errorf("record %q: local DNS does not serve records of type %q, only A, AAAA and TXT", spec.Name, spec.RecordType)
	}
	if strings.Contains(spec.Name, "*") {
		return fmt.Errorf("record %q: local DNS does not serve wildcards", spec.Name)
	}
	for _, value := range spec.Values {
		if _, err := netip.ParseAddr(value); err != nil {
			return fmt.Errorf("record %q: %q is not an IP address", spec.Name, value)
		}
	}
	return nil
}
