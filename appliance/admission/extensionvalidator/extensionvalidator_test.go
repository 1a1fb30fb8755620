// SPDX-License-Identifier: Apache-2.0

package extensionvalidator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/extensionvalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot        = gardencorev1beta1.Shoot
	seed         = gardencorev1beta1.Seed
	registration = gardencorev1beta1.ControllerRegistration
	offer        = gardencorev1beta1.ControllerResource
)

func extended(s *shoot) { s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "dns"}} }

func workerless(s *shoot) { s.Spec.Provider.Workers = nil }

func offering(all ...offer) []kind.Object {
	return []kind.Object{admissiontest.Registration("local"), admissiontest.Registration("more", func(r *registration) { r.Spec.Resources = all })}
}

func TestShoot(t *testing.T) {
	t.Parallel()
	plain := offering(offer{Kind: "Extension", Type: "dns", WorkerlessSupported: new(true), ClusterCompatibility: []gardencorev1beta1.ClusterType{"shoot"}})
	ask := func(change ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(change...)}
	}
	deleting := func(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) }
	admissiontest.Run(t, extensionvalidator.New, map[string]admissiontest.Case{
		"API-EXTVAL-3 offered": {Reason: "all is offered", Objects: plain, Request: ask()},
		"API-EXTVAL-4 missing": {
			Reason: "all that is missing is told at once", Request: ask(extended),
			Refused: []string{
				"what the shoot needs", "spec.extensions[0].type: Extension/dns", "spec.provider.type: ControlPlane/local", "spec.provider.type: Infrastructure/local",
				"spec.provider.type: Worker/local", "spec.networking.type: Network/local", "spec.provider.workers[0].machine.image.name: OperatingSystemConfig/local",
			},
		},
		"API-EXTVAL-1 helper": {
			Reason:  "who only helps does not count",
			Objects: []kind.Object{admissiontest.Registration("local", func(r *registration) { r.Spec.Resources[2].Primary = new(false) })},
			Request: ask(), Refused: []string{"spec.provider.type: Worker/local"},
		},
		"API-EXTVAL-1 unchanged": {Reason: "what is not new is not looked at", Request: admissiontest.Request{Object: admissiontest.Shoot(), Old: admissiontest.Shoot()}},
		"API-EXTVAL-1 changed":   {Reason: "a change is", Request: admissiontest.Request{Object: admissiontest.Shoot(extended), Old: admissiontest.Shoot()}, Refused: []string{"Extension/dns"}},
		"API-ADM-6 deleting":     {Reason: "what goes needs nothing", Request: ask(deleting)},
		"API-ADM-4 part":         {Reason: "a part of a shoot is asked about nothing", Request: admissiontest.Request{Object: admissiontest.Shoot(extended), Old: admissiontest.Shoot(), Subresource: "status"}},
		"API-EXTVAL-4 unknown":   {Reason: "nothing is offered while the registrations are unknown", Failing: "controllerregistrations", Request: ask()},
		"API-EXTVAL-3 runtime": {
			Reason: "container runtimes are extensions", Objects: plain,
			Request: ask(func(s *shoot) {
				s.Spec.Provider.Workers[0].CRI = &gardencorev1beta1.CRI{Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}}
			}),
			Refused: []string{"spec.provider.workers[0].cri.containerRuntimes[0].type: ContainerRuntime/gvisor"},
		},
		"API-EXTVAL-3 dns": {
			Reason: "DNS providers are extensions, but for unmanaged ones", Objects: plain,
			Request: ask(func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{Type: new("unmanaged")}, {Type: new("cloud")}, {}}}
			}),
			Refused: []string{"(register the extension first): spec.dns.providers[1].type: DNSRecord/cloud"},
		},
		"API-EXTVAL-3 disabled":   {Reason: "what is disabled is not needed", Objects: offering(), Request: ask(func(s *shoot) { s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "dns", Disabled: new(true)}} })},
		"API-EXTVAL-3 workerless": {Reason: "without workers no provider is needed", Request: ask(workerless)},
		"API-EXTVAL-3 supported":  {Reason: "an extension may work without workers", Objects: plain, Request: ask(workerless, extended)},
		"API-EXTVAL-3 unsupported": {
			Reason: "or not", Objects: offering(offer{Kind: "Extension", Type: "dns"}), Request: ask(workerless, extended), Refused: []string{"Extension/dns"},
		},
		"API-EXTVAL-4 for seeds": {
			Reason: "an extension for seeds is none for shoots", Objects: offering(offer{Kind: "Extension", Type: "dns", ClusterCompatibility: []gardencorev1beta1.ClusterType{"seed"}}),
			Request: ask(extended), Refused: []string{"Extension/dns"},
		},
	})
}

func TestSeed(t *testing.T) {
	t.Parallel()
	forSeeds := offering(offer{Kind: "Extension", Type: "dns", ClusterCompatibility: []gardencorev1beta1.ClusterType{"seed"}}, offer{Kind: "BackupBucket", Type: "cloud"}, offer{Kind: "BackupEntry", Type: "cloud"})
	ask := func(change ...func(*seed)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Seed("a", change...)}
	}
	rich := func(s *seed) {
		s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "cloud"}
		s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "dns"}}
	}
	admissiontest.Run(t, extensionvalidator.New, map[string]admissiontest.Case{
		"API-EXTVAL-2 plain":     {Reason: "any cluster may join", Request: ask()},
		"API-EXTVAL-2 offered":   {Reason: "what it needs is offered", Objects: forSeeds, Request: ask(rich)},
		"API-EXTVAL-2 missing":   {Reason: "or not", Request: ask(rich), Refused: []string{"what the seed needs", "spec.backup.provider: BackupBucket/cloud", "spec.backup.provider: BackupEntry/cloud", "spec.extensions[0].type: Extension/dns"}},
		"API-EXTVAL-2 changed":   {Reason: "a change is looked at", Request: admissiontest.Request{Object: admissiontest.Seed("a", rich), Old: admissiontest.Seed("a")}, Refused: []string{"Extension/dns"}},
		"API-ADM-6 deleting":     {Reason: "what goes needs nothing", Request: ask(rich, func(s *seed) { s.DeletionTimestamp = new(metav1.Now()) })},
		"API-EXTVAL-2 unchanged": {Reason: "a heartbeat costs nothing", Request: admissiontest.Request{Object: admissiontest.Seed("a", rich), Old: admissiontest.Seed("a", rich)}},
	})
}

