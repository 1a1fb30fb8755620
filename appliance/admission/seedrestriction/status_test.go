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
)

type (
	aShoot      = gardencorev1beta1.Shoot
	shootChange = func(*gardencorev1beta1.Shoot)
)

// reports makes a request of the gardenlet of the seed north for the status of an object.
func reports(object, old kind.Object) admissiontest.Request {
	r := by(object, old)
	r.Subresource = "status"
	return r
}

// TestShootStatus tries to make the gardenlet of the seed south act on what belongs to others.
func TestShootStatus(t *testing.T) {
	t.Parallel()
	project := []kind.Object{admissiontest.Project()}
	runs := func(seed string) shootChange { return func(s *aShoot) { s.Status.SeedName = &seed } }
	id := func(id string) shootChange { return func(s *aShoot) { s.Status.TechnicalID = id } }
	uid := func(s *aShoot) { s.UID = "uid-1" }
	named := func(s *aShoot) { s.Status.UID = "uid-1" }
	misnamed := func(s *aShoot) { s.Status.UID = "x" }
	failed := func(s *aShoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Error"}
	}
	to := func(changes ...shootChange) *aShoot { return admissiontest.Shoot(changes...) }
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SAR-15 first report":     {Reason: "a gardenlet begins with its shoot", Objects: project, Request: reports(to(on("north"), uid, named, runs("north"), id("shoot--meadow--sprout")), to(on("north"), uid))},
		"GAC-SAR-15 others' seed":     {Reason: "no other gardenlet takes it for one of its own", Objects: project, Request: reports(to(on("north"), runs("south")), to(on("north"))), Refused: []string{`status.seedName: names seed "south", but must be "north"`}},
		"GAC-SAR-15 others' seed now": {Reason: "nor later", Objects: project, Request: reports(to(on("north"), runs("south")), to(on("north"), runs("north"))), Refused: []string{"status.seedName"}},
		"GAC-SAR-15 others' plane":    {Reason: "the control plane of another is not this shoot's", Objects: project, Request: reports(to(on("north"), id("shoot--victim--prod")), to(on("north"))), Refused: []string{"status.technicalID", `"shoot--meadow--sprout"`}},
		"GAC-SAR-15 system":           {Reason: "nor is a namespace of a seed", Objects: project, Request: reports(to(on("north"), id("kube-system")), to(on("north"))), Refused: []string{"status.technicalID"}},
		"GAC-SAR-15 others' UID":      {Reason: "nor is the UID of another", Objects: project, Request: reports(to(on("north"), uid, misnamed), to(on("north"), uid)), Refused: []string{"status.uid", `"uid-1"`}},
		"GAC-SAR-15 known":            {Reason: "what is there stays", Objects: project, Request: reports(to(on("north"), uid, misnamed, id("shoot--old"), failed), to(on("north"), uid, misnamed, id("shoot--old")))},
		"GAC-SAR-15 handed over":      {Reason: "a shoot that moves is given to the seed to which an operator has bound it", Objects: project, Request: reports(to(on("south"), runs("south")), to(on("south"), runs("north")))},
		"GAC-SAR-15 let go":           {Reason: "or let go", Objects: project, Request: reports(to(on("south")), to(on("south"), runs("north")))},
		"GAC-SAR-15 to a third":       {Reason: "and given to no other", Objects: project, Request: reports(to(on("south"), runs("west")), to(on("south"), runs("north"))), Refused: []string{"status.seedName"}},
		"GAC-SAR-15 not yet":          {Reason: "the seed to which it moves waits", Objects: project, Request: reports(to(on("north"), runs("north")), to(on("north"), runs("south"))), Refused: []string{`seed "south" is responsible`}},
		"GAC-SAR-15 not any more":     {Reason: "the seed that has let it go reports nothing more", Objects: project, Request: reports(to(on("south"), failed), to(on("south"))), Refused: []string{`seed "south" is responsible`}},
		"GAC-ID-4 person":             {Reason: "people are judged by others", Request: admissiontest.Request{Object: to(runs("south")), Old: to(), Subresource: "status"}},
	})
}

// TestMarks tries to have a shoot deleted by the garbage collector, which needs no permission of the seed.
func TestMarks(t *testing.T) {
	t.Parallel()
	to := func(changes ...shootChange) *aShoot { return admissiontest.Shoot(append(changes, on("north"))...) }
	holding := func(finalizers ...string) shootChange { return func(s *aShoot) { s.Finalizers = finalizers } }
	note := func(key string) shootChange {
		return func(s *aShoot) { s.Annotations = map[string]string{key: "true"} }
	}
	orphan := []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "1"}}
	orphaned := func(s *aShoot) { s.OwnerReferences = orphan }
	nursery := managed("nursery")
	nursery.OwnerReferences = orphan
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SAR-15 finalizer":           {Reason: "a gardenlet holds the shoot while it has something of it", Request: by(to(holding("gardener")), to())},
		"GAC-SAR-15 released":            {Reason: "and lets it go", Request: by(to(holding("gardener.cloud/reference-protection")), to(holding("gardener.cloud/reference-protection", "gardener")))},
		"GAC-SAR-15 others' finalizer":   {Reason: "what others hold is theirs", Request: by(to(), to(holding("gardener.cloud/reference-protection"))), Refused: []string{"metadata.finalizers"}},
		"GAC-SAR-15 further finalizer":   {Reason: "it does not hold by other means", Request: by(to(holding("example.com/mine")), to()), Refused: []string{"metadata.finalizers"}},
		"GAC-SAR-15 operation":           {Reason: "it takes requested operations off", Request: by(to(), to(note("gardener.cloud/operation")))},
		"GAC-SAR-15 confirmation":        {Reason: "it does not confirm a deletion", Request: by(to(note("confirmation.gardener.cloud/deletion")), to()), Refused: []string{"metadata.annotations[confirmation.gardener.cloud/deletion]"}},
		"GAC-SAR-15 force":               {Reason: "nor a forced one", Request: by(to(note("confirmation.gardener.cloud/force-deletion")), to()), Refused: []string{"force-deletion"}},
		"GAC-SAR-15 expiration":          {Reason: "nor does it have the time of a shoot end, after which a controller deletes it", Request: by(to(note("shoot.gardener.cloud/expiration-timestamp")), to()), Refused: []string{"expiration-timestamp"}},
		"GAC-SAR-15 for ever":            {Reason: "or never end", Request: by(to(), to(note("shoot.gardener.cloud/expiration-timestamp"))), Refused: []string{"expiration-timestamp"}},
		"GAC-SAR-15 owner":               {Reason: "an owner that does not exist would have the shoot deleted", Request: by(to(orphaned), to()), Refused: []string{"metadata.ownerReferences"}},
		"GAC-SAR-11 owner":               {Reason: "or the managed seed", Request: by(nursery, managed("nursery")), Refused: []string{"metadata.ownerReferences"}},
		"GAC-SAR-15 owner of a user":     {Reason: "one that is there stays", Request: by(to(orphaned, holding("gardener")), to(orphaned))},
		"GAC-SAR-15 confirmed by a user": {Reason: "so does a confirmation", Request: by(to(note("confirmation.gardener.cloud/deletion"), holding("gardener")), to(note("confirmation.gardener.cloud/deletion")))},
	})
}

