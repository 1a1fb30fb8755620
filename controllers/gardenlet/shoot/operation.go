// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/profile"
)

// operation is one run on one shoot: what was read before it began. Its tasks do not know it, see fragments.
type operation struct {
	r *Reconciler
	// facts are what tasks are told of the shoot, as it was when the run began, with the status of a run that has begun.
	facts facts.Shoot
	// status writes to the Shoot while the run goes on.
	status  *account
	profile *gardencorev1beta1.CloudProfile
	// images are the references of the images of components.
	images map[string]string

	// secrets are the authorities, keys and certificates of earlier runs and of this one.
	secrets authorities
}

// load reads everything that an operation needs before its first task.
func (r *Reconciler) load(ctx context.Context, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) (*operation, error) {
	project, err := r.project(ctx, shoot)
	if err != nil {
		return nil, initialize(err)
	}
	o := &operation{r: r, facts: facts.Shoot{Shoot: shoot, Seed: seed, Project: project, Namespace: shoot.Status.TechnicalID, Hosts: facts.HostsOf(shoot, project, seed)}}
	if o.facts.Namespace == "" {
		o.facts.Namespace = gardencorev1beta1.NamespacePrefixShoot + project + "--" + shoot.Name
	}
	if err := o.loadProfile(ctx); err != nil {
		return nil, initialize(err)
	}
	identity := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceKubeSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	if err := r.GardenReader.Get(ctx, key, identity); err != nil {
		return nil, initialize(fmt.Errorf("get identity of the garden: %w", err))
	}
	o.facts.ClusterIdentity = clusterIdentity(o.facts, identity.Data[gardencorev1beta1.ConfigMapClusterIdentity])
	find := func(name string) (string, error) { return r.Images.Find(name, shoot.Spec.Kubernetes.Version) }
	if o.images, err = assembly.Images(o.facts, find, lists.ControlPlane(), lists.System()); err != nil {
		return nil, initialize(err)
	}
	if o.secrets, err = loadAuthorities(ctx, o.ground()); err != nil {
		return nil, initialize(err)
	}
	return o, nil
}

// project is the name of the project that the shoot is in.
func (r *Reconciler) project(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	namespace := &corev1.Namespace{}
	if err := r.GardenReader.Get(ctx, client.ObjectKey{Name: shoot.Namespace}, namespace); err != nil {
		return "", fmt.Errorf("get project namespace %q: %w", shoot.Namespace, err)
	}
	name := namespace.Labels[gardencorev1beta1.LabelProjectName]
	if name == "" {
		return "", fmt.Errorf("namespace %q belongs to no project: it has no label %s", shoot.Namespace, gardencorev1beta1.LabelProjectName)
	}
	return name, nil
}

func initialize(err error) error {
	return lastoperation.AtStep(lastoperation.StepInitialize, err)
}

// loadProfile finds the profile of the shoot. What is wrong with the reference itself is for its owner to mend. A deletion
// takes what extensions were told last if the profile is gone: it needs none to remove what there is.
func (o *operation) loadProfile(ctx context.Context) error {
	var err error
	o.profile, err = profile.Of(ctx, o.r.GardenReader, o.facts.Shoot)
	if o.facts.Shoot.DeletionTimestamp != nil && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err)) {
		o.profile, err = o.lastProfile(ctx)
	}
	if errors.Is(err, profile.ErrNone) || errors.Is(err, profile.ErrKind) {
		return lastoperation.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
	}
	return err
}

// lastProfile is the profile that stands in the Cluster object, or an empty one if there is none.
func (o *operation) lastProfile(ctx context.Context) (*gardencorev1beta1.CloudProfile, error) {
	last := &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: query.ProfileName(&o.facts.Shoot.Spec)}}
	cluster := &gardenextensionsv1alpha1.Cluster{}
	err := o.r.SeedClient.Get(ctx, client.ObjectKey{Name: o.facts.Namespace}, cluster)
	if apierrors.IsNotFound(err) {
		return last, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get cluster %q: %w", o.facts.Namespace, err)
	}
	if err := json.Unmarshal(cluster.Spec.CloudProfile.Raw, last); err != nil {
		return nil, fmt.Errorf("read cloud profile of cluster %q: %w", o.facts.Namespace, err)
	}
	return last, nil
}

// clusterIdentity is unique among all clusters of all gardens. It is made up once and never changes after that.
func clusterIdentity(f facts.Shoot, garden string) string {
	if known := f.Shoot.Status.ClusterIdentity; known != nil {
		return *known
	}
	return f.Namespace + "-" + string(f.Shoot.Status.UID) + "-" + garden
}

func (o *operation) ground() ground {
	return ground{facts: o.facts, seed: o.r.SeedClient, clock: o.r.Clock}
}

func (o *operation) todo() todo {
	return todo{shoot: o.facts.Shoot, garden: o.r.GardenClient, reader: o.r.GardenReader}
}

func (o *operation) report(ctx context.Context, change func(status *gardencorev1beta1.ShootStatus)) error {
	return o.status.Change(ctx, func(s *gardencorev1beta1.Shoot) { change(&s.Status) })
}
