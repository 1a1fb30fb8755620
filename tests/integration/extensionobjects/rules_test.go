// SPDX-License-Identifier: Apache-2.0

package extensionobjects_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension/policy"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// write is a change of a valid object, and what is said about it; nothing if it is taken.
type write struct {
	reason  string
	object  gardenextensionsv1alpha1.Object
	change  func()
	refused string
}

// change makes a write of a fresh object.
func change[T gardenextensionsv1alpha1.Object](fresh T, do func(T), reason, refused string) write {
	return write{reason: reason, object: fresh, change: func() { do(fresh) }, refused: refused}
}

func (w write) check(t *testing.T, err error) {
	t.Helper()
	switch {
	case w.refused == "" && err != nil:
		t.Errorf("%s\nThe object is refused: %v", w.reason, err)
	case w.refused != "" && (err == nil || !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), w.refused)):
		t.Errorf("%s\nThe answer is %v, want a refusal with %q", w.reason, err, w.refused)
	}
}

// TestRules tries what an API server says to extension objects (GRM-WH-VAL-1).
func TestRules(t *testing.T) {
	t.Parallel()
	garden := startSeed(t)
	t.Run("Required", func(t *testing.T) { t.Parallel(); required(t, garden) })
	t.Run("Immutable", func(t *testing.T) { t.Parallel(); immutable(t, garden) })
	t.Run("Records", func(t *testing.T) { t.Parallel(); records(t, garden) })
	t.Run("Deletion", func(t *testing.T) { t.Parallel(); deletion(t, garden) })
}

// required creates objects that lack something (EXT-OBJ-4).
func required(t *testing.T, garden *harness.Garden) {
	t.Helper()
	writes := []write{
		change(backupBucket(), func(o *gardenextensionsv1alpha1.BackupBucket) { o.Spec.Region = "" }, "A bucket is in a region.", "spec.region"),
		change(backupBucket(), func(o *gardenextensionsv1alpha1.BackupBucket) { o.Spec.SecretRef.Name = "" }, "It is made with credentials.", "the name of the Secret is required"),
		change(backupEntry(), func(o *gardenextensionsv1alpha1.BackupEntry) { o.Spec.Region = "" }, "An entry is in a region.", "spec.region"),
		change(backupEntry(), func(o *gardenextensionsv1alpha1.BackupEntry) { o.Spec.SecretRef.Name = "" }, "It is reached with credentials.", "the name of the Secret is required"),
		change(backupEntry(), func(o *gardenextensionsv1alpha1.BackupEntry) { o.Spec.BucketName = "" }, "It is in a bucket.", "spec.bucketName"),
		change(bastion(), func(o *gardenextensionsv1alpha1.Bastion) { o.Spec.UserData = []byte{} }, "A host without user data lets nobody in.", "spec.userData"),
		change(bastion(), func(o *gardenextensionsv1alpha1.Bastion) {
			o.Spec.Ingress = []gardenextensionsv1alpha1.BastionIngressPolicy{}
		}, "Nobody reaches it.", "spec.ingress"),
		change(bastion(), func(o *gardenextensionsv1alpha1.Bastion) { o.Spec.Ingress[0].IPBlock.CIDR = "10.0.0.300/8" }, "This is no range.", "ranges in CIDR notation"),
		change(bastion(), func(o *gardenextensionsv1alpha1.Bastion) { o.Spec.Ingress[0].IPBlock.Except[0] = "10.0.0.1" }, "Nor is this.", "ranges in CIDR notation"),
		change(containerRuntime(), func(o *gardenextensionsv1alpha1.ContainerRuntime) { o.Spec.BinaryPath = "" }, "Programs go somewhere.", "spec.binaryPath"),
		change(containerRuntime(), func(o *gardenextensionsv1alpha1.ContainerRuntime) { o.Spec.WorkerPool.Name = "" }, "It is for a pool.", "spec.workerPool.name"),
		change(controlPlane(), func(o *gardenextensionsv1alpha1.ControlPlane) { o.Spec.Region = "" }, "A control plane is for a region.", "spec.region"),
		change(controlPlane(), func(o *gardenextensionsv1alpha1.ControlPlane) { o.Spec.SecretRef = corev1.SecretReference{} }, "It has credentials.", "the name of the Secret is required"),
		change(infrastructure(), func(o *gardenextensionsv1alpha1.Infrastructure) { o.Spec.Region = "" }, "So has an infrastructure a region.", "spec.region"),
		change(infrastructure(), func(o *gardenextensionsv1alpha1.Infrastructure) { o.Spec.SecretRef.Name = "" }, "And credentials.", "the name of the Secret is required"),
		change(network(), func(o *gardenextensionsv1alpha1.Network) { o.Spec.PodCIDR = "" }, "A network has a range for pods.", "spec.podCIDR"),
		change(network(), func(o *gardenextensionsv1alpha1.Network) { o.Spec.ServiceCIDR = "10.4.0.0" }, "And one for Services.", "spec.serviceCIDR"),
		change(network(), func(o *gardenextensionsv1alpha1.Network) { o.Spec.ServiceCIDR = "10.3.128.0/17" }, "They are apart.", "must not overlap"),
		change(network(), func(o *gardenextensionsv1alpha1.Network) { o.Spec.PodCIDR = "10.4.0.7/12" }, "Also the other way round, and with bits of a host.", "must not overlap"),
		change(network(), func(o *gardenextensionsv1alpha1.Network) {
			o.Spec.PodCIDR, o.Spec.ServiceCIDR = "2001:db8:1::/56", "2001:db8:2::/108"
		}, "Both may be of the other family.", ""),
		change(operatingSystemConfig(), func(o *gardenextensionsv1alpha1.OperatingSystemConfig) { o.Spec.Purpose = "repair" }, "There are two purposes.", "spec.purpose"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Region = "" }, "Machines are in a region.", "spec.region"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.SecretRef.Name = "" }, "They are made with credentials.", "the name of the Secret is required"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools[0].Name = "" }, "A pool has a name.", "spec.pools[0].name"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools[0].MachineType = "" }, "Its machines have a type.", "spec.pools[0].machineType"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools[0].MachineImage.Name = "" }, "And an image.", "version of the machine image"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools[0].MachineImage.Version = "" }, "In a version.", "version of the machine image"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools[0].UserDataSecretRef.Name = "" }, "And user data.", "the Secret with the user data"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools[0].UserDataSecretRef.Key = "" }, "Under a key.", "the Secret with the user data"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools = []gardenextensionsv1alpha1.WorkerPool{} }, "There may be no pool.", ""),
	}
	for _, object := range all() {
		writes = append(writes, change(object, func(gardenextensionsv1alpha1.Object) {}, "Nothing is missing.", ""))
	}
	for _, object := range all() {
		writes = append(writes, change(object, func(o gardenextensionsv1alpha1.Object) { o.GetExtensionSpec().Type = "" }, "Every object has a type.", "spec.type"))
	}
	for _, object := range all() {
		other := new(gardenextensionsv1alpha1.ExtensionClass("planet"))
		writes = append(writes, change(object, func(o gardenextensionsv1alpha1.Object) { o.GetExtensionSpec().Class = other }, "Classes are known.", "garden, seed or shoot"))
	}
	for i, w := range writes {
		t.Run(fmt.Sprintf("%T/%d", w.object, i), func(t *testing.T) {
			t.Parallel()
			w.change()
			w.check(t, garden.Client.Create(t.Context(), w.object))
		})
	}
}

