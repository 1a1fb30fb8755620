// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestChanges_GCM_CR_1 has changes of the objects on which the extensions of a seed depend, and whether they start a computation.
func TestChanges_GCM_CR_1(t *testing.T) {
	t.Parallel()
	domain := func(change ...func(*metav1.PartialObjectMetadata)) client.Object {
		s := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "garden", Labels: map[string]string{"gardener.cloud/role": "default-domain"},
			Annotations: map[string]string{"dns.gardener.cloud/provider": "names", "dns.gardener.cloud/domain": "x.example"},
		}}
		for _, c := range change {
			c(s)
		}
		return s
	}
	entry := func(change func(*gardencorev1beta1.BackupEntry)) client.Object {
		e := &gardencorev1beta1.BackupEntry{Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "a", SeedName: new("one")}}
		change(e)
		return e
	}
	bucket := func(change func(*gardencorev1beta1.BackupBucket)) client.Object {
		b := &gardencorev1beta1.BackupBucket{Spec: gardencorev1beta1.BackupBucketSpec{SeedName: new("one")}}
		b.Spec.Provider.Type = "keep"
		change(b)
		return b
	}
	seed := func(change func(*gardencorev1beta1.Seed)) client.Object {
		s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
		change(s)
		return s
	}
	installation := func(conditions ...gardencorev1beta1.Condition) client.Object {
		return &gardencorev1beta1.ControllerInstallation{Status: gardencorev1beta1.ControllerInstallationStatus{Conditions: conditions}}
	}
	var (
		entries, buckets            = kit.Changed(entryFacts), kit.Changed(bucketFacts)
		seeds, installs, theDomains = seedChanges(), installationChanges(), domainChanges()
		anEntry                     = entry(func(*gardencorev1beta1.BackupEntry) {})
		aBucket                     = bucket(func(*gardencorev1beta1.BackupBucket) {})
		aSeed                       = seed(func(*gardencorev1beta1.Seed) {})
	)
	for reason, tc := range map[string]struct {
		of            predicate.Predicate
		before, after client.Object
		want          bool
	}{
		"an entry moves":                    {of: entries, before: anEntry, after: entry(func(e *gardencorev1beta1.BackupEntry) { e.Spec.SeedName = new("two") }), want: true},
		"an entry has left its seed":        {of: entries, before: anEntry, after: entry(func(e *gardencorev1beta1.BackupEntry) { e.Status.SeedName = new("one") }), want: true},
		"an entry has another bucket":       {of: entries, before: anEntry, after: entry(func(e *gardencorev1beta1.BackupEntry) { e.Spec.BucketName = "b" }), want: true},
		"an entry is backed up":             {of: entries, before: anEntry, after: entry(func(e *gardencorev1beta1.BackupEntry) { e.Generation = 2 })},
		"a bucket has another seed":         {of: buckets, before: aBucket, after: bucket(func(b *gardencorev1beta1.BackupBucket) { b.Spec.SeedName = new("two") }), want: true},
		"a bucket has another provider":     {of: buckets, before: aBucket, after: bucket(func(b *gardencorev1beta1.BackupBucket) { b.Spec.Provider.Type = "other" }), want: true},
		"a bucket has an error":             {of: buckets, before: aBucket, after: bucket(func(b *gardencorev1beta1.BackupBucket) { b.Status.LastError = &gardencorev1beta1.LastError{} })},
		"the spec of a seed changes":        {of: seeds, before: aSeed, after: seed(func(s *gardencorev1beta1.Seed) { s.Generation = 2 }), want: true},
		"the labels of a seed change":       {of: seeds, before: aSeed, after: seed(func(s *gardencorev1beta1.Seed) { s.Labels = map[string]string{"a": "b"} }), want: true},
		"a seed ends":                       {of: seeds, before: aSeed, after: seed(func(s *gardencorev1beta1.Seed) { s.DeletionTimestamp = new(metav1.Now()) }), want: true},
		"a seed sends a heartbeat":          {of: seeds, before: aSeed, after: seed(func(s *gardencorev1beta1.Seed) { s.Status.ObservedGeneration = 1 })},
		"an extension is required":          {of: installs, before: installation(), after: installation(gardencorev1beta1.Condition{Type: "Required", Status: "True"}), want: true},
		"an extension is healthy":           {of: installs, before: installation(), after: installation(gardencorev1beta1.Condition{Type: "Healthy", Status: "True"})},
		"a default domain is another one":   {of: theDomains, before: domain(), after: domain(func(s *metav1.PartialObjectMetadata) { s.Annotations["dns.gardener.cloud/domain"] = "y.example" }), want: true},
		"it has another provider":           {of: theDomains, before: domain(), after: domain(func(s *metav1.PartialObjectMetadata) { s.Annotations["dns.gardener.cloud/provider"] = "other" }), want: true},
		"it is the internal domain":         {of: theDomains, before: domain(), after: domain(func(s *metav1.PartialObjectMetadata) { s.Labels["gardener.cloud/role"] = "internal-domain" }), want: true},
		"it is a domain no more":            {of: theDomains, before: domain(), after: domain(func(s *metav1.PartialObjectMetadata) { s.Labels = nil }), want: true},
		"its credentials change":            {of: theDomains, before: domain(), after: domain(func(s *metav1.PartialObjectMetadata) { s.ResourceVersion = "2" })},
		"a domain of a seed is none of all": {of: theDomains, before: domain(func(s *metav1.PartialObjectMetadata) { s.Namespace = "seed-a" }), after: domain(func(s *metav1.PartialObjectMetadata) { s.Namespace, s.Annotations = "seed-a", nil })},
	} {
		if got := tc.of.Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
			t.Errorf("%s: starts a computation %t, want %t", reason, got, tc.want)
		}
	}
	if !installs.Delete(event.DeleteEvent{Object: installation()}) || installs.Create(event.CreateEvent{Object: installation()}) {
		t.Error("an extension that goes starts a computation, and one that comes is the outcome of one")
	}
	if plain := (&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden"}}); theDomains.Delete(event.DeleteEvent{Object: plain}) ||
		!theDomains.Delete(event.DeleteEvent{Object: domain()}) {
		t.Error("a domain that goes starts a computation, and another Secret does not")
	}
}

