// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

const (
	day = 24 * time.Hour
	// A running server renews its certificates at 70 to 90 % of their life, more than 30 days before they expire.
	leafWarning, leafCritical           = 30 * day, 7 * day
	authorityWarning, authorityCritical = 180 * day, 30 * day

	// rotationPatience is longer than tokens of service accounts are valid by default.
	rotationPatience = 100 * day

	walWarning      = 256 << 20
	storeWarning    = 4 << 30
	unusedWarning   = 512 << 20
	manyRevisions   = 250_000
	integrityAge    = 15 * day
	backupSlack     = 2
	backupPatience  = 26 * time.Hour
	mostProblemText = 3
)

// rotations finds those that wait for people or cannot go on.
func rotations(f *Facts) []Finding {
	var found []Finding
	for _, r := range f.Rotations {
		x := Finding{
			ID: "rotation-started", Severity: Info, Object: &Object{Kind: "Rotation", Name: r.Of},
			What: fmt.Sprintf("The rotation of the %s was started %s ago", r.Of, duration.HumanDuration(f.Now.Sub(r.Started))),
			Why:  "what it replaces is accepted until it is completed", Do: r.Next,
		}
		switch {
		case r.Failure != "":
			x.ID, x.Severity, x.Do = "rotation-failing", Warning, "the server tries again by itself: remove the cause"
			x.What = fmt.Sprintf("The rotation of the %s does not go on: %s", r.Of, r.Failure)
		case r.Next == "":
			continue
		case f.Now.Sub(r.Started) > rotationPatience:
			x.Severity = Warning
		}
		found = append(found, x)
	}

	return found
}

func certificates(f *Facts) []Finding {
	var found []Finding
	for _, c := range f.Certificates {
		left := c.NotAfter.Sub(f.Now)
		warning, critical := leafWarning, leafCritical
		do := "a running server should have renewed it: see its log for why it could not, and run terrarium certificate rotate"
		if c.Authority {
			warning, critical = authorityWarning, authorityCritical
			do = "change the certificate authorities: terrarium certificate rotate-ca start; gardenlets take up the new ones by themselves"
		}
		x := Finding{
			ID: "certificate-expiring", Object: &Object{Kind: "Certificate", Name: c.Name}, Do: do,
			Why: "clients refuse the server, or the server its clients, once it has expired",
		}
		switch {
		case c.NotBefore.After(f.Now.Add(clockSlack)):
			x.ID, x.Severity, x.What = "certificate-future", Critical, fmt.Sprintf("Certificate %q is not valid before %s", c.Name, c.NotBefore.UTC().Format(time.RFC3339))
			x.Do = "check the clock of the machine"
		case left <= 0:
			x.ID, x.Severity, x.What = "certificate-expired", Critical, fmt.Sprintf("Certificate %q expired %s ago", c.Name, duration.HumanDuration(-left))
		case left < warning:
			x.Severity, x.What = Warning, fmt.Sprintf("Certificate %q expires in %s", c.Name, duration.HumanDuration(left))
			if left < critical {
				x.Severity = Critical
			}
		default:
			continue
		}
		found = append(found, x)
	}

	return append(append(found, rotations(f)...), holders(f)...)
}

// holderPatience is how long a server may take to take up new keys.
const holderPatience = time.Minute

// holders looks at the servers that share the keys of the garden.
func holders(f *Facts) []Finding {
	var found []Finding
	for i := range f.Holders {
		h := &f.Holders[i]
		x := Finding{Object: &Object{Kind: "Server", Name: h.Address}}
		switch {
		case h.Runs && h.Behind && f.Now.Sub(h.Since) > holderPatience:
			x.ID, x.Severity = "server-keys-old", Warning
			x.What = fmt.Sprintf("Server %s has generation %d of the keys, and the newest one is %d", h.Address, h.Generation, h.Newest)
			if h.Failure != "" {
				x.What += ": " + h.Failure
			}
			x.Why = "no key or authority can be changed until it has the newest ones"
			x.Do = "see its log for why it does not take them up, or stop it: it takes them up when it starts"
		case h.Runs && !h.Behind && !h.Leads && h.Failure != "":
			x.ID, x.Severity = "server-cannot-lead", Warning
			x.What = fmt.Sprintf("Server %s could not take the lead: %s", h.Address, h.Failure)
			x.Why = "there is one server less to take the lead, and it will not have the next keys"
			x.Do = "do what its message says; its log has more"
		case !h.Runs:
			x.ID, x.Severity = "server-off", Info
			x.What = fmt.Sprintf("Server %s was last seen %s ago, with generation %d of the keys; the newest one is %d",
				h.Address, duration.HumanDuration(f.Now.Sub(h.Seen)), h.Generation, h.Newest)
			x.Why = "there is one server less to take the lead"
			x.Do = "start it, it takes up the newest keys by itself; it is forgotten after 30 days"
		default:
			continue
		}
		found = append(found, x)
	}

	return found
}