// immutable changes objects that exist (EXT-OBJ-5, EXT-CLASS-1).
func immutable(t *testing.T, garden *harness.Garden) {
	t.Helper()
	writes := []write{
		change(backupBucket(), func(o *gardenextensionsv1alpha1.BackupBucket) { o.Spec.Region = "moon" }, "A bucket stays.", "the region cannot change"),
		change(backupEntry(), func(o *gardenextensionsv1alpha1.BackupEntry) { o.Spec.Region = "moon" }, "Entries are moved with the credentials of another bucket.", ""),
		change(bastion(), func(o *gardenextensionsv1alpha1.Bastion) { o.Spec.UserData = []byte("#!/bin/bash") }, "A host runs it once.", "the user data of a bastion cannot change"),
		change(bastion(), func(o *gardenextensionsv1alpha1.Bastion) { o.Spec.Ingress[0].IPBlock.CIDR = "10.0.0.0/9" }, "Ranges may.", ""),
		change(containerRuntime(), func(o *gardenextensionsv1alpha1.ContainerRuntime) { o.Spec.WorkerPool.Name = "other" }, "Another pool has another object.", "the worker pool cannot change"),
		change(controlPlane(), func(o *gardenextensionsv1alpha1.ControlPlane) { o.Spec.Region = "moon" }, "Shoots stay.", "the region cannot change"),
		change(controlPlane(), func(o *gardenextensionsv1alpha1.ControlPlane) { o.Spec.SecretRef.Name = "other" }, "Credentials may.", ""),
		change(infrastructure(), func(o *gardenextensionsv1alpha1.Infrastructure) { o.Spec.Region = "moon" }, "Shoots stay.", "the region cannot change"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Region = "moon" }, "Shoots stay.", "the region cannot change"),
		change(worker(), func(o *gardenextensionsv1alpha1.Worker) { o.Spec.Pools[0].MachineType = "big" }, "Pools change.", ""),
		change(network(), func(o *gardenextensionsv1alpha1.Network) { o.Spec.PodCIDR = "10.8.0.0/16" }, "Pods keep their addresses.", "the range of the pods cannot change"),
		change(network(), func(o *gardenextensionsv1alpha1.Network) { o.Spec.ServiceCIDR = "10.8.0.0/16" }, "So do Services.", "the range of the Services cannot change"),
		change(operatingSystemConfig(), func(o *gardenextensionsv1alpha1.OperatingSystemConfig) {
			o.Spec.Purpose = gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile
		}, "The name says the purpose.", "the purpose cannot change"),
		change(dnsRecord(), func(o *gardenextensionsv1alpha1.DNSRecord) { o.Spec.Name = "api.other.example.org" }, "Another name is another record.", "the name of a DNS record cannot change"),
		change(dnsRecord(), func(o *gardenextensionsv1alpha1.DNSRecord) {
			o.Spec.RecordType = gardenextensionsv1alpha1.DNSRecordTypeTXT
		}, "So is another type.", "the record type cannot change"),
		change(dnsRecord(), func(o *gardenextensionsv1alpha1.DNSRecord) { o.Spec.Values[0] = "10.0.0.2" }, "Values may.", ""),
	}
	classes := map[string]gardenextensionsv1alpha1.ExtensionClass{
		"": gardenextensionsv1alpha1.ExtensionClassShoot, "the class of an extension object cannot change": gardenextensionsv1alpha1.ExtensionClassSeed,
	}
	for _, object := range all() {
		writes = append(writes, change(object, func(o gardenextensionsv1alpha1.Object) { o.GetExtensionSpec().Type = "other" }, "Another extension would take it.", "the type of an extension object cannot change"))
	}
	for refused, class := range classes {
		for _, object := range all() {
			writes = append(writes, change(object, func(o gardenextensionsv1alpha1.Object) { o.GetExtensionSpec().Class = &class }, "Without a class it is that of shoots.", refused))
		}
	}
	writes = append(writes, change(inClass(gardenextensionsv1alpha1.ExtensionClassSeed), func(o *gardenextensionsv1alpha1.Extension) { o.Spec.Class = nil }, "No class is one, too.", "the class of an extension object cannot change"))
	for i, w := range writes {
		t.Run(fmt.Sprintf("%T/%d", w.object, i), func(t *testing.T) {
			t.Parallel()
			if err := garden.Client.Create(t.Context(), w.object); err != nil {
				t.Fatal(err)
			}
			w.change()
			w.check(t, garden.Client.Update(t.Context(), w.object))
		})
	}
}