// notes keeps the warnings of a request.
type notes []string

func (n *notes) AddWarning(_, text string) { *n = append(*n, text) }

func TestSeedProvider(t *testing.T) {
	t.Parallel()
	ask := func(objects ...kind.Object) notes {
		asking := admissiontest.Seed("a", func(s *seed) {
			s.Spec.Ingress, s.Spec.DNS.Provider = &gardencorev1beta1.Ingress{}, &gardencorev1beta1.SeedDNSProvider{Type: "cloud"}
		})
		g := admissiontest.New(t, nil, objects...)
		var told notes
		a := admission.NewAttributesRecord(asking, nil, gardencorev1beta1.GroupVersion.WithKind("Seed"), "", "a",
			gardencorev1beta1.GroupVersion.WithResource("seeds"), "", admission.Create, nil, false, nil)
		rule := extensionvalidator.New(g.World).(admission.ValidationInterface)
		if err := rule.Validate(warning.WithWarningRecorder(t.Context(), &told), a, nil); err != nil {
			t.Fatal(err)
		}
		return told
	}
	got := ask()
	for _, want := range []string{
		"spec.provider.type: no ControllerRegistration offers ControlPlane/local yet; until one does, no shoot can be made there",
		"spec.dns.provider.type: no ControllerRegistration offers DNSRecord/cloud yet; until one does, nobody makes the domain of its ingress known",
	} {
		if !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("API-EXTVAL-2: who joins first is told what is missing, got %q, want %q", got, want)
		}
	}
	if diff := cmp.Diff(notes(nil), ask(offering(offer{Kind: "DNSRecord", Type: "cloud"})...)); diff != "" {
		t.Errorf("API-EXTVAL-2: nothing is missing; warnings (-want +got):\n%s", diff)
	}
}

func TestBackups(t *testing.T) {
	t.Parallel()
	bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "cloud", Region: "north"}, SeedName: new("a"),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"},
	}}
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "e"}, Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b", SeedName: new("a")}}
	both := offering(offer{Kind: "BackupBucket", Type: "cloud"}, offer{Kind: "BackupEntry", Type: "cloud"})
	elsewhere, moved, goingBucket, goingEntry := bucket.DeepCopy(), entry.DeepCopy(), bucket.DeepCopy(), entry.DeepCopy()
	elsewhere.Spec.SeedName, moved.Spec.SeedName = new("b"), new("b")
	goingBucket.DeletionTimestamp, goingEntry.DeletionTimestamp = new(metav1.Now()), new(metav1.Now())
	admissiontest.Run(t, extensionvalidator.New, map[string]admissiontest.Case{
		"API-EXTVAL-2 bucket":           {Reason: "somebody makes buckets", Objects: both, Request: admissiontest.Request{Object: bucket}},
		"API-EXTVAL-2 bucket missing":   {Reason: "or not", Request: admissiontest.Request{Object: bucket}, Refused: []string{"spec.provider.type: BackupBucket/cloud"}},
		"API-EXTVAL-2 bucket unchanged": {Reason: "what is there stays", Request: admissiontest.Request{Object: bucket, Old: bucket.DeepCopy()}},
		"API-EXTVAL-2 bucket changed":   {Reason: "a change is looked at", Request: admissiontest.Request{Object: bucket, Old: elsewhere}, Refused: []string{"BackupBucket/cloud"}},
		"API-ADM-6 bucket deleting":     {Reason: "what goes needs nothing", Request: admissiontest.Request{Object: goingBucket}},
		"API-EXTVAL-2 entry unchanged":  {Reason: "an entry stays as well", Objects: []kind.Object{bucket}, Request: admissiontest.Request{Object: entry, Old: entry.DeepCopy()}},
		"API-EXTVAL-2 entry changed":    {Reason: "and is looked at when it changes", Objects: []kind.Object{bucket}, Request: admissiontest.Request{Object: entry, Old: moved}, Refused: []string{"BackupEntry/cloud"}},
		"API-ADM-6 entry deleting":      {Reason: "and may go", Objects: []kind.Object{bucket}, Request: admissiontest.Request{Object: goingEntry}},
		"API-EXTVAL-2 unknown":          {Reason: "an entry needs what is unknown", Failing: "backupbuckets", Request: admissiontest.Request{Object: entry}},
		"API-EXTVAL-2 entry":            {Reason: "somebody fills them", Objects: append(both, bucket), Request: admissiontest.Request{Object: entry}},
		"API-EXTVAL-2 entry missing":    {Reason: "or not", Objects: []kind.Object{bucket}, Request: admissiontest.Request{Object: entry}, Refused: []string{"spec.bucketName: BackupEntry/cloud"}},
		"API-EXTVAL-2 no bucket":        {Reason: "that the bucket exists is said elsewhere", Request: admissiontest.Request{Object: entry}},
	})
}