// TestSelfHostedChanges_GCM_CR_10 has events of shoots and of what may refer to them, and whether they start a computation.
func TestSelfHostedChanges_GCM_CR_10(t *testing.T) {
	t.Parallel()
	shoot := func(change ...func(*gardencorev1beta1.Shoot)) client.Object {
		s := &gardencorev1beta1.Shoot{}
		s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}}
		for _, c := range change {
			c(s)
		}
		return s
	}
	onSeed := func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].ControlPlane = nil }
	grown := func(s *gardencorev1beta1.Shoot) { s.Generation = 2 }
	changes := selfHostedChanges()
	for reason, tc := range map[string]struct{ got, want bool }{
		"a self-hosted shoot comes":       {changes.Create(event.CreateEvent{Object: shoot()}), true},
		"its spec changes":                {changes.Update(event.UpdateEvent{ObjectOld: shoot(), ObjectNew: shoot(grown)}), true},
		"its deletion begins":             {changes.Update(event.UpdateEvent{ObjectOld: shoot(), ObjectNew: shoot(func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.Now()) })}), true},
		"it reports":                      {changes.Update(event.UpdateEvent{ObjectOld: shoot(), ObjectNew: shoot(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "a" })}), false},
		"it is gone":                      {changes.Delete(event.DeleteEvent{Object: shoot()}), false},
		"a shoot on a seed comes":         {changes.Create(event.CreateEvent{Object: shoot(onSeed)}), false},
		"the spec of one on a seed grows": {changes.Update(event.UpdateEvent{ObjectOld: shoot(onSeed), ObjectNew: shoot(onSeed, grown)}), false},
		"an entry is of another shoot": {kit.Changed(entryFacts).Update(event.UpdateEvent{
			ObjectOld: &gardencorev1beta1.BackupEntry{}, ObjectNew: &gardencorev1beta1.BackupEntry{Spec: gardencorev1beta1.BackupEntrySpec{ShootRef: &corev1.ObjectReference{Name: "a"}}},
		}), true},
		"a bucket is of another shoot": {kit.Changed(bucketFacts).Update(event.UpdateEvent{
			ObjectOld: &gardencorev1beta1.BackupBucket{}, ObjectNew: &gardencorev1beta1.BackupBucket{Spec: gardencorev1beta1.BackupBucketSpec{ShootRef: &corev1.ObjectReference{Name: "a"}}},
		}), true},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: starts a computation %t, want %t", reason, tc.got, tc.want)
		}
	}
	if got := shootOfInstallation(&gardencorev1beta1.ControllerInstallation{}); got != nil {
		t.Errorf("an installation on a seed starts a computation for the shoots %v", got)
	}
}
