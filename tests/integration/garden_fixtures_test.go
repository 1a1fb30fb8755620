// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// operator does to a garden what its people, gardenlets and extensions do.
type operator struct {
	*harness.Garden

	t *testing.T
}

func operate(t *testing.T, options ...harness.Option) *operator {
	t.Helper()
	return &operator{Garden: harness.Start(t, options...), t: t}
}

// in is the same garden in a subtest.
func (o *operator) in(t *testing.T) *operator {
	t.Helper()
	return &operator{Garden: o.Garden, t: t}
}

func (o *operator) create(objects ...client.Object) {
	o.t.Helper()
	for _, object := range objects {
		if err := o.Client.Create(o.t.Context(), object); err != nil {
			o.t.Fatalf("create %T %q: %v", object, object.GetName(), err)
		}
	}
}

func (o *operator) delete(object client.Object) {
	o.t.Helper()
	if err := o.Client.Delete(o.t.Context(), object); err != nil {
		o.t.Fatalf("delete %T %q: %v", object, object.GetName(), err)
	}
}

// change reads the object and patches what mutate does to it.
func (o *operator) change(object client.Object, mutate func()) {
	o.t.Helper()
	o.patch(object, mutate, func(patch client.Patch) error { return o.Client.Patch(o.t.Context(), object, patch) })
}

// changeStatus is change for the status.
func (o *operator) changeStatus(object client.Object, mutate func()) {
	o.t.Helper()
	o.patch(object, mutate, func(patch client.Patch) error { return o.Client.Status().Patch(o.t.Context(), object, patch) })
}

func (o *operator) patch(object client.Object, mutate func(), send func(client.Patch) error) {
	o.t.Helper()
	if err := o.Client.Get(o.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		o.t.Fatalf("read %T %q: %v", object, object.GetName(), err)
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		o.t.Fatalf("%T is no object", object)
	}
	mutate()
	if err := send(client.MergeFrom(before)); err != nil {
		o.t.Fatalf("change %T %q: %v", object, object.GetName(), err)
	}
}

// confirm allows the deletion of a Project or Shoot and deletes it.
func (o *operator) confirm(object client.Object) {
	o.t.Helper()
	o.change(object, func() {
		object.SetAnnotations(map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"})
	})
	o.delete(object)
}

// patience is called by a test that waits after it has stepped a clock: it lets another ten minutes pass if that takes long. A controller that reads
// the clock just before it is stepped, and asks to be called again just after that, is called too late by what it wanted to wait, which is ten
// minutes at most.
func patience(clock *harness.Clock) func() {
	next := time.Now().Add(10 * time.Second)
	return func() {
		if now := time.Now(); now.After(next) {
			next = now.Add(20 * time.Second)
			clock.Step(10 * time.Minute)
		}
	}
}

// gone waits until an object does not exist any more, and calls the given functions before it looks again.
func (o *operator) gone(object client.Object, what string, meanwhile ...func()) {
	o.t.Helper()
	harness.Eventually(o.t, what, func(ctx context.Context) error {
		for _, f := range meanwhile {
			f()
		}
		err := o.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("%T %q is still there, finalizers %v", object, object.GetName(), object.GetFinalizers())
	})
}

func (o *operator) event(about client.Object, reason, what string) *corev1.Event {
	o.t.Helper()
	var found *corev1.Event
	harness.Eventually(o.t, what, func(ctx context.Context) error {
		events := &corev1.EventList{}
		if err := o.Client.List(ctx, events); err != nil {
			return err
		}
		i := slices.IndexFunc(events.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.Name == about.GetName() && e.InvolvedObject.Namespace == about.GetNamespace()
		})
		if i < 0 {
			return fmt.Errorf("no event %q about %q", reason, about.GetName())
		}
		found = &events.Items[i]
		return nil
	})
	return found
}