// TestEntriesStay tries to give backup entries to other seeds.
func TestEntriesStay(t *testing.T) {
	t.Parallel()
	runs := func(e *gardencorev1beta1.BackupEntry, seed string) *gardencorev1beta1.BackupEntry {
		e.Status.SeedName = &seed
		return e
	}
	leaving := []kind.Object{admissiontest.Shoot(on("south"), func(s *aShoot) { s.Status.SeedName = new("north") })}
	staying := []kind.Object{admissiontest.Shoot(on("south"))}
	here, there := entry("backup", "b", "north"), entry("backup", "b", "south")
	ofAnother := entry("backup", "b", "north")
	ofAnother.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "sprout", UID: "1"}}
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SR-3 report":         {Reason: "a seed reports on its entries", Request: reports(runs(entry("backup", "b", "north"), "north"), here)},
		"GAC-SR-3 others' seed":   {Reason: "and does not give them to others", Request: reports(runs(entry("backup", "b", "north"), "south"), here), Refused: []string{"status.seedName"}},
		"GAC-SR-3 handed over":    {Reason: "but to the seed to which it moves", Request: reports(runs(entry("backup", "b", "south"), "south"), runs(entry("backup", "b", "south"), "north"))},
		"GAC-SR-3 not yet":        {Reason: "which waits", Request: reports(runs(entry("backup", "b", "north"), "north"), runs(entry("backup", "b", "north"), "south")), Refused: []string{`seed "south" is responsible`}},
		"GAC-SR-3 moves":          {Reason: "an entry moves with its shoot", Objects: leaving, Request: by(there, here)},
		"GAC-SR-3 moves alone":    {Reason: "and not without", Objects: staying, Request: by(there, here), Refused: []string{"spec.seedName"}},
		"GAC-SR-3 moves with":     {Reason: "nor with what is called as a shoot is", Objects: leaving, Request: by(there, ofAnother), Refused: []string{"spec.seedName"}},
		"GAC-SR-3 shootless":      {Reason: "nor without a shoot", Request: by(there, here), Refused: []string{`shoot "sprout"`}},
		"GAC-SR-3 to a third":     {Reason: "nor elsewhere", Objects: leaving, Request: by(entry("backup", "b", "west"), here), Refused: []string{"spec.seedName"}},
		"GAC-SR-3 taken over":     {Reason: "the seed to which it moves takes it", Request: by(here, there)},
		"GAC-SR-3 else unchanged": {Reason: "what stays is not asked about", Request: by(entry("backup", "b", "south"), there)},
	})
}

// TestInstallationsStay tries to move an installation to another seed.
func TestInstallationsStay(t *testing.T) {
	t.Parallel()
	on := func(seed string) *gardencorev1beta1.ControllerInstallation {
		i := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
		i.Spec.RegistrationRef.Name = "local"
		if seed != "" {
			i.Spec.SeedRef = &corev1.ObjectReference{Name: seed}
		}
		return i
	}
	held := on("north")
	held.Finalizers = []string{"core.gardener.cloud/controllerinstallation"}
	orphan := on("north")
	orphan.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "1"}}
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-GR-6 own":       {Reason: "a gardenlet marks what it has installed", Request: by(held, on("north"))},
		"GAC-GR-6 moved":     {Reason: "and leaves it where it is", Request: by(on("south"), on("north")), Refused: []string{`spec.seedRef: names seed "south"`}},
		"GAC-GR-6 let go":    {Reason: "also if it would be nowhere", Request: by(on(""), on("north")), Refused: []string{"spec.seedRef: names no seed"}},
		"GAC-GR-6 taken":     {Reason: "it takes none from nowhere", Request: by(on("north"), on("")), Refused: []string{"spec.seedRef: names no seed"}},
		"GAC-GR-6 taken off": {Reason: "nor from another seed", Request: by(on("north"), on("south")), Refused: []string{`spec.seedRef: names seed "south"`}},
		"GAC-GR-6 owner":     {Reason: "nor has it deleted", Request: by(orphan, on("north")), Refused: []string{"metadata.ownerReferences"}},
	})
}
