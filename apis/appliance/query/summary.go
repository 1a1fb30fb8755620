// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"
	"strings"
	"time"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Summary says in one line what an entry of a timeline is about.
func Summary(e *gardenappliancev1alpha1.TimelineEntry) string {
	switch {
	case e.Request != nil:
		return request(e.Request)
	case e.Operation != nil:
		return operation(e.Operation, e.RequestedBy)
	case e.Condition != nil:
		c := e.Condition
		if c.Status == "" {
			return fmt.Sprintf("%s is gone", c.Type)
		}

		return explained(fmt.Sprintf("%s is %s", c.Type, c.Status), c.Reason, c.Message)
	case e.Task != nil:
		return task(e.Task)
	case e.Type == gardenappliancev1alpha1.TimelineEntryErrors:
		return lastErrors(e)
	case e.Type == gardenappliancev1alpha1.TimelineEntryRemoved:
		return "Removed"
	default:
		return string(e.Type)
	}
}

func request(r *gardenappliancev1alpha1.TimelineRequest) string {
	switch {
	case r.Verb == gardenappliancev1alpha1.TimelineCreate:
		return "Created"
	case r.Verb == gardenappliancev1alpha1.TimelineDelete:
		return "Deletion requested"
	case len(r.Fields) > 0:
		return "Changed " + strings.Join(r.Fields, ", ")
	default:
		return fmt.Sprintf("Operation requested (generation %d)", r.Generation)
	}
}

// Who names a user in a few words: a gardenlet by its seed, and the server itself as such.
func Who(name string) string {
	if seed, ok := strings.CutPrefix(name, gardencorev1beta1.UserPrefixSeed); ok {
		return "gardenlet " + seed
	}
	if name == "system:apiserver" {
		return "the garden"
	}

	return name
}

func operation(o *gardenappliancev1alpha1.TimelineOperation, by string) string {
	text := explained(fmt.Sprintf("%s %s", o.Type, o.State), "", o.Description)
	if by != "" {
		text += fmt.Sprintf(" (requested by %s)", by)
	}

	return text
}

func task(t *gardenappliancev1alpha1.TimelineTask) string {
	title := t.Title
	if title == "" {
		title = t.ID
	}
	took := t.Duration.Round(10 * time.Millisecond)
	if t.Error != "" {
		return explained(fmt.Sprintf("%s: failed after %s", title, took), "", t.Error)
	}

	return fmt.Sprintf("%s: done in %s", title, took)
}

func lastErrors(e *gardenappliancev1alpha1.TimelineEntry) string {
	if len(e.LastErrors) == 0 {
		return "No errors any more"
	}
	texts := make([]string, len(e.LastErrors))
	for i := range e.LastErrors {
		texts[i] = e.LastErrors[i].Description
	}

	return strings.Join(texts, "; ")
}

// explained adds a reason and a message, in one line.
func explained(what, reason, message string) string {
	if reason != "" {
		what += " (" + reason + ")"
	}
	if message = strings.Join(strings.Fields(message), " "); message != "" {
		what += ": " + message
	}

	return what
}