func inClass(class gardenextensionsv1alpha1.ExtensionClass) *gardenextensionsv1alpha1.Extension {
	object := addOn()
	object.Spec.Class = &class
	return object
}

// records creates DNS records (EXT-OBJ-6).
func records(t *testing.T, garden *harness.Garden) {
	t.Helper()
	type dns = gardenextensionsv1alpha1.DNSRecord
	of := func(kind gardenextensionsv1alpha1.DNSRecordType, values ...string) func(*dns) {
		return func(o *dns) { o.Spec.RecordType, o.Spec.Values = kind, values }
	}
	named := func(name string) func(*dns) { return func(o *dns) { o.Spec.Name = name } }
	writes := []write{
		change(dnsRecord(), named("*.ingress.sprout.example.org"), "A record may stand for all names below another.", ""),
		change(dnsRecord(), named("api.sprout.example.org."), "A name may end at the root.", ""),
		change(dnsRecord(), named("_acme-challenge.example.org"), "Names of services begin with an underscore.", ""),
		change(dnsRecord(), named("localhost"), "A single label is no full name.", "spec.name"),
		change(dnsRecord(), named("a.*.example.org"), "A star stands in front.", "spec.name"),
		change(dnsRecord(), named("api..example.org"), "Labels are not empty.", "spec.name"),
		change(dnsRecord(), named(strings.Repeat("a", 64)+".example.org"), "Labels have 63 characters.", "spec.name"),
		change(dnsRecord(), named(strings.Repeat("a.", 130)+"org"), "Names have 253.", "spec.name"),
		change(dnsRecord(), named(""), "A record has a name.", "spec.name"),
		change(dnsRecord(), of("MX", "mail.example.org"), "Other types are not known.", "spec.recordType"),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeA), "A record has a value.", "spec.values"),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeA, "10.0.0.1", "elb.example.org"), "A name is no address.", "must be IP addresses"),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeAAAA, "2001:db8::1"), "Addresses may be long.", ""),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeAAAA, "2001:db8::g"), "But not that long.", "must be IP addresses"),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeCNAME, "ELB-1.eu.example.org"), "A name points to a name.", ""),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeCNAME, "a.example.org", "b.example.org"), "But to one.", "exactly one value"),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeCNAME, "elb"), "That is full.", "fully qualified domain name"),
		change(dnsRecord(), of(gardenextensionsv1alpha1.DNSRecordTypeTXT, "any text", "and more"), "Texts are free.", ""),
		change(dnsRecord(), func(o *dns) { o.Spec.SecretRef.Name = "" }, "A record is made with credentials.", "the name of the Secret is required"),
		change(dnsRecord(), func(o *dns) { o.Spec.Region = new("") }, "A region that is given has a name.", "spec.region"),
		change(dnsRecord(), func(o *dns) { o.Spec.Zone = new("") }, "So has a zone.", "spec.zone"),
		change(dnsRecord(), func(o *dns) { o.Spec.TTL = new(int64(-1)) }, "A time is not negative.", "spec.ttl"),
		change(dnsRecord(), func(o *dns) { o.Spec.TTL = new(int64(1) << 31) }, "And fits into 31 bits.", "spec.ttl"),
		change(dnsRecord(), func(o *dns) { o.Spec.TTL = new(int64(0)) }, "But nobody may keep it.", ""),
	}
	for i, w := range writes {
		t.Run(fmt.Sprintf("%d/%s", i, w.reason), func(t *testing.T) {
			t.Parallel()
			w.change()
			w.check(t, garden.Client.Create(t.Context(), w.object))
		})
	}
}

