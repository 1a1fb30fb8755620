// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"strings"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxNote is the number of bytes that the API server accepts as the note of an event.
const maxNote = 1024

// Notice is one event of an object, for users.
type Notice struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is a CamelCase word.
	Reason string
	// Action is what was being done: Reconcile, Delete, ….
	Action string
	// Message is cut to what the API accepts.
	Message string
}

// Record records the notice for the object.
func Record(recorder events.EventRecorder, object client.Object, notice Notice) {
	recorder.Eventf(object, nil, notice.Type, notice.Reason, notice.Action, "%s", cut(notice.Message, maxNote))
}

func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const ellipsis = "…"
	return strings.ToValidUTF8(text[:limit-len(ellipsis)], "") + ellipsis
}
