// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	modeForce mode = "forced deletion"

	// forceGrace is how long those who have to do with an object may take to let it go, until its finalizers are removed.
	forceGrace = 2 * time.Minute
	// recordGrace is the same for DNS records, which are to be deleted at the provider too if that is possible.
	recordGrace = 5 * time.Minute

	// podGrace is the time that pods have to end.
	podGrace = 30 * time.Second
)

// Forced reports whether the owner of a shoot wants it to vanish, whatever is left of it at the provider (GLET-FORCE-1).
func Forced(shoot *gardencorev1beta1.Shoot) bool {
	yes, err := strconv.ParseBool(shoot.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion])
	return err == nil && yes && shoot.DeletionTimestamp != nil
}

// forceGraph is the flow that takes away all that a shoot has in seed and garden, with its finalizers. It asks nobody whether
// that is possible, enters the shoot in no way, and leaves alone what is at the provider (GLET-FORCE-2, 3).
func (o *operation) forceGraph(context.Context) (*flow.Graph, error) {
	h := home{ground: o.ground(), shoots: o.r.Shoots}
	p := project{ground: o.ground(), garden: o.r.GardenClient}
	f := force{ground: o.ground()}
	task := func(id flow.ID, title string, do func(context.Context) error, after ...flow.ID) flow.Task {
		return flow.Task{ID: id, Title: title, After: after, Timeout: cleanTimeout, Do: do}
	}
	return flow.Compile("Shoot cluster "+string(modeForce),
		task("force-extensions", "Deleting all objects of extensions", f.extensions),
		task("force-dns", "Deleting the DNS records", f.records),
		task("force-machine-controller", "Stopping the controller of the machines", f.stopMachines),
		task("force-machines", "Deleting the machines", f.machines, "force-machine-controller"),
		task("force-managed-resources", "Deleting the managed resources", f.managedResources, "force-extensions"),
		task("force-workloads", "Deleting the control plane and its stores", f.workloads,
			"force-extensions", "force-dns", "force-machines", "force-managed-resources"),
		task("force-objects", "Deleting all other objects of the control plane", f.objects, "force-workloads"),
		flow.Task{ID: "garden-credentials-delete", Title: "Deleting the credentials in the project", Do: p.deleteCredentials},
		flow.Task{ID: "namespace-delete", Title: "Deleting the namespace of the control plane", After: after("force-objects"), Do: h.delete},
		p.stateDeletion(),
		flow.Task{
			ID: "namespace-delete-wait", Title: "Waiting until the namespace of the control plane is gone",
			After: after("namespace-delete", "garden-credentials-delete"), Timeout: namespaceTimeout, Do: h.waitGone,
		},
	)
}

// force deletes what a shoot has in the seed. A run that is repeated goes on where the last one ended.
type force struct {
	ground
}

// clear deletes all objects of some kinds in the namespace of the shoot, and removes the finalizers of those that stay for too long.
func (f force) clear(ctx context.Context, grace time.Duration, annotations map[string]string, kinds ...schema.GroupVersionKind) error {
	confirmed := map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"}
	maps.Copy(confirmed, annotations)
	return f.clean(ctx, planeCleaning{annotations: confirmed}, CleanGroup{Kinds: kinds, DeleteGrace: podGrace, FinalizeAfter: grace})
}

var errNoNamespace = errors.New("the shoot has no namespace in the seed")

// clean cleans the namespace of the shoot. Without a name it would be all namespaces of the seed.
func (f force) clean(ctx context.Context, plane planeCleaning, group CleanGroup) error {
	if plane.namespace = f.facts.Namespace; plane.namespace == "" {
		return errNoNamespace
	}
	return Cleaner{Client: f.seed, Clock: f.clock, plane: &plane}.Clean(ctx, group)
}

// extensions deletes the objects of extensions, which learn from the annotation and from the Cluster object that they are to leave the
// infrastructure alone.
func (f force) extensions(ctx context.Context) error {
	var kinds []schema.GroupVersionKind
	for _, k := range extensions.Kinds() {
		switch k.Name {
		case kind.DNSRecord, kind.BackupBucket, kind.BackupEntry, kind.SelfHostedShootExposure:
		default:
			kinds = append(kinds, gardenextensionsv1alpha1.GroupVersion.WithKind(k.Name))
		}
	}
	return f.clear(ctx, forceGrace, map[string]string{gardencorev1beta1.AnnotationConfirmationForceDeletion: "true"}, kinds...)
}

func (f force) records(ctx context.Context) error {
	return f.clear(ctx, recordGrace, nil, gardenextensionsv1alpha1.GroupVersion.WithKind(kind.DNSRecord))
}