func stores(f *Facts) []Finding {
	var found []Finding
	for i := range f.Stores {
		found = append(found, ofStore(&f.Stores[i], f.Now)...)
	}
	if d := f.Datastore; d != nil && d.Away != "" {
		found = append(found, Finding{
			ID: "datastore-away", Severity: Critical, Object: &Object{Kind: "Store", Name: "objects"},
			What: fmt.Sprintf("%s has not answered for %s: %s", d.Place, duration.HumanDuration(f.Now.Sub(d.AwaySince)), d.Away),
			Why:  "nothing can be read or written until it answers", Do: "bring it back; the server goes on by itself",
		})
	}

	return found
}

func ofStore(s *Store, now time.Time) []Finding {
	var found []Finding
	add := func(id string, severity Severity, what, why, do string) {
		found = append(found, Finding{ID: id, Severity: severity, Object: &Object{Kind: "Store", Name: s.Name}, What: what, Why: why, Do: do})
	}
	if len(s.Problems) > 0 {
		shown := s.Problems[:min(len(s.Problems), mostProblemText)]
		add("store-damaged", Critical, fmt.Sprintf("The database of %s is damaged: %s", s.Name, strings.Join(shown, "; ")),
			"damaged records cannot be read, and others may be lost",
			"check the disk; restore the newest snapshot from before the damage (docs/backup.md)")
	}
	if !s.Checked.IsZero() && now.Sub(s.Checked) > integrityAge {
		add("store-unchecked", Warning, fmt.Sprintf("The integrity of the database of %s was last checked %s ago", s.Name, duration.HumanDuration(now.Sub(s.Checked))),
			"damage that nobody sees gets into the snapshots", "restart the server, or see its log for why the weekly check did not end")
	}
	if s.WALBytes > walWarning {
		add("store-wal", Warning, fmt.Sprintf("The write-ahead log of the database of %s has %s", s.Name, bytes(uint64(s.WALBytes))),
			"it fills the disk, and reads become slower", "a slow disk or a process that reads the file holds it up: stop other readers of the database")
	}
	if s.SizeBytes > storeWarning {
		add("store-size", Warning, fmt.Sprintf("The database of %s has %s", s.Name, bytes(uint64(s.SizeBytes))),
			"starts and snapshots take long", "look for what creates so many objects: /metrics has apiserver_resource_objects")
	}
	if s.FreeBytes > unusedWarning && s.FreeBytes > s.SizeBytes/2 {
		add("store-unused", Info, fmt.Sprintf("%s of the database of %s are unused", bytes(uint64(s.FreeBytes)), s.Name),
			"the space is given back slowly by itself", "\"terrarium store vacuum\" gives it back now")
	}
	if kept := s.Revision - s.Compacted; s.Compacted > 0 && kept > manyRevisions {
		add("store-compaction", Warning, fmt.Sprintf("The database of %s keeps %d past revisions", s.Name, kept),
			"compaction is behind, and the file grows", "see the log of the server for why old records are not removed")
	}

	return found
}

func directory(f *Facts) []Finding {
	is := f.Directory
	switch {
	case is.Refused != "":
		return []Finding{{
			ID: "version-refused", Severity: Critical, What: "This version does not start on the data directory: " + is.Refused,
			Why: "a version is tried with directories of its own minor version and the one before",
			Do:  "run the version that the text names (docs/upgrade.md)",
		}}
	case is.Begun != "" && !f.InUse:
		return []Finding{{
			ID: "upgrade-incomplete", Severity: Critical, What: "The upgrade of the data directory to " + is.Begun + " was interrupted",
			Why: "the directory is between two versions",
			Do:  fmt.Sprintf("start version %s, which completes it, or restore the snapshot from before, %q (docs/upgrade.md)", is.Begun, is.Snapshot),
		}}
	default:
		return nil
	}
}

func backups(f *Facts) []Finding {
	b := f.Backups
	const why = "what was changed since the last snapshot is lost with the disk"
	var found []Finding
	switch age := f.Now.Sub(b.Last); {
	case !b.Enabled:
		found = append(found, Finding{
			ID: "backup-off", Severity: Warning, What: "No snapshots are taken on a schedule", Why: why,
			Do: "enable snapshots in the configuration",
		})
	case b.Last.IsZero():
		found = append(found, Finding{
			ID: "backup-none", Severity: Warning, What: "There is no snapshot yet", Why: why,
			Do: "take one now: terrarium snapshot save",
		})
	case age > max(backupSlack*b.Every, backupPatience):
		found = append(found, Finding{
			ID: "backup-old", Severity: Critical, Why: why, Do: "see the log of the server, then: terrarium snapshot save",
			What: "The last snapshot is " + duration.HumanDuration(age) + " old",
		})
	}
	if b.Failure != "" {
		found = append(found, Finding{
			ID: "backup-failed", Severity: Critical, What: "The last snapshot failed: " + b.Failure, Why: why,
			Do: "mend the reason, then: terrarium snapshot save",
		})
	}

	return found
}
