// SPDX-License-Identifier: Apache-2.0

package doctor

// check looks for problems of one kind.
type check struct {
	name string
	// known reports whether the facts are there, missing says what is if not.
	known   func(f *Facts) bool
	missing string
	find    func(f *Facts) []Finding
}

// checks are all checks.
func checks() []check {
	objects := func(f *Facts) bool { return f.ObjectsKnown }
	const noObjects = "the server was not asked"

	return []check{
		{"backups", func(f *Facts) bool { return f.Backups != nil }, "nothing is known about snapshots", backups},
		{"certificates", func(f *Facts) bool { return len(f.Certificates) > 0 }, "no certificates were found", certificates},
		{"clock", func(f *Facts) bool { return f.Clock != nil }, "the system does not tell", clock},
		{"directory", func(f *Facts) bool { return f.Directory != nil }, "no server has used it", directory},
		{"disk", func(f *Facts) bool { return f.Disk != nil }, "the system does not tell", disk},
		{"host", func(f *Facts) bool { return f.Host != nil }, "the system does not tell", host},
		{"port", func(f *Facts) bool { return f.Port != nil }, "the address is not known", port},
		{"requests", objects, noObjects, requests},
		{"seeds", objects, noObjects, seeds},
		{"server", func(*Facts) bool { return true }, "", answers},
		{"shoots", objects, noObjects, shoots},
		{"store", func(f *Facts) bool { return len(f.Stores) > 0 || f.Datastore != nil }, "the datastore is not on this machine", stores},
		{"stuck", objects, noObjects, stuck},
		{"units", func(f *Facts) bool { return f.Units != nil }, noObjects, units},
	}
}

// Examine makes all checks for which there are facts.
func Examine(f *Facts) *Report {
	r := &Report{Time: f.Now.UTC(), Version: f.Version, Offline: f.Offline, Severity: OK, Findings: []Finding{}}
	for _, c := range checks() {
		if !c.known(f) {
			r.Skipped = append(r.Skipped, Skipped{Check: c.name, Reason: c.missing})

			continue
		}
		r.Checked = append(r.Checked, c.name)
		for _, found := range c.find(f) {
			found.Check = c.name
			r.Findings = append(r.Findings, found)
			if found.Severity.rank() > r.Severity.rank() {
				r.Severity = found.Severity
			}
		}
	}
	r.sort()

	return r
}