// stopMachines deletes the controller of machines, which must not make or delete any while their objects go.
func (f force) stopMachines(ctx context.Context) error {
	controller := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.facts.Namespace, Name: gardencorev1beta1.DeploymentMachineControllerManager}}
	if err := f.engine().Delete(ctx, controller); err != nil {
		return err
	}
	return f.engine().WaitGone(ctx, controller)
}

// machines deletes the objects of machines with their finalizers. The machines themselves are at the provider.
func (f force) machines(ctx context.Context) error {
	v1alpha1 := gardenmachinev1alpha1.GroupVersion
	return f.clear(ctx, 0, nil,
		v1alpha1.WithKind(gardenmachinev1alpha1.KindMachineDeployment), v1alpha1.WithKind(gardenmachinev1alpha1.KindMachineSet),
		v1alpha1.WithKind(gardenmachinev1alpha1.KindMachine), v1alpha1.WithKind(gardenmachinev1alpha1.KindMachineClass))
}

// managedResources deletes the managed resources. What they have made goes as well where it is in reach.
func (f force) managedResources(ctx context.Context) error {
	if f.facts.Namespace == "" {
		return errNoNamespace
	}
	resources := &gardenresourcesv1alpha1.ManagedResourceList{}
	err := f.seed.List(ctx, resources, client.InNamespace(f.facts.Namespace))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list managed resources: %w", err)
	}
	for i := range resources.Items {
		r := &resources.Items[i]
		before := r.DeepCopy()
		r.Spec.KeepObjects = new(false)
		if err := f.seed.Patch(ctx, r, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("let managed resource %q delete its objects: %w", r.Name, err)
		}
	}
	return f.clear(ctx, forceGrace, nil, gardenresourcesv1alpha1.GroupVersion.WithKind("ManagedResource"))
}

// workloads deletes what runs, so that nothing is made anew afterwards.
func (f force) workloads(ctx context.Context) error {
	apps, batch := schema.GroupVersion{Group: "apps", Version: "v1"}, schema.GroupVersion{Group: "batch", Version: "v1"}
	return f.clear(ctx, forceGrace, nil,
		batch.WithKind("CronJob"), batch.WithKind("Job"), apps.WithKind("DaemonSet"), apps.WithKind("Deployment"), apps.WithKind("ReplicaSet"), apps.WithKind("StatefulSet"),
		schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
}

// objects deletes all else that has finalizers. The namespace takes the rest with it, some of which others would make anew until then.
func (f force) objects(ctx context.Context) error {
	core := schema.GroupVersion{Version: "v1"}
	plane := planeCleaning{annotations: map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"}, held: true}
	return f.clean(ctx, plane, CleanGroup{
		Kinds: []schema.GroupVersionKind{
			core.WithKind("Service"), core.WithKind("PersistentVolumeClaim"), core.WithKind("Secret"), core.WithKind("ConfigMap"),
			{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
		},
		DeleteGrace: podGrace, FinalizeAfter: forceGrace,
	})
}

// planeCleaning is what a Cleaner does differently in the seed: it stays in one namespace, spares nothing there that belongs to the
// shoot, and confirms each deletion, also one that has begun before.
type planeCleaning struct {
	namespace   string
	annotations map[string]string
	// held leaves objects without finalizers to the namespace.
	held bool
}

// spares reports whether an object is left alone.
func (c Cleaner) spares(obj *metav1.PartialObjectMetadata) bool {
	if c.plane != nil {
		return c.plane.held && len(obj.Finalizers) == 0
	}
	return spared(obj)
}

func (c Cleaner) where() string {
	if c.plane != nil {
		return "in namespace " + c.plane.namespace + " of the seed"
	}
	return "inside the shoot"
}

func (c Cleaner) within() []client.ListOption {
	if c.plane != nil {
		return []client.ListOption{client.InNamespace(c.plane.namespace)}
	}
	return nil
}

func (c Cleaner) confirm(ctx context.Context, obj *metav1.PartialObjectMetadata) error {
	if c.plane == nil {
		return nil
	}
	before := obj.DeepCopy()
	for key, value := range c.plane.annotations {
		metav1.SetMetaDataAnnotation(&obj.ObjectMeta, key, value)
	}
	if maps.Equal(before.Annotations, obj.Annotations) {
		return nil
	}
	if err := c.Client.Patch(ctx, obj, client.MergeFrom(before)); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("confirm the deletion of %s %q: %w", obj.Kind, obj.Name, err)
	}
	return nil
}
