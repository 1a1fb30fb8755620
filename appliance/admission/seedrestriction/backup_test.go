// SPDX-License-Identifier: Apache-2.0

package seedrestriction_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

func bucket(seed string) *gardencorev1beta1.BackupBucket {
	b := &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	b.Spec.Provider = gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}
	b.Spec.SecretRef = &corev1.SecretReference{Namespace: "garden", Name: "backup"}
	b.Spec.CredentialsRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"}
	b.Spec.SeedName = &seed
	return b
}

func entry(name, bucket, seed string) *gardencorev1beta1.BackupEntry {
	e := &gardencorev1beta1.BackupEntry{ObjectMeta: named(meadow, name)}
	e.OwnerReferences = []metav1.OwnerReference{{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Name: "sprout", UID: "1"}}
	e.Spec.BucketName, e.Spec.SeedName = bucket, &seed
	return e
}

func restoring(s *gardencorev1beta1.Shoot) { last("Restore", "Processing")(s) }

func last(operation gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: operation, State: state, LastUpdateTime: metav1.NewTime(kindtest.Now())}
	}
}

func TestBackups(t *testing.T) {
	t.Parallel()
	rights := []string{north + " get secrets garden/backup"}
	foreign := func(b *gardencorev1beta1.BackupBucket) *gardencorev1beta1.BackupBucket {
		b.Spec.SecretRef = &corev1.SecretReference{Namespace: "garden-meadow", Name: "credentials"}
		return b
	}
	with := func(version, kind, namespace, name string) *gardencorev1beta1.BackupBucket {
		b := bucket("north")
		b.Spec.SecretRef, b.Spec.CredentialsRef = nil, &corev1.ObjectReference{APIVersion: version, Kind: kind, Namespace: namespace, Name: name}
		return b
	}
	naming, unnamed := []kind.Object{admissiontest.Seed("north", func(s *gardencorev1beta1.Seed) {
		s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: bucket("north").Spec.CredentialsRef}
	})}, []kind.Object{admissiontest.Seed("north")}
	const ours = "shoot--meadow--sprout--1"
	identified := func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID, s.Status.UID = "shoot--meadow--sprout", "1" }
	left := func(s *gardencorev1beta1.Shoot) { s.Status.SeedName = new("north") }
	sprout := admissiontest.Shoot(on("north"), identified)
	ownerless := entry(ours, "b", "north")
	ownerless.OwnerReferences = nil
	holding := func(finalizer string) *gardencorev1beta1.BackupEntry {
		e := entry(ours, "b", "north")
		e.Finalizers = []string{finalizer}
		return e
	}
	source := []kind.Object{bucket("south"), entry(ours, "b", "south"), admissiontest.Shoot(on("north"), identified, restoring)}
	seed := admissiontest.Seed("north", func(s *gardencorev1beta1.Seed) { s.UID = "11111111-1111-1111-1111-111111111111" })
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SR-2 other bucket":         {Reason: "and makes none for others", Rights: rights, Request: create(bucket("south")), Refused: []string{"spec.seedName", `"south"`, `must be "north"`}},
		"GAC-SR-2 other name":           {Reason: "a seed has one bucket, so that it cannot make any number of them", Objects: naming, Request: create(bucket("north")), Refused: []string{`metadata.name: the bucket of seed "north" is`}},
		"GAC-SR-2 not named":            {Reason: "not with those that it only reads, as it may lose that access", Rights: rights, Objects: unnamed, Request: create(bucket("north")), Refused: []string{"may not refer to Secret garden/backup"}},
		"GAC-SR-2 readable":             {Reason: "what it reads for a shoot is not for ever", Rights: []string{north + " get secrets garden-meadow/credentials"}, Objects: naming, Request: create(with("v1", "Secret", meadow, "credentials")), Refused: []string{"may not refer to Secret garden-meadow/credentials"}},
		"GAC-SR-2 client CA":            {Reason: "the key of a cluster is not for ever", Rights: []string{north + " get internalsecrets.core.gardener.cloud garden-meadow/sprout.ca-client"}, Objects: naming, Request: create(with("core.gardener.cloud/v1beta1", "InternalSecret", meadow, "sprout.ca-client")), Refused: []string{"may not refer to InternalSecret garden-meadow/sprout.ca-client"}},
		"GAC-SR-2 later client CA":      {Reason: "nor is it later", Rights: []string{north + " get internalsecrets.core.gardener.cloud garden-meadow/sprout.ca-client"}, Objects: naming, Request: by(with("core.gardener.cloud/v1beta1", "InternalSecret", meadow, "sprout.ca-client"), bucket("north")), Refused: []string{"may not refer to InternalSecret garden-meadow/sprout.ca-client"}},
		"GAC-SR-2 identity":             {Reason: "nor is a workload identity", Rights: []string{north + " get workloadidentities.security.gardener.cloud garden-meadow/i"}, Objects: naming, Request: create(with("security.gardener.cloud/v1alpha1", "WorkloadIdentity", meadow, "i")), Refused: []string{"may not refer to WorkloadIdentity garden-meadow/i"}},
		"GAC-SR-2 unchanged":            {Reason: "what a bucket names stays", Objects: unnamed, Request: by(bucket("north"), bucket("north"))},
		"GAC-SR-2 foreign secret":       {Reason: "a bucket is no way to a Secret", Objects: naming, Request: create(foreign(bucket("north"))), Refused: []string{"may not refer to Secret garden-meadow/credentials"}},
		"GAC-SR-2 later foreign secret": {Reason: "nor is it later", Objects: naming, Request: by(foreign(bucket("north")), bucket("north")), Refused: []string{"may not refer to Secret garden-meadow/credentials"}},
		"GAC-SR-2 delete other":         {Reason: "the name of a bucket is the UID of its seed", Objects: []kind.Object{seed}, Request: by(nil, bucket("north")), Refused: []string{`bucket of seed "north"`}},
		"GAC-SR-3 own entry":            {Reason: "a seed has entries in its buckets", Objects: []kind.Object{bucket("north"), sprout}, Request: create(entry(ours, "b", "north"))},
		"GAC-SR-3 other entry":          {Reason: "for nobody else", Objects: []kind.Object{bucket("north"), sprout}, Request: create(entry(ours, "b", "south")), Refused: []string{"spec.seedName"}},
		"GAC-SR-3 other bucket":         {Reason: "and in no other bucket", Objects: []kind.Object{bucket("south"), sprout}, Request: create(entry(ours, "b", "north")), Refused: []string{`spec.bucketName: backup bucket "b" is not on seed "north"`}},
		"GAC-SR-3 no bucket":            {Reason: "which exists", Objects: []kind.Object{sprout}, Request: create(entry(ours, "b", "north")), Refused: []string{`spec.bucketName: backup bucket "b" is not on seed "north"`}},
		"GAC-SR-3 leaving":              {Reason: "a shoot that leaves is still backed up", Objects: []kind.Object{bucket("north"), admissiontest.Shoot(on("south"), identified, left)}, Request: create(entry(ours, "b", "north"))},
		"GAC-SR-3 other shoot":          {Reason: "an entry is for a shoot of the seed", Objects: []kind.Object{bucket("north"), admissiontest.Shoot(on("south"), identified)}, Request: create(entry(ours, "b", "north")), Refused: []string{`shoot "sprout" is not on seed "north"`}},
		"GAC-SR-3 other project":        {Reason: "no project is held by an entry without a shoot", Objects: []kind.Object{bucket("north")}, Request: create(ownerless), Refused: []string{"metadata.ownerReferences: must name a shoot"}},
		"GAC-SR-3 other name":           {Reason: "a shoot has one entry", Objects: []kind.Object{bucket("north"), sprout}, Request: create(entry("shoot--meadow--sprout--2", "b", "north")), Refused: []string{"metadata.name"}},
		"GAC-SR-3 no name yet":          {Reason: "none before it has a technical ID", Objects: []kind.Object{bucket("north"), admissiontest.Shoot(on("north"))}, Request: create(entry("--1", "b", "north")), Refused: []string{"metadata.name"}},
		"GAC-SR-3 finalizer":            {Reason: "a gardenlet holds the entry", Objects: []kind.Object{bucket("north"), sprout}, Request: create(holding("gardener"))},
		"GAC-SR-3 other finalizer":      {Reason: "and by no other means", Objects: []kind.Object{bucket("north"), sprout}, Request: create(holding("example.com/stay")), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-3 finalizer later":      {Reason: "nor later", Request: by(holding("example.com/stay"), entry(ours, "b", "north")), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-4 other spec":           {Reason: "the source of a restore is what it was", Objects: source, Request: create(entry("source-"+ours, "c", "north")), Refused: []string{"spec"}},
		"GAC-SR-4 no restore":           {Reason: "nothing is restored", Objects: []kind.Object{bucket("south"), entry(ours, "b", "north"), admissiontest.Shoot(on("north"), identified)}, Request: create(entry("source-"+ours, "b", "north")), Refused: []string{"restored"}},
		"GAC-SR-4 reconciled":           {Reason: "a reconciliation is no restore", Objects: []kind.Object{bucket("south"), entry(ours, "b", "north"), admissiontest.Shoot(on("north"), identified, last("Reconcile", "Processing"))}, Request: create(entry("source-"+ours, "b", "north")), Refused: []string{"restored"}},
		"GAC-SR-4 restored":             {Reason: "nor is one that has ended", Objects: []kind.Object{bucket("south"), entry(ours, "b", "north"), admissiontest.Shoot(on("north"), identified, last("Restore", "Succeeded"))}, Request: create(entry("source-"+ours, "b", "north")), Refused: []string{"restored"}},
		"GAC-SR-4 leaving":              {Reason: "a shoot that leaves is restored elsewhere", Objects: []kind.Object{bucket("south"), entry(ours, "b", "north"), admissiontest.Shoot(on("south"), identified, left, restoring)}, Request: create(entry("source-"+ours, "b", "north")), Refused: []string{`shoot "sprout" is not on seed "north"`}},
		"GAC-SR-4 restore":              {Reason: "a shoot that moves here keeps its old backup for a while", Objects: []kind.Object{bucket("south"), entry(ours, "b", "north"), admissiontest.Shoot(on("north"), identified, restoring)}, Request: create(entry("source-"+ours, "b", "north"))},
		"GAC-SR-4 no original":          {Reason: "there is nothing to copy", Objects: []kind.Object{admissiontest.Shoot(on("north"), identified, restoring)}, Request: create(entry("source-"+ours, "b", "north")), Refused: []string{`spec: must be the same as that of backup entry "shoot--meadow--sprout--1"`}},
		"GAC-SR-1 exists":               {Reason: "who creates what it can read is told that it exists, and by the rule: the server would write it if it were gone by then", Rights: []string{north + " get backupbuckets b"}, Objects: []kind.Object{bucket("south")}, Request: create(bucket("south")), Refused: []string{"already exists"}, As: metav1.StatusReasonAlreadyExists},
		"GAC-SR-1 hidden":               {Reason: "what it cannot read may be there or not", Objects: []kind.Object{bucket("south")}, Request: create(bucket("south")), Refused: []string{"spec.seedName"}},
		"GAC-SR-1 gone":                 {Reason: "what it could read is not there", Rights: []string{north + " get backupbuckets b"}, Request: create(bucket("south")), Refused: []string{"spec.seedName"}},
		"GAC-ID-4 person":               {Reason: "people are judged by others", Request: admissiontest.Request{Object: bucket("south")}},
	})
}
