// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// Journal is told what happens to objects, in the order in which it happens to each. It is the only source of a timeline.
// Implementations must be safe for concurrent use and return soon: an operation waits for them.
type Journal interface {
	// Transition is told when the last operation of an object says something else, once that is written. Progress is left out.
	Transition(subject Subject, transition Transition)
	// Task is told of each task that ended.
	Task(subject Subject, task flow.Observation)
}

// Subject is the object of an entry in the journal.
type Subject struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Transition is a change of the last operation.
type Transition struct {
	Time time.Time
	// From is nil if there was no operation before.
	From *gardencorev1beta1.LastOperation
	To   gardencorev1beta1.LastOperation
	// Errors are those of the object after the change.
	Errors []gardencorev1beta1.LastError
}
