// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// scope is what one pass works on.
type scope struct {
	bastion *gardenoperationsv1alpha1.Bastion
	commit  *kit.Commit
	// shoot is nil if it does not exist any more.
	shoot *gardencorev1beta1.Shoot
	// host is the object of the extension contract, with its identity only until it is read.
	host *gardenextensionsv1alpha1.Bastion
}

// Reconcile makes one pass on a Bastion.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	b := &gardenoperationsv1alpha1.Bastion{}
	if found, err := kit.Live(ctx, r.GardenReader, r.GardenClient, request.NamespacedName, b); !found || !r.own(b) {
		return reconcile.Result{}, err
	}
	s := &scope{bastion: b}
	var err error
	if s.shoot, err = r.shootOf(ctx, b); err != nil {
		return reconcile.Result{}, err
	}
	if s.shoot != nil {
		if err := shoot.CheckPlace(ctx, r.SeedClient, s.shoot); err != nil {
			return kit.Result(kit.Stop(), fmt.Errorf("find the namespace of shoot %q: %w", s.shoot.Name, err))
		}
		s.host = &gardenextensionsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: s.shoot.Status.TechnicalID, Name: b.Name}}
	}
	if b.DeletionTimestamp != nil {
		return kit.Result(kit.Run(ctx, s, r.force, r.tell, r.remove))
	}
	if s.shoot == nil || s.shoot.DeletionTimestamp != nil {
		return reconcile.Result{}, nil // The garden deletes the Bastion (GCM-BASTION-3).
	}
	if err := r.accept(ctx, b); err != nil {
		return kit.Result(kit.Continue(), err)
	}
	s.commit = kit.Begin(r.GardenClient, b)
	outcome, err := kit.Run(ctx, s, r.place, r.ask, r.report)
	if kit.IsFailure(err) {
		r.unready(b, gardenoperationsv1alpha1.ReasonBastionFailedReconciling, err.Error())
	}
	return s.commit.Status(ctx, outcome, err)
}

func (r *Reconciler) shootOf(ctx context.Context, b *gardenoperationsv1alpha1.Bastion) (*gardencorev1beta1.Shoot, error) {
	shoot := &gardencorev1beta1.Shoot{}
	key := client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.ShootRef.Name}
	err := r.GardenClient.Get(ctx, key, shoot)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no shoot is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("get shoot %q of bastion %q: %w", key, b.Name, err)
	}
	return shoot, nil
}

// accept adds the finalizer, and takes off the annotation that requests a reconciliation.
func (r *Reconciler) accept(ctx context.Context, b *gardenoperationsv1alpha1.Bastion) error {
	if b.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationReconcile {
		commit := kit.Begin(r.GardenClient, b)
		delete(b.Annotations, gardencorev1beta1.AnnotationOperation)
		if err := commit.WriteObject(ctx); err != nil {
			return err
		}
	}
	return kit.EnsureFinalizer(ctx, r.GardenClient, b, gardencorev1beta1.FinalizerGardener)
}

// errNoControlPlane says that the shoot is too young.
var errNoControlPlane = errors.New("the control plane of the shoot does not exist yet")

// errSSHDisabled says that a host would lead nowhere.
var errSSHDisabled = errors.New("the machines of the shoot cannot be reached by SSH: spec.provider.workersSettings.sshAccess of the shoot is disabled")

// place checks that there is a place for the host.
func (r *Reconciler) place(_ context.Context, s *scope) (kit.Outcome, error) {
	if s.shoot.Status.TechnicalID == "" {
		return kit.Stop(), errNoControlPlane
	}
	if !query.SSHAllowed(&s.shoot.Spec) {
		return kit.Stop(), kit.UserMustFix("SSHDisabled", errSSHDisabled)
	}
	return kit.Continue(), nil
}

// annotationGeneration is on the objects in the seed: the generation of the Bastion for which its extension was last asked to act.
const annotationGeneration = "operations.gardener.cloud/bastion-generation"

// ask writes the object of the extension contract, once for each generation of the Bastion (GLET-BASTION-1).
func (r *Reconciler) ask(ctx context.Context, s *scope) (kit.Outcome, error) {
	spec, err := Spec(s.bastion)
	if err != nil {
		return kit.Stop(), kit.UserMustFix("InvalidBastion", err)
	}
	generation := strconv.FormatInt(s.bastion.Generation, 10)
	err = r.SeedClient.Get(ctx, client.ObjectKeyFromObject(s.host), s.host)
	if client.IgnoreNotFound(err) != nil {
		return kit.Stop(), fmt.Errorf("get the host of bastion %q: %w", s.bastion.Name, err)
	}
	switch {
	case err == nil && s.host.DeletionTimestamp != nil:
		return kit.Stop(), kit.Wait(recheck, "waiting until the former host is gone")
	case err == nil && s.host.Annotations[annotationGeneration] == generation:
		return kit.Continue(), nil
	}
	err = r.extensions().Apply(ctx, s.host, extension.Always, func() error {
		if s.host.ResourceVersion != "" {
			// The script never changes (EXT-OBJ-5): a host that runs has run it, also if it is that of an earlier version.
			spec.UserData = s.host.Spec.UserData
		}
		s.host.Spec = spec
		metav1.SetMetaDataAnnotation(&s.host.ObjectMeta, annotationGeneration, generation)
		return nil
	})
	return kit.Continue(), err
}