// has is a check for Await and Eventually.
func has(is bool, format string, args ...any) error {
	if is {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// project makes a project and returns it with its namespace.
func (o *operator) project(name string, members ...gardencorev1beta1.ProjectMember) *gardencorev1beta1.Project {
	o.t.Helper()
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gardencorev1beta1.ProjectSpec{Members: members}}
	o.create(project)
	return o.phase(project, gardencorev1beta1.ProjectPhaseReady)
}

// home makes the project of operators, whose namespace is garden.
func (o *operator) home() {
	o.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	if err := o.Client.Get(o.t.Context(), client.ObjectKeyFromObject(namespace), namespace); err != nil {
		o.t.Fatal(err)
	}
	o.change(namespace, func() {
		namespace.Labels["gardener.cloud/role"], namespace.Labels["project.gardener.cloud/name"] = "project", "garden"
	})
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "garden"}, Spec: gardencorev1beta1.ProjectSpec{Namespace: &namespace.Name}}
	o.create(project)
	o.phase(project, gardencorev1beta1.ProjectPhaseReady)
}

func (o *operator) phase(project *gardencorev1beta1.Project, want gardencorev1beta1.ProjectPhase) *gardencorev1beta1.Project {
	o.t.Helper()
	return harness.Await(o.t, o.Client, project, fmt.Sprintf("project %q becomes %s", project.Name, want), func(p *gardencorev1beta1.Project) error {
		return has(p.Status.Phase == want && p.Status.ObservedGeneration == p.Generation, "phase %q, generation %d of %d", p.Status.Phase, p.Status.ObservedGeneration, p.Generation)
	})
}

func (o *operator) namespace(project *gardencorev1beta1.Project) *corev1.Namespace {
	o.t.Helper()
	namespace := &corev1.Namespace{}
	if err := o.Client.Get(o.t.Context(), client.ObjectKey{Name: *project.Spec.Namespace}, namespace); err != nil {
		o.t.Fatalf("read namespace of project %q: %v", project.Name, err)
	}
	return namespace
}

// provider registers an extension that serves everything of one provider type, and the profile that offers it.
func (o *operator) provider(typ string) {
	o.t.Helper()
	registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "provider-" + typ}}
	for _, kind := range []string{"ControlPlane", "Infrastructure", "Worker", "Network", "OperatingSystemConfig", "DNSRecord", "BackupBucket", "BackupEntry"} {
		registration.Spec.Resources = append(registration.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: typ})
	}
	registration.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "provider-" + typ}}}
	o.create(deployment("provider-"+typ), registration, profile(typ))
}

func deployment(name string) *gardencorev1beta1.ControllerDeployment {
	return &gardencorev1beta1.ControllerDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: "helm", ProviderConfig: runtime.RawExtension{Raw: []byte(`{"chart":"aGVsbG8="}`)},
	}
}

// former is the last version of Kubernetes that knows SecretBindings.
const former = "1.33.9"

func profile(typ string) *gardencorev1beta1.CloudProfile {
	return &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: typ}, Spec: gardencorev1beta1.CloudProfileSpec{
		Type:       typ,
		Kubernetes: gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.3"}, {Version: former}}},
		MachineImages: []gardencorev1beta1.MachineImage{{Name: typ, Versions: []gardencorev1beta1.MachineImageVersion{
			{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}, CRI: []gardencorev1beta1.CRI{{Name: "containerd"}}, Architectures: []string{"amd64"}},
		}}},
		MachineTypes: []gardencorev1beta1.MachineType{{Name: "small", Architecture: new("amd64"), CPU: resource.MustParse("4"), Memory: resource.MustParse("8Gi")}},
		Regions:      []gardencorev1beta1.Region{{Name: "north"}, {Name: "south"}},
	}}
}

