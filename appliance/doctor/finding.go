// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"slices"
	"time"
)

// Severity is how bad a finding is.
type Severity string

// The severities, the least first. OK is that of a report without findings.
const (
	OK       Severity = "ok"
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// rank orders severities.
func (s Severity) rank() int { return slices.Index([]Severity{OK, Info, Warning, Critical}, s) }

// AtLeast reports whether a severity is as bad as another one, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.rank() >= other.rank() }

// Object is what a finding is about.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Finding is one problem.
type Finding struct {
	// ID is the kind of problem. It does not change between versions.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// Check is the check that has found it.
	Check string `json:"check"`
	// Object is what it is about, nil for the server itself.
	Object *Object `json:"object,omitempty"`
	// What is the problem, Why the reason that it matters, and Do what to do about it.
	What string `json:"what"`
	Why  string `json:"why"`
	Do   string `json:"do"`
}

// Skipped is a check that was not made.
type Skipped struct {
	Check  string `json:"check"`
	Reason string `json:"reason"`
}

// Report is the result of all checks.
type Report struct {
	Time    time.Time `json:"time"`
	Version string    `json:"version"`
	// Offline is set if the server was not asked, and only its data directory was read.
	Offline bool `json:"offline,omitempty"`
	// Severity is that of the worst finding.
	Severity Severity  `json:"severity"`
	Checked  []string  `json:"checked"`
	Skipped  []Skipped `json:"skipped,omitempty"`
	Findings []Finding `json:"findings"`
}

// Count is the number of findings of each severity.
type Count struct {
	Critical int `json:"critical"`
	Warning  int `json:"warning"`
	Info     int `json:"info"`
}

// Count counts the findings.
func (r *Report) Count() Count {
	var n Count
	for i := range r.Findings {
		switch r.Findings[i].Severity {
		case Critical:
			n.Critical++
		case Warning:
			n.Warning++
		default:
			n.Info++
		}
	}

	return n
}

// sort puts the worst findings first.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		x, y := object(a.Object), object(b.Object)

		return cmp.Or(
			cmp.Compare(b.Severity.rank(), a.Severity.rank()), cmp.Compare(a.ID, b.ID),
			cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
}

func object(o *Object) Object {
	if o == nil {
		return Object{}
	}

	return *o
}
