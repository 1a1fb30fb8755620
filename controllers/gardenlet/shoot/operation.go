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
	"github.com/terrarium-garden/terrarium/controllers/component/images"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/profile"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// operation is one run on one shoot: what was read before it began, and what its tasks hand to each other. A task writes only
// fields of its own; the edges of the graph order writers before readers.
type operation struct {
	r *Reconciler
	// shoot is as it was when the run began, with the status of a run that has begun.
	shoot *gardencorev1beta1.Shoot
	// status writes to the Shoot while the run goes on.
	status *statusWriter

	project        string
	namespace      string
	gardenIdentity string
	profile        *gardencorev1beta1.CloudProfile
	seed           *gardencorev1beta1.Seed
	hosts          Hosts
	images         imageSet

	// secrets, authorities and the rest of pki come from task secrets-init.
	secrets *secrets.Manager
	pki     pki
	// loadBalancer and serviceIP are the addresses of the API server, from task apiserver-service-wait.
	loadBalancer, serviceIP string
	// infrastructure is the answer of the extension, from task infrastructure-wait.
	infrastructure *gardenextensionsv1alpha1.Infrastructure
	// etcd are the URLs of the stores by role, from task etcd.
	etcd map[string]string
	// encryption is what the API server encrypts, from task apiserver.
	encryption gardencorev1beta1.EncryptionAtRest
	// userData names the Secrets with the user data of each pool, from task osc-wait.
	userData map[string]string
	// shootClient reaches the shoot, from task shoot-client.
	shootClient client.Client
}

// imageSet are the images of the components in the versions of the shoot.
type imageSet struct {
	etcd, apiServer, controllerManager, scheduler, proxy string
}

// load reads everything that an operation needs before its first task.
func (r *Reconciler) load(ctx context.Context, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) (*operation, error) {
	o := &operation{r: r, shoot: shoot, seed: seed}
	namespace := &corev1.Namespace{}
	if err := r.GardenReader.Get(ctx, client.ObjectKey{Name: shoot.Namespace}, namespace); err != nil {
		return nil, initialize(fmt.Errorf("get project namespace %q: %w", shoot.Namespace, err))
	}
	o.project = namespace.Labels[gardencorev1beta1.LabelProjectName]
	if o.project == "" {
		return nil, initialize(fmt.Errorf("namespace %q belongs to no project: it has no label %s", shoot.Namespace, gardencorev1beta1.LabelProjectName))
	}
	o.namespace = shoot.Status.TechnicalID
	if o.namespace == "" {
		o.namespace = gardencorev1beta1.NamespacePrefixShoot + o.project + "--" + shoot.Name
	}
	if err := o.loadProfile(ctx); err != nil {
		return nil, initialize(err)
	}
	identity := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceKubeSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	if err := r.GardenReader.Get(ctx, key, identity); err != nil {
		return nil, initialize(fmt.Errorf("get identity of the garden: %w", err))
	}
	o.gardenIdentity = identity.Data[gardencorev1beta1.ConfigMapClusterIdentity]
	if err := o.loadImages(); err != nil {
		return nil, initialize(err)
	}
	o.hosts = HostsOf(shoot, o.project, seed)
	return o, nil
}

func initialize(err error) error {
	return &initializeError{task: taskInitialize, err: err}
}

// loadProfile finds the profile of the shoot. What is wrong with the reference itself is for its owner to mend. A deletion
// takes what extensions were told last if the profile is gone: it needs none to remove what there is.
func (o *operation) loadProfile(ctx context.Context) error {
	var err error
	o.profile, err = profile.Of(ctx, o.r.GardenReader, o.shoot)
	if o.shoot.DeletionTimestamp != nil && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err)) {
		o.profile, err = o.lastProfile(ctx)
	}
	if errors.Is(err, profile.ErrNone) || errors.Is(err, profile.ErrKind) {
		return extension.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
	}
	return err
}

// lastProfile is the profile that stands in the Cluster object, or an empty one if there is none.
func (o *operation) lastProfile(ctx context.Context) (*gardencorev1beta1.CloudProfile, error) {
	last := &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: query.ProfileName(&o.shoot.Spec)}}
	cluster := &gardenextensionsv1alpha1.Cluster{}
	err := o.r.SeedClient.Get(ctx, client.ObjectKey{Name: o.namespace}, cluster)
	if apierrors.IsNotFound(err) {
		return last, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get cluster %q: %w", o.namespace, err)
	}
	if err := json.Unmarshal(cluster.Spec.CloudProfile.Raw, last); err != nil {
		return nil, fmt.Errorf("read cloud profile of cluster %q: %w", o.namespace, err)
	}
	return last, nil
}

func (o *operation) loadImages() error {
	version := o.shoot.Spec.Kubernetes.Version
	for name, into := range map[string]*string{
		images.ETCD:                  &o.images.etcd,
		images.KubeAPIServer:         &o.images.apiServer,
		images.KubeControllerManager: &o.images.controllerManager,
		images.KubeScheduler:         &o.images.scheduler,
		images.KubeProxy:             &o.images.proxy,
	} {
		ref, err := o.r.Images.Find(name, version)
		if err != nil {
			return err
		}
		*into = ref
	}
	return nil
}

// clusterIdentity is unique among all clusters of all gardens.
func (o *operation) clusterIdentity() string {
	return o.namespace + "-" + string(o.shoot.Status.UID) + "-" + o.gardenIdentity
}