// seed registers a seed as its gardenlet does, which then reports that it is ready.
func (o *operator) seed(name, typ, region string, change ...func(*gardencorev1beta1.Seed)) *gardencorev1beta1.Seed {
	o.t.Helper()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name}}
	seed.Spec.Provider = gardencorev1beta1.SeedProvider{Type: typ, Region: region}
	seed.Spec.Networks = gardencorev1beta1.SeedNetworks{
		Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: new("10.3.0.0/16"),
		ShootDefaults: &gardencorev1beta1.ShootNetworks{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")},
	}
	known(&seed.Spec, name)
	for _, c := range change {
		c(seed)
	}
	// The lease comes first: a seed that has a condition and no lease is silent (GCM-SEEDLIFE-2).
	o.heartbeat(name)
	o.create(seed)
	o.changeStatus(seed, func() {
		seed.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
		seed.Status.Conditions = append(seed.Status.Conditions, gardencorev1beta1.Condition{
			Type: "GardenletReady", Status: "True", Reason: "GardenletReady", Message: "Gardenlet is posting ready status.",
			LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
	})
	return seed
}

// heartbeat renews the lease of a seed.
func (o *operator) heartbeat(seed string) {
	o.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: seed}}
	err := o.Client.Get(o.t.Context(), client.ObjectKeyFromObject(lease), lease)
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("gardenlet"), new(metav1.NewMicroTime(time.Now()))
	if apierrors.IsNotFound(err) {
		err = o.Client.Create(o.t.Context(), lease)
	} else if err == nil {
		err = o.Client.Update(o.t.Context(), lease)
	}
	if err != nil {
		o.t.Fatalf("renew lease of seed %q: %v", seed, err)
	}
}

// shoot orders a cluster without workers, whose maintenance time window opens in twelve hours: the one that a shoot has by default
// may be open when a test begins, or when it has stepped its clock.
func (o *operator) shoot(namespace, name, typ string, change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	o.t.Helper()
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	shoot.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: typ}
	shoot.Spec.Region = "north"
	shoot.Spec.Provider.Type = typ
	shoot.Spec.Kubernetes.Version = "1.36.3"
	shoot.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: maintenanceWindow(time.Now().Add(12*time.Hour), time.Hour)}
	for _, c := range change {
		c(shoot)
	}
	o.create(shoot)
	return shoot
}

// maintenanceWindow is the maintenance time window that opens at a time of day, for so long.
func maintenanceWindow(open time.Time, length time.Duration) *gardencorev1beta1.MaintenanceTimeWindow {
	const layout = "150405-0700"
	return &gardencorev1beta1.MaintenanceTimeWindow{Begin: open.Format(layout), End: open.Add(length).Format(layout)}
}

// withWorker gives a shoot one pool of machines, and the credentials that it then needs.
func withWorker(binding string) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		typ := shoot.Spec.Provider.Type
		shoot.Spec.CredentialsBindingName = &binding
		shoot.Spec.Networking = &gardencorev1beta1.Networking{Type: &typ}
		shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{
			Name: "one", Minimum: 1, Maximum: 1,
			Machine: gardencorev1beta1.Machine{Type: "small", Image: &gardencorev1beta1.ShootMachineImage{Name: typ}},
		}}
	}
}

// formerly gives a shoot a version of Kubernetes in which credentials may still be named by a SecretBinding.
func formerly(binding string) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Kubernetes.Version = former
		shoot.Spec.SecretBindingName, shoot.Spec.CredentialsBindingName = &binding, nil
	}
}

func member(name, role string, more ...string) gardencorev1beta1.ProjectMember {
	return gardencorev1beta1.ProjectMember{Subject: rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}, Role: role, Roles: more}
}

func condition(conditions []gardencorev1beta1.Condition, kind gardencorev1beta1.ConditionType) (gardencorev1beta1.Condition, error) {
	i := slices.IndexFunc(conditions, func(c gardencorev1beta1.Condition) bool { return c.Type == kind })
	if i < 0 {
		return gardencorev1beta1.Condition{}, errors.New("no condition " + string(kind))
	}
	return conditions[i], nil
}

// known gives a seed the domains under which its components and the API servers of its shoots are found.
func known(seed *gardencorev1beta1.SeedSpec, name string) {
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "internal-domain"}
	if seed.DNS.Internal == nil {
		seed.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: seed.Provider.Type, Domain: "internal.example.org", CredentialsRef: ref}
	}
	seed.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: seed.Provider.Type, CredentialsRef: &ref}
	seed.Ingress = &gardencorev1beta1.Ingress{
		Domain: "ingress." + name + ".example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"},
	}
}
