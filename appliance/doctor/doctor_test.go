// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

const day = 24 * time.Hour

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func seed(change func(*gardencorev1beta1.Seed)) []gardencorev1beta1.Seed {
	s := gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu", CreationTimestamp: ago(day)}}
	change(&s)

	return []gardencorev1beta1.Seed{s}
}

func condition(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) func(*gardencorev1beta1.Seed) {
	return func(s *gardencorev1beta1.Seed) {
		s.Status.Conditions = []gardencorev1beta1.Condition{{Type: kind, Status: status, LastTransitionTime: ago(time.Hour)}}
	}
}

func gardenlet(version string) func(*gardencorev1beta1.Seed) {
	return func(s *gardencorev1beta1.Seed) { s.Status.Gardener = &gardencorev1beta1.Gardener{Version: version} }
}

// found are the findings as "severity id object".
func found(r *doctor.Report) []string {
	all := []string{}
	for _, f := range r.Findings {
		text := string(f.Severity) + " " + f.ID
		if f.Object != nil {
			text += " " + f.Object.Name
		}
		if f.What == "" || f.Why == "" || f.Do == "" || f.Check == "" {
			text += " (incomplete)"
		}
		all = append(all, text)
	}

	return all
}

func TestExamine(t *testing.T) {
	t.Parallel()
	type facts = doctor.Facts
	const gib = 1 << 30
	for name, tc := range map[string]struct {
		reason string
		facts  facts
		want   []string
	}{
		"nothing":     {"what is not known is no finding", facts{}, []string{}},
		"server down": {"a server that should answer", facts{Unanswered: "refused"}, []string{"critical server-down"}},
		"silent":      {"a server that runs and does not answer", facts{Unanswered: "refused", InUse: true}, []string{"critical server-silent"}},
		"port":        {"an address that is taken", facts{Port: &doctor.Port{Address: ":1", Problem: "in use"}}, []string{"critical port"}},
		"refused": {
			"a version that does not start on the directory",
			facts{Offline: true, Directory: &doctor.Directory{Refused: "newer", Begun: "v0.3.0"}},
			[]string{"critical version-refused"},
		},
		"interrupted": {"an upgrade that was killed", facts{Directory: &doctor.Directory{Begun: "v0.2.0", Snapshot: "s"}}, []string{"critical upgrade-incomplete"}},
		"upgrading":   {"an upgrade that goes on", facts{InUse: true, Directory: &doctor.Directory{Begun: "v0.2.0"}}, []string{}},
		"directory":   {"a directory of this version", facts{Directory: &doctor.Directory{Version: "v0.2.0", Schema: 1}}, []string{}},
		"unit":        {"a part that is not ready", facts{Units: map[string]bool{"a": true, "b": false}}, []string{"critical unit-not-ready b"}},
		"disk": {
			"a large disk with much space, though little of it", facts{Disk: &doctor.Disk{FreeBytes: 30 * gib, TotalBytes: 1000 * gib}}, []string{},
		},
		"disk low":  {"a tenth is free", facts{Disk: &doctor.Disk{FreeBytes: 2 * gib, TotalBytes: 20 * gib}}, []string{"warning disk-space"}},
		"disk full": {"little is free", facts{Disk: &doctor.Disk{FreeBytes: 1 << 20, TotalBytes: gib, ReadOnly: true}}, []string{"critical disk-full", "critical disk-space"}},
		"inodes":    {"no inodes", facts{Disk: &doctor.Disk{FreeBytes: gib, TotalBytes: gib, TotalFiles: 100}}, []string{"warning disk-inodes"}},
		"host": {
			"too many files, and others may read the keys",
			facts{Host: &doctor.Host{OpenFiles: 950, OpenFilesLimit: 1000, DataDirMode: 0o750, MemoryBytes: 99, MemoryLimitBytes: 100}},
			[]string{"critical data-directory-mode", "critical open-files", "warning memory"},
		},
		"leftover": {
			"a restore was killed", facts{Host: &doctor.Host{DataDirMode: 0o700, Leftovers: []string{"/srv/.data.restore-1"}}}, []string{"warning restore-leftover /srv/.data.restore-1"},
		},
		"few files":  {"a low limit", facts{Host: &doctor.Host{OpenFiles: 1, OpenFilesLimit: 1024, DataDirMode: 0o700}}, []string{"warning open-files-limit"}},
		"clock":      {"a clock that is set back", facts{Clock: &doctor.Clock{Known: true, Newest: now.Add(time.Hour)}}, []string{"critical clock-back", "info clock-unsynchronized"}},
		"good clock": {"a clock that is kept", facts{Clock: &doctor.Clock{Known: true, Synchronized: true, Newest: now}}, []string{}},
		"rotations": {"what waits for people, and what does not go on", facts{
			Certificates: []doctor.Certificate{{Name: "ok", NotBefore: now.Add(-day), NotAfter: now.Add(365 * day)}},
			Rotations: []doctor.Rotation{
				{Of: "encryption key", Started: now.Add(-day)},
				{Of: "service account key", Started: now.Add(-day), Next: "complete it"},
				{Of: "old", Started: now.Add(-101 * day), Next: "complete it"},
				{Of: "broken", Started: now.Add(-day), Failure: "boom"},
			},
		}, []string{"warning rotation-failing broken", "warning rotation-started old", "info rotation-started service account key"}},
		"certificates": {"ends of validity", facts{Certificates: []doctor.Certificate{
			{Name: "old", NotAfter: now.Add(-day)},
			{Name: "soon", NotAfter: now.Add(20 * day)},
			{Name: "fine", NotAfter: now.Add(100 * day)},
			{Name: "ca", NotAfter: now.Add(100 * day), Authority: true},
			{Name: "future", NotBefore: now.Add(day), NotAfter: now.Add(900 * day)},
		}}, []string{"critical certificate-expired old", "critical certificate-future future", "warning certificate-expiring ca", "warning certificate-expiring soon"}},
		"servers": {"servers with keys of different generations", facts{Certificates: []doctor.Certificate{{Name: "fine", NotAfter: now.Add(100 * day)}}, Holders: []doctor.Holder{
			{Address: "a:1", Generation: 3, Newest: 3, Runs: true},
			{Address: "b:1", Generation: 2, Newest: 3, Runs: true, Behind: true, Since: now.Add(-time.Hour), Failure: "disk full"},
			{Address: "c:1", Generation: 2, Newest: 3, Runs: true, Behind: true, Since: now.Add(-time.Second)},
			{Address: "d:1", Generation: 1, Newest: 3, Behind: true, Since: now.Add(-time.Hour), Seen: now.Add(-time.Hour)},
			{Address: "e:1", Generation: 3, Newest: 3, Runs: true, Failure: "too old"},
			{Address: "f:1", Generation: 3, Newest: 3, Runs: true, Leads: true, Failure: "datastore away"},
		}}, []string{"warning server-cannot-lead e:1", "warning server-keys-old b:1", "info server-off d:1"}},
		"store": {"a database in trouble", facts{Stores: []doctor.Store{{
			Name: "objects", SizeBytes: 5 * gib, WALBytes: gib, FreeBytes: 3 * gib, Revision: 1_000_000, Compacted: 1, Checked: now.Add(-30 * day), Problems: []string{"row 5"},
		}}}, []string{
			"critical store-damaged objects", "warning store-compaction objects", "warning store-size objects", "warning store-unchecked objects",
			"warning store-wal objects", "info store-unused objects",
		}},
		"no backups":  {"snapshots are off", facts{Backups: &doctor.Backups{}}, []string{"warning backup-off"}},
		"no snapshot": {"none was taken", facts{Backups: &doctor.Backups{Enabled: true}}, []string{"warning backup-none"}},
		"old snapshot": {
			"the last is old and one failed",
			facts{Backups: &doctor.Backups{Enabled: true, Last: now.Add(-3 * day), Every: time.Hour, Failure: "no space"}},
			[]string{"critical backup-failed", "critical backup-old"},
		},
		"no heartbeat": {
			"a gardenlet that is gone",
			facts{ObjectsKnown: true, Seeds: seed(condition(gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionUnknown))},
			[]string{"critical seed-no-heartbeat eu"},
		},
		"not ready":   {"another condition", facts{ObjectsKnown: true, Seeds: seed(condition("BackupBucketsReady", gardencorev1beta1.ConditionFalse))}, []string{"warning seed-not-ready eu"}},
		"progressing": {"within its threshold", facts{ObjectsKnown: true, Seeds: seed(condition("BackupBucketsReady", gardencorev1beta1.ConditionProgressing))}, []string{}},
		"revoked": {"one that is shut out", facts{
			ObjectsKnown: true, Revoked: []string{"eu"},
			Seeds: seed(condition(gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionUnknown)),
		}, []string{"warning seed-revoked eu"}},
		"skew ahead":  {"newer than the server", facts{ObjectsKnown: true, Version: "v1.2.0", Seeds: seed(gardenlet("v1.3.0"))}, []string{"warning gardenlet-skew eu"}},
		"skew behind": {"two behind", facts{ObjectsKnown: true, Version: "v1.5.0", Seeds: seed(gardenlet("v1.3.9"))}, []string{"warning gardenlet-skew eu"}},
		"skew":        {"one behind", facts{ObjectsKnown: true, Version: "v1.4.0", Seeds: seed(gardenlet("v1.3.9"))}, []string{}},
		"failed": {"a failed shoot", facts{ObjectsKnown: true, Shoots: []gardencorev1beta1.Shoot{{
			ObjectMeta: metav1.ObjectMeta{Name: "s", DeletionTimestamp: new(ago(2 * time.Hour))},
			Status:     gardencorev1beta1.ShootStatus{LastOperation: &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed}},
		}}}, []string{"warning deletion-stuck s", "warning shoot-failed s"}},
		"deleting": {"one that has just begun, and one that hangs", facts{ObjectsKnown: true, Deleting: []doctor.Deleting{
			{Object: doctor.Object{Kind: "Project", Name: "new"}, Since: now}, {Object: doctor.Object{Kind: "Project", Name: "old"}, Since: now.Add(-day)},
		}}, []string{"warning deletion-stuck old"}},
		"request": {"nobody decides", facts{ObjectsKnown: true, Requests: []certificatesv1.CertificateSigningRequest{
			{ObjectMeta: metav1.ObjectMeta{Name: "r", CreationTimestamp: ago(time.Hour)}},
		}}, []string{"info request-pending r"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.facts.Now = now
			r := doctor.Examine(&tc.facts)
			if diff := cmp.Diff(tc.want, found(r)); diff != "" {
				t.Errorf("%s\nExamine(...) (-want +got):\n%s", tc.reason, diff)
			}
			if len(r.Findings) > 0 != (r.Severity != doctor.OK) || len(r.Findings) > 0 && r.Severity != r.Findings[0].Severity {
				t.Errorf("%s: the severity %q is that of the worst finding", tc.reason, r.Severity)
			}
		})
	}
}