func (r *Reconciler) extensions() extension.Engine {
	return extension.Engine{Client: r.SeedClient, Clock: r.Clock}
}

const (
	// recheck is how often the end of a host is looked for. Events usually come first.
	recheck = 5 * time.Second
	// patience is how long an extension may take until the Bastion is reported to have failed.
	patience = 5 * time.Minute
)

// report takes over what the extension has done (GLET-BASTION-2).
func (r *Reconciler) report(_ context.Context, s *scope) (kit.Outcome, error) {
	err := extension.Ready(s.host)
	switch {
	case err == nil && s.host.Status.Ingress == nil:
		err = errors.New("its extension has reported no address")
	case err == nil:
		r.ready(s.bastion, s.host)
		return kit.Stop(), nil
	}
	asked, parseErr := time.Parse(time.RFC3339Nano, s.host.Annotations[gardencorev1beta1.AnnotationTimestamp])
	if s.host.Status.LastError == nil && parseErr == nil && r.Clock.Since(asked) < patience {
		return kit.Stop(), kit.Wait(patience, err.Error())
	}
	// The extension tries again by itself, and its next report starts the next pass.
	r.unready(s.bastion, gardenoperationsv1alpha1.ReasonBastionFailedReconciling, err.Error())
	return kit.RequeueAfter(patience), nil
}

// forced reports whether an object is to vanish whatever is left of it.
func forced(object client.Object) bool {
	yes, err := strconv.ParseBool(object.GetAnnotations()[gardencorev1beta1.AnnotationConfirmationForceDeletion])
	return err == nil && yes
}

// force passes the annotation for a forced deletion on from the shoot to the Bastion, and to the object of the extension (GLET-BASTION-6).
func (r *Reconciler) force(ctx context.Context, s *scope) (kit.Outcome, error) {
	const annotation = gardencorev1beta1.AnnotationConfirmationForceDeletion
	if s.shoot != nil && s.shoot.DeletionTimestamp != nil && forced(s.shoot) && !forced(s.bastion) {
		commit := kit.Begin(r.GardenClient, s.bastion)
		metav1.SetMetaDataAnnotation(&s.bastion.ObjectMeta, annotation, "true")
		if err := commit.WriteObject(ctx); err != nil {
			return kit.Stop(), err
		}
	}
	if s.host == nil || s.host.Namespace == "" || !forced(s.bastion) {
		return kit.Continue(), nil
	}
	err := r.SeedClient.Get(ctx, client.ObjectKeyFromObject(s.host), s.host)
	if err != nil || forced(s.host) {
		return kit.Continue(), client.IgnoreNotFound(err)
	}
	before := s.host.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.host.ObjectMeta, annotation, "true")
	return kit.Continue(), client.IgnoreNotFound(r.SeedClient.Patch(ctx, s.host, client.MergeFrom(before)))
}

// tell shows that the Bastion is being deleted (GLET-BASTION-4).
func (r *Reconciler) tell(ctx context.Context, s *scope) (kit.Outcome, error) {
	if !slices.Contains(s.bastion.Finalizers, gardencorev1beta1.FinalizerGardener) {
		return kit.Stop(), nil
	}
	commit := kit.Begin(r.GardenClient, s.bastion)
	r.unready(s.bastion, gardenoperationsv1alpha1.ReasonBastionDeletionInProgress, "The host of the bastion is being deleted")
	return kit.Continue(), commit.WriteStatus(ctx)
}

// remove deletes the host, and releases the Bastion when it is gone. Without its shoot there is no namespace in which it could be.
func (r *Reconciler) remove(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.host != nil && s.host.Namespace != "" {
		if err := r.extensions().Delete(ctx, s.host); err != nil {
			return kit.Stop(), err
		}
		err := r.SeedClient.Get(ctx, client.ObjectKeyFromObject(s.host), s.host)
		if err == nil {
			return kit.RequeueAfter(recheck), nil
		}
		if !apierrors.IsNotFound(err) {
			return kit.Stop(), fmt.Errorf("look for the host of bastion %q: %w", s.bastion.Name, err)
		}
	}
	return kit.Stop(), kit.DropFinalizer(ctx, r.GardenClient, s.bastion, gardencorev1beta1.FinalizerGardener)
}
