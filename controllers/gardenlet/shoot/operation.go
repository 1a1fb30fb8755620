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
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/profile"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// operation is what one run on one shoot has read before its first task.
type operation struct {
	r *Reconciler
	// facts describe the shoot as it was when the run began, with the status of a run that has begun.
	facts facts.Shoot
	// status writes to the Shoot while the run goes on.
	status  *account
	profile *gardencorev1beta1.CloudProfile
	// registrations are all of the garden: they say which extensions the shoot gets and when these act.
	registrations []gardencorev1beta1.ControllerRegistration
	// images are the references of the images of components.
	images map[string]string

	// secrets are the authorities, keys and certificates of earlier runs and of this one.
	secrets authorities
}

// load reads everything that an operation needs before its first task.
func (r *Reconciler) load(ctx context.Context, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) (*operation, error) {
	at, err := r.placeOf(ctx, shoot)
	if err != nil {
		return nil, err
	}
	o := &operation{r: r, facts: facts.Shoot{
		Shoot: shoot, Seed: seed, Project: at.project, Namespace: at.namespace, Hosts: facts.HostsOf(shoot, at.project, seed),
	}}
	if r.verticalAutoscaling {
		if o.facts.VerticalAutoscaling, err = vertical.StillServed(ctx, r.SeedClient, o.facts.Namespace); err != nil {
			return nil, err
		}
	}
	if o.facts.Power, err = o.ground().power(ctx); err != nil {
		return nil, err
	}
	if o.facts.Encryption, err = o.ground().encryption(ctx); err != nil {
		return nil, err
	}
	if o.facts.KubeletsSigned, err = o.ground().kubeletsSigned(ctx); err != nil {
		return nil, err
	}
	if o.facts.DNSCacheInUse, err = o.ground().dnsCacheInUse(ctx); err != nil {
		return nil, err
	}
	if err := o.loadProfile(ctx); err != nil {
		return nil, err
	}
	if err := o.loadHanded(ctx); err != nil {
		return nil, err
	}
	if err := o.loadExposure(ctx); err != nil {
		return nil, err
	}
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	if err := r.GardenReader.List(ctx, registrations); err != nil {
		return nil, fmt.Errorf("list controller registrations: %w", err)
	}
	o.registrations = registrations.Items
	identity := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceKubeSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	if err := r.GardenReader.Get(ctx, key, identity); err != nil {
		return nil, fmt.Errorf("get identity of the garden: %w", err)
	}
	o.facts.ClusterIdentity = clusterIdentity(o.facts, identity.Data[gardencorev1beta1.ConfigMapClusterIdentity])
	find := func(name string) (string, error) { return r.Images.Find(name, shoot.Spec.Kubernetes.Version) }
	if o.images, err = assembly.Images(o.facts, find, lists.ControlPlane(), lists.Machines(), lists.Scaling(), lists.Sizing(), lists.System(), lists.Optional()); err != nil {
		return nil, err
	}
	if o.secrets, err = loadAuthorities(ctx, o.ground()); err != nil {
		return nil, err
	}
	return o, nil
}

// errNoProject is a namespace that cannot have shoots.
var errNoProject = errors.New("does not belong to a project")

// project is the name of the project that the shoot is in.
func (r *Reconciler) project(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	namespace := &corev1.Namespace{}
	if err := r.GardenReader.Get(ctx, client.ObjectKey{Name: shoot.Namespace}, namespace); err != nil {
		return "", fmt.Errorf("get project namespace %q: %w", shoot.Namespace, err)
	}
	name := namespace.Labels[gardencorev1beta1.LabelProjectName]
	if name == "" {
		return "", fmt.Errorf("namespace %q %w: it has no label %s", shoot.Namespace, errNoProject, gardencorev1beta1.LabelProjectName)
	}
	return name, nil
}

// loadProfile reads the profile of the shoot. Only the owner of the shoot can correct a wrong reference. If the profile is gone, a
// deletion takes the one of the Cluster object.
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

// lastProfile is the profile in the Cluster object, or an empty one if there is none.
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

// clusterIdentity is unique among all clusters of all gardens. It never changes once it is in the status.
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

// ClusterOf returns the Cluster object, from which the extensions of a seed learn about a shoot.
func ClusterOf(name string, profile *gardencorev1beta1.CloudProfile, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) *gardenextensionsv1alpha1.Cluster {
	return &gardenextensionsv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			gardencorev1beta1.AnnotationGenericTokenKubeconfigName: gardencorev1beta1.SecretGenericTokenKubeconfig,
		}},
		Spec: gardenextensionsv1alpha1.ClusterSpec{
			CloudProfile: embedded(profile.DeepCopy(), "CloudProfile"), Seed: new(embedded(seed.DeepCopy(), "Seed")), Shoot: embedded(shoot.DeepCopy(), "Shoot"),
		},
	}
}

// embedded returns an object of the garden as part of another object, where it must have its version and kind.
func embedded(obj client.Object, kind string) runtime.RawExtension {
	obj.GetObjectKind().SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind(kind))
	obj.SetManagedFields(nil)
	return runtime.RawExtension{Object: obj}
}

// syncCluster writes the Cluster object with the shoot as given.
func (o *operation) syncCluster(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	return o.ground().engine().Apply(ctx, ClusterOf(o.facts.Namespace, o.profile, o.facts.Seed, shoot))
}

// authorities are the generated secrets of a shoot. A secret is generated when a task asks for it first.
type authorities struct {
	*secrets.Manager

	shoot *gardencorev1beta1.Shoot
}

// loadAuthorities reads what earlier runs have made.
func loadAuthorities(ctx context.Context, g ground) (authorities, error) {
	manager, err := secrets.Load(ctx, secrets.Config{
		Client: g.seed, Namespace: g.facts.Namespace, Identity: fieldOwner, Clock: g.clock,
		Rotations: secrets.RotationsOf(g.facts.Shoot.Status),
	})
	return authorities{Manager: manager, shoot: g.facts.Shoot}, err
}

// sshKey is the key of the machines; it is nil if they cannot be reached by SSH.
func (a authorities) sshKey(ctx context.Context) (*secrets.SSHKey, error) {
	if !query.SSHAllowed(&a.shoot.Spec) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	return a.SSHKey(ctx, gardencorev1beta1.SecretSSHKeypair)
}

// sshPublicKeys are the public parts of the key of the machines and of the one before it; none if they cannot be reached by SSH.
func (a authorities) sshPublicKeys(ctx context.Context) ([][]byte, error) {
	key, err := a.sshKey(ctx)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for ; key != nil; key = key.Old {
		keys = append(keys, key.Public)
	}
	return keys, nil
}

// sshPublicKey is the public part of the key of the machines; it is empty if they cannot be reached by SSH.
func (a authorities) sshPublicKey(ctx context.Context) ([]byte, error) {
	key, err := a.sshKey(ctx)
	if key == nil {
		return nil, err
	}
	return key.Public, nil
}
