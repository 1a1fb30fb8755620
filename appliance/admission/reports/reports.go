// SPDX-License-Identifier: Apache-2.0

// Package reports judges events of gardenlets. People act upon events: kubectl and the web UI show them next to the object that they are
// about. A client that reports an event chooses its text and the name of the reporter. So a client of a seed or of a shoot may report only
// about objects that it may change, and may change only what it has reported itself. The server notes who has reported an event when such
// a client creates it.
package reports

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// annotationReporter is the name of the client that has created an event.
const annotationReporter = "event.terrarium.garden/reporter"

// ErrUnreported rejects changes of events that others have reported. To the client they do not exist, as if they had ended.
var ErrUnreported = errors.New("was not reported by this client")

// Sign notes in a new event who reports it. It does nothing with other requests.
func Sign(a admission.Attributes) error {
	if a.GetOperation() != admission.Create || a.GetSubresource() != "" || !isEvent(a.GetResource().GroupResource()) {
		return nil
	}
	event, err := meta.Accessor(a.GetObject())
	if err != nil {
		return world.Answer(a, fmt.Errorf("%w: %w", world.ErrUnreadable, err))
	}
	notes := event.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[annotationReporter] = a.GetUserInfo().GetName()
	event.SetAnnotations(notes)

	return nil
}

func isEvent(resource schema.GroupResource) bool {
	return resource.Resource == "events" && (resource.Group == corev1.GroupName || resource.Group == eventsv1.GroupName)
}

// reported is what an event is about.
type reported struct {
	metav1.Object

	path  string
	about *corev1.ObjectReference
}

// Report is a request to write an event.
type Report struct {
	admission.Attributes
	world.View

	// Kinds converts the event.
	Kinds admission.ObjectInterfaces
	// Client says in errors whose objects the client may report about, such as `seed "north"`.
	Client string
}

// Judge allows events about objects that the client may change, and changes of those that it has reported itself.
func (r *Report) Judge(ctx context.Context) error {
	now, old, err := r.events()
	if err != nil {
		return err
	}
	if old == nil {
		return r.about(ctx, now)
	}
	who := r.GetUserInfo().GetName()
	if old.GetAnnotations()[annotationReporter] != who {
		return ErrUnreported
	}
	if now.GetAnnotations()[annotationReporter] != who {
		return fmt.Errorf("metadata.annotations[%s]: must stay %q", annotationReporter, who)
	}
	if err := r.about(ctx, old); err != nil {
		return err
	}

	return r.about(ctx, now)
}

// events returns the new and the old event, which have other fields in each of the two groups.
func (r *Report) events() (now, old *reported, err error) {
	if r.GetResource().Group == eventsv1.GroupName {
		return both(r, func(e *eventsv1.Event) *reported { return &reported{e, "regarding", &e.Regarding} })
	}

	return both(r, func(e *corev1.Event) *reported { return &reported{e, "involvedObject", &e.InvolvedObject} })
}

func both[T any](r *Report, of func(*T) *reported) (now, old *reported, err error) {
	event, before, err := world.Objects[T](r.Attributes, r.Kinds)
	if err != nil {
		return nil, nil, err
	}
	if event != nil {
		now = of(event)
	}
	if before != nil {
		old = of(before)
	}

	return now, old, nil
}

// about rejects an event about an object that the client may not change. The error is the same whether the object exists
// or not.
func (r *Report) about(ctx context.Context, e *reported) error {
	foreign := fmt.Errorf("%s: %s %q is not an object of %s; report only about its own",
		e.path, e.about.Kind, e.about.Namespace+"/"+e.about.Name, r.Client)
	target, namespaced, ok := targetOf(e.about)
	if !ok || e.about.Name == "" || namespaced == (e.about.Namespace == "") {
		return foreign
	}
	place := metav1.NamespaceDefault
	if namespaced {
		place = e.about.Namespace
	}
	if r.GetNamespace() != place {
		return fmt.Errorf("metadata.namespace: must be %q, as that of the object in %s", place, e.path)
	}
	may, err := r.May(ctx, r.GetUserInfo(), "patch", target)
	if err != nil {
		return fmt.Errorf("%w: %w", world.ErrUnreadable, err)
	}
	if !may {
		return foreign
	}

	return nil
}

// targetOf returns the object of a kind that a gardenlet can change.
func targetOf(about *corev1.ObjectReference) (target world.Target, namespaced, ok bool) {
	of := schema.FromAPIVersionAndKind(about.APIVersion, about.Kind).GroupKind()
	clusterWide := map[schema.GroupKind]string{
		{Group: gardencorev1beta1.GroupName, Kind: kind.BackupBucket}:        "backupbuckets",
		{Group: gardencorev1beta1.GroupName, Kind: "ControllerInstallation"}: "controllerinstallations",
		{Group: gardencorev1beta1.GroupName, Kind: "Seed"}:                   "seeds",
	}
	resources := map[schema.GroupKind]string{
		{Group: gardencorev1beta1.GroupName, Kind: kind.BackupEntry}:         "backupentries",
		{Group: gardencorev1beta1.GroupName, Kind: "InternalSecret"}:         "internalsecrets",
		{Group: gardencorev1beta1.GroupName, Kind: "Shoot"}:                  "shoots",
		{Group: gardencorev1beta1.GroupName, Kind: "ShootState"}:             "shootstates",
		{Group: gardenoperationsv1alpha1.GroupName, Kind: kind.Bastion}:      "bastions",
		{Group: gardensecurityv1alpha1.GroupName, Kind: "WorkloadIdentity"}:  "workloadidentities",
		{Group: gardenseedmanagementv1alpha1.GroupName, Kind: "Gardenlet"}:   "gardenlets",
		{Group: gardenseedmanagementv1alpha1.GroupName, Kind: "ManagedSeed"}: "managedseeds",
		{Group: coordinationv1.GroupName, Kind: "Lease"}:                     "leases",
		{Kind: "ConfigMap"}:      "configmaps",
		{Kind: "Secret"}:         "secrets",
		{Kind: "ServiceAccount"}: "serviceaccounts",
	}
	resource, ok := clusterWide[of]
	if !ok {
		resource, namespaced = resources[of]
	}

	return world.Target{Group: of.Group, Resource: resource, Namespace: about.Namespace, Name: about.Name}, namespaced, ok || namespaced
}