// deletion changes objects that are being deleted: their specs are frozen, all else is not (EXT-OBJ-5).
func deletion(t *testing.T, garden *harness.Garden) {
	t.Helper()
	for _, object := range all() {
		t.Run(fmt.Sprintf("%T", object), func(t *testing.T) {
			t.Parallel()
			if err := garden.Client.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			frozen := func(configuration, refused string) {
				t.Helper()
				changed, _ := object.DeepCopyObject().(gardenextensionsv1alpha1.Object)
				changed.GetExtensionSpec().ProviderConfig = &runtime.RawExtension{Raw: []byte(configuration)}
				w := write{reason: "The configuration changes until the deletion.", refused: refused}
				w.check(t, garden.Client.Update(t.Context(), changed))
				if err := garden.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
					t.Fatal(err)
				}
			}
			frozen(`{"kind":"A"}`, "")
			if err := garden.Client.Delete(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if err := garden.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			frozen(`{"kind":"B"}`, "cannot change while the object is being deleted")
			object.SetAnnotations(map[string]string{gardencorev1beta1.AnnotationOperation: gardencorev1beta1.OperationReconcile})
			if err := garden.Client.Update(t.Context(), object); err != nil {
				t.Errorf("A gardenlet can still ask for the deletion: %v", err)
			}
			object.GetExtensionStatus().LastOperation = &gardencorev1beta1.LastOperation{
				Type: gardencorev1beta1.LastOperationTypeDelete, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100, LastUpdateTime: metav1.Now(),
			}
			if err := garden.Client.Status().Update(t.Context(), object); err != nil {
				t.Errorf("An extension tells how the deletion goes: %v", err)
			}
			object.SetFinalizers(nil)
			if err := garden.Client.Update(t.Context(), object); err != nil {
				t.Errorf("And releases the object: %v", err)
			}
		})
	}
}

// TestOlderThanPolicy has a bastion that was made without the policy and violates it: it can still be annotated and released, so that its
// deletion ends, but its spec cannot become another bad one (EXT-OBJ-4).
func TestOlderThanPolicy(t *testing.T) {
	t.Parallel()
	garden := startSeed(t)
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}}
	if err := garden.Client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	old := everywhere()
	harness.Eventually(t, "the policy does not act", func(ctx context.Context) error { return garden.Client.Create(ctx, old) })
	applySeed(t, garden)
	awaitPolicy(t, garden)
	worse := old.DeepCopy()
	worse.Spec.Ingress[0].IPBlock.CIDR = "elsewhere"
	write{reason: "Another range is looked at.", refused: "ranges in CIDR notation"}.check(t, garden.Client.Update(t.Context(), worse))
	old.Annotations = map[string]string{gardencorev1beta1.AnnotationOperation: gardencorev1beta1.OperationReconcile}
	write{reason: "A gardenlet asks for the deletion."}.check(t, garden.Client.Update(t.Context(), old))
	if err := garden.Client.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := garden.Client.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	old.Finalizers = nil
	write{reason: "The extension releases it."}.check(t, garden.Client.Update(t.Context(), old))
	if err := garden.Client.Get(t.Context(), client.ObjectKeyFromObject(old), old); !apierrors.IsNotFound(err) {
		t.Errorf("The bastion is still there: %v", err)
	}
}
