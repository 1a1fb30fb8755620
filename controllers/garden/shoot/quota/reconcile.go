// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-quota"

// Reconciler deletes shoots whose time is over. It reads around the cache before it deletes one.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerShootQuotaControllerConfiguration
}

// AddToManager implements kit.Adder. A shoot is also checked when its binding changes.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	binding := func(shoot *gardencorev1beta1.Shoot) any { return query.BindingOf(&shoot.Spec) }
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Changed(binding)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile notes when one shoot will be deleted, and deletes it when its time has come; and again after the sync period, or
// when its time comes. A time that is written is acted upon in a later pass only: when a Quota gets a lifetime, the owners of shoots
// that are older have until then to set another time.
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if shoot.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	period := r.Config.SyncPeriod.Duration
	days, err := lifetime(ctx, r.Client, shoot)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	want, end := Expiration(shoot, days)
	again := kit.RequeueAfter(period)
	if left := end.Sub(r.Clock.Now()); left > 0 {
		again = kit.RequeueAfter(min(left, period))
	}
	if want != expiration(shoot) {
		return kit.Result(again, r.annotate(ctx, shoot, want))
	}
	if days == 0 || r.Clock.Now().Before(end) {
		return kit.Result(again, nil)
	}
	return kit.Result(again, r.remove(ctx, shoot))
}

func (r *Reconciler) annotate(ctx context.Context, shoot *gardencorev1beta1.Shoot, want string) error {
	commit := kit.Begin(r.Client, shoot)
	if want == "" {
		delete(shoot.Annotations, gardencorev1beta1.AnnotationShootExpirationTimestamp)
	} else {
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationShootExpirationTimestamp, want)
	}
	return client.IgnoreNotFound(commit.WriteObject(ctx))
}

// lifetime returns for how many days the Quotas of its binding let a shoot exist, or 0 for ever. A binding or a Quota that cannot be
// read is an error: it must not look as if there were no limit.
func lifetime(ctx context.Context, reader client.Reader, shoot *gardencorev1beta1.Shoot) (int32, error) {
	references, err := referenced(ctx, reader, shoot)
	if err != nil {
		return 0, err
	}
	quotas := make([]gardencorev1beta1.Quota, len(references))
	for i, ref := range references {
		if err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &quotas[i]); err != nil {
			return 0, fmt.Errorf("read quota %q of shoot %q: %w", ref.Namespace+"/"+ref.Name, client.ObjectKeyFromObject(shoot), err)
		}
	}
	return Lifetime(quotas), nil
}

// referenced returns the references to Quotas in the binding of a shoot.
func referenced(ctx context.Context, reader client.Reader, shoot *gardencorev1beta1.Shoot) ([]corev1.ObjectReference, error) {
	binding := query.BindingOf(&shoot.Spec)
	key := client.ObjectKey{Namespace: shoot.Namespace, Name: binding.Name}
	var err error
	switch binding.Kind {
	case query.KindSecretBinding:
		b := &gardencorev1beta1.SecretBinding{}
		if err = reader.Get(ctx, key, b); err == nil {
			return b.Quotas, nil
		}
	case query.KindCredentialsBinding:
		b := &gardensecurityv1alpha1.CredentialsBinding{}
		if err = reader.Get(ctx, key, b); err == nil {
			return b.Quotas, nil
		}
	default:
		return nil, nil
	}
	return nil, fmt.Errorf("read %s of shoot %q: %w", binding.Kind, client.ObjectKeyFromObject(shoot), err)
}

// remove asks again by what the server has now, and deletes the shoot if its time is still over (GCM-SHOOTQUOTA-3). It fails with a
// conflict if somebody extends the time meanwhile.
func (r *Reconciler) remove(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	live := &gardencorev1beta1.Shoot{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(shoot), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	days, err := lifetime(ctx, r.Reader, live)
	if err != nil {
		return err
	}
	_, end := Expiration(live, days)
	if days == 0 || live.UID != shoot.UID || live.DeletionTimestamp != nil || r.Clock.Now().Before(end) {
		return nil
	}
	two, err := r.needsTwo(ctx, live)
	if err != nil {
		return err
	}
	if two {
		kit.Record(r.Recorder, live, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventDeleteError, Action: gardencorev1beta1.EventActionDelete,
			Message: "The lifetime that its quota allows is over since " + end.Format(time.RFC3339) +
				", but its project wants two users to delete it: confirm its deletion and let somebody else delete it",
		})
		return nil
	}
	logf.FromContext(ctx).Info("Shoot is deleted because the lifetime that its quota allows is over", "since", end)
	return kit.DeleteConfirmed(ctx, r.Client, live)
}

// needsTwo reports whether the project of a shoot requires two users to delete it. Then nothing is confirmed here: anybody who can
// set the annotation could make this controller the first of the two.
func (r *Reconciler) needsTwo(ctx context.Context, shoot *gardencorev1beta1.Shoot) (bool, error) {
	namespace := &corev1.Namespace{}
	if err := r.Reader.Get(ctx, client.ObjectKey{Name: shoot.Namespace}, namespace); err != nil {
		return false, fmt.Errorf("read namespace %q: %w", shoot.Namespace, err)
	}
	project := &gardencorev1beta1.Project{}
	key := client.ObjectKey{Name: namespace.Labels[gardencorev1beta1.LabelProjectName]}
	if err := r.Reader.Get(ctx, key, project); err != nil {
		return false, fmt.Errorf("read project of namespace %q: %w", shoot.Namespace, err)
	}
	return query.NeedsTwo(project, shoot.Labels, false)
}
