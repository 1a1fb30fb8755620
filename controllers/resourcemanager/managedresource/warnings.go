// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// warned is the number of warnings that a message tells of an object at most.
	warned = 5
	// warningLength is the number of bytes of a warning that a message tells.
	warningLength = 300
)

// told names an object that is being deleted. Of a Service it also tells the last warnings, because a controller of load balancers that
// cannot delete one says so nowhere else (GRM-DEL-3).
func told(ctx context.Context, c client.Client, r reference) string {
	if r.APIVersion != corev1.SchemeGroupVersion.String() || r.Kind != "Service" {
		return describe(r)
	}
	warnings, err := warningsOf(ctx, c, r)
	switch {
	case err != nil:
		return fmt.Sprintf("%s (its events cannot be read: %s)", describe(r), err)
	case len(warnings) == 0:
		return describe(r)
	default:
		return fmt.Sprintf("%s (%s)", describe(r), strings.Join(warnings, "; "))
	}
}

// warningsOf returns what the last warning events of an object say, the latest first and the same once.
func warningsOf(ctx context.Context, c client.Client, r reference) ([]string, error) {
	list := &corev1.EventList{}
	err := c.List(ctx, list, client.InNamespace(r.Namespace), client.MatchingFields{
		"involvedObject.kind": r.Kind, "involvedObject.name": r.Name, "type": corev1.EventTypeWarning,
	})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int {
		return cmp.Or(lastSeen(&b).Compare(lastSeen(&a)), cmp.Compare(a.Name, b.Name))
	})
	var texts []string
	for _, event := range list.Items {
		text := event.Reason + ": " + event.Message
		if len(text) > warningLength {
			text = strings.ToValidUTF8(text[:warningLength], "") + "…"
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts[:min(len(texts), warned)], nil
}

// lastSeen is when an event has happened last. Which field says so depends on the program that has written it.
func lastSeen(event *corev1.Event) time.Time {
	last := event.CreationTimestamp.Time
	for _, at := range []time.Time{event.FirstTimestamp.Time, event.LastTimestamp.Time, event.EventTime.Time} {
		if at.After(last) {
			last = at
		}
	}
	if event.Series != nil && event.Series.LastObservedTime.After(last) {
		last = event.Series.LastObservedTime.Time
	}
	return last
}
