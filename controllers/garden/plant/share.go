// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// shares say for whom plants count: for the user who has created their project, because one user may have many projects. It learns that from
// the events of projects.
type shares struct {
	mu sync.Mutex
	// people are the users, by the namespaces of their projects.
	people map[string]string
	// leaving are the plants in deletion, which are not looked at any more, and need no turn.
	leaving map[client.ObjectKey]bool
}

// OwnerOf implements kit.Owner. A plant of a project whose creator is not known counts for its namespace.
func (s *shares) OwnerOf(item reconcile.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving[item.NamespacedName] {
		return ""
	}
	if person, known := s.people[item.Namespace]; known {
		return "user " + person
	}
	return "namespace " + item.Namespace
}

// plants notes which plants are in deletion before it adds them to the queue.
func (s *shares) plants() handler.EventHandler {
	enqueue := &handler.EnqueueRequestForObject{}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s.leave(e.Object, e.Object.GetDeletionTimestamp() != nil)
			enqueue.Create(ctx, e, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s.leave(e.ObjectNew, e.ObjectNew.GetDeletionTimestamp() != nil)
			enqueue.Update(ctx, e, q)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s.leave(e.Object, false)
		},
	}
}

func (s *shares) leave(plant client.Object, leaving bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !leaving {
		delete(s.leaving, client.ObjectKeyFromObject(plant))
		return
	}
	if s.leaving == nil {
		s.leaving = map[client.ObjectKey]bool{}
	}
	s.leaving[client.ObjectKeyFromObject(plant)] = true
}

// projects notes who has created which project. It adds nothing to the queue.
func (s *shares) projects() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s.note(e.Object, true)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s.note(e.ObjectNew, true)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s.note(e.Object, false)
		},
	}
}

func (s *shares) note(object client.Object, there bool) {
	project, ok := object.(*gardencorev1beta1.Project)
	if !ok {
		return
	}
	namespace, person := ptr.Deref(project.Spec.Namespace, ""), query.ProjectPerson(project)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case namespace == "":
	case !there || person == "":
		delete(s.people, namespace)
	default:
		if s.people == nil {
			s.people = map[string]string{}
		}
		s.people[namespace] = person
	}
}
