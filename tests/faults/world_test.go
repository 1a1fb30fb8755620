// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// world is a garden in which there is everything that deeds begin with.
type world struct {
	// t is the test of the present deed, top that of all.
	t, top *testing.T
	dir    string
	garden *garden
	// gate is there once a deed needs it.
	gate *gate
}

func (w *world) client() client.WithWatch { return w.garden.clients[0] }

// settle starts a garden with an operators' project, a provider and a seed.
func settle(t *testing.T, environment ...string) *world {
	t.Helper()
	w := &world{t: t, top: t, dir: t.TempDir()}
	w.garden = start(t, w.dir, environment...)
	home := project("garden")
	err := errors.Join(
		w.client().Patch(t.Context(), &corev1.Namespace{ObjectMeta: in("", "garden")}, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"labels":{"gardener.cloud/role":"project","project.gardener.cloud/name":"garden"}}}`))),
		create(home, deployment(), registration(), profile())(w),
	)
	if err != nil {
		t.Fatal(err)
	}
	w.until(ready("garden"))
	err = errors.Join(create(
		&corev1.Secret{ObjectMeta: in("garden", "local")}, binding(), seed(),
		&coordinationv1.Lease{ObjectMeta: in("gardener-system-seed-lease", "north"), Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("gardenlet"), RenewTime: new(metav1.NewMicroTime(time.Now().Add(time.Hour))),
		}},
	)(w))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// project has a namespace whose name is known.
func project(name string) *gardencorev1beta1.Project {
	namespace := "garden-" + name
	if name == "garden" {
		namespace = name
	}
	return &gardencorev1beta1.Project{ObjectMeta: in("", name), Spec: gardencorev1beta1.ProjectSpec{
		Namespace: &namespace, Members: []gardencorev1beta1.ProjectMember{{
			Subject: rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "ann"}, Role: "admin", Roles: []string{"extension:metering"},
		}},
	}}
}

func registration() *gardencorev1beta1.ControllerRegistration {
	r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: in("", "provider-local")}
	for _, kind := range []string{"ControlPlane", "Infrastructure", "Worker", "Network", "OperatingSystemConfig", "DNSRecord"} {
		r.Spec.Resources = append(r.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: "local"})
	}
	r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "provider-local"}}}
	return r
}

func deployment() *gardencorev1beta1.ControllerDeployment {
	return &gardencorev1beta1.ControllerDeployment{
		ObjectMeta: in("", "provider-local"), Type: "helm", ProviderConfig: runtime.RawExtension{Raw: []byte(`{"chart":"aGVsbG8="}`)},
	}
}

func profile() *gardencorev1beta1.CloudProfile {
	return &gardencorev1beta1.CloudProfile{ObjectMeta: in("", "local"), Spec: gardencorev1beta1.CloudProfileSpec{
		Type:       "local",
		Kubernetes: gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.3"}, {Version: "1.36.2"}}},
		MachineImages: []gardencorev1beta1.MachineImage{{Name: "local", Versions: []gardencorev1beta1.MachineImageVersion{
			{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}, CRI: []gardencorev1beta1.CRI{{Name: "containerd"}}, Architectures: []string{"amd64"}},
		}}},
		MachineTypes: []gardencorev1beta1.MachineType{{Name: "small", Architecture: new("amd64"), CPU: resource.MustParse("4"), Memory: resource.MustParse("8Gi")}},
		Regions:      []gardencorev1beta1.Region{{Name: "north"}},
	}}
}

func binding() *gardensecurityv1alpha1.CredentialsBinding {
	return &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta: in("garden", "local"), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "local"},
	}
}

func seed() *gardencorev1beta1.Seed {
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "local"}
	s := &gardencorev1beta1.Seed{ObjectMeta: in("", "north")}
	s.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "north"}
	s.Spec.Networks = gardencorev1beta1.SeedNetworks{
		Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: new("10.3.0.0/16"),
		ShootDefaults: &gardencorev1beta1.ShootNetworks{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")},
	}
	s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: ref}
	s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: &ref}
	s.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: "ingress.north.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}}
	return s
}

func shootSpec() gardencorev1beta1.ShootSpec {
	s := gardencorev1beta1.ShootSpec{Region: "north", CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}}
	s.Provider.Type, s.Kubernetes.Version = "local", "1.36.3"
	s.SchedulerName = new("nobody")
	return s
}

// endShoot makes a shoot with a bastion and deletes it. Nobody is there to let it go.
func endShoot(w *world) error {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: in("garden-one", "sprout"), Spec: shootSpec()}
	shoot.Spec.SeedName, shoot.Finalizers = new("north"), []string{"test/held"}
	door := &gardenoperationsv1alpha1.Bastion{ObjectMeta: in("garden-one", "door"), Spec: gardenoperationsv1alpha1.BastionSpec{
		ShootRef: corev1.LocalObjectReference{Name: "sprout"}, SSHPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC",
		Ingress: []gardenoperationsv1alpha1.BastionIngressPolicy{{}},
	}}
	door.Spec.Ingress[0].IPBlock.CIDR = "192.0.2.0/24"
	if err := create(shoot, door)(w); err != nil {
		return err
	}
	return w.confirm(&gardencorev1beta1.Shoot{ObjectMeta: in("garden-one", "sprout")})
}

func createSet(w *world) error {
	labels := map[string]string{"set": "a"}
	s := &gardenseedmanagementv1alpha1.ManagedSeedSet{ObjectMeta: in("garden", "a")}
	s.Spec.Replicas, s.Spec.Selector.MatchLabels = new(int32(1)), labels
	s.Spec.Template.Labels, s.Spec.ShootTemplate.Labels = labels, labels
	s.Spec.ShootTemplate.Spec = shootSpec()
	shoot := &s.Spec.ShootTemplate.Spec
	shoot.DNS = &gardencorev1beta1.DNS{Domain: new("replica-name.example.com")}
	shoot.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
	shoot.CredentialsBindingName, shoot.Networking = new("local"), &gardencorev1beta1.Networking{Type: new("local")}
	shoot.Provider.Workers = []gardencorev1beta1.Worker{{
		Name: "one", Minimum: 1, Maximum: 1,
		Machine: gardencorev1beta1.Machine{Type: "small", Image: &gardencorev1beta1.ShootMachineImage{Name: "local"}},
	}}
	s.Spec.Template.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{Config: runtime.RawExtension{Raw: []byte(
		`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration","seedConfig":{"metadata":{"labels":{"set":"a"}},"spec":{"dns":{` +
			`"provider":{"type":"local","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"local"}},` +
			`"internal":{"type":"local","domain":"internal.example.org","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"local"}}}}}}`)}}
	return create(s)(w)
}

// reconcileReplica reports what the gardenlet of a seed would report.
func reconcileReplica(w *world) error {
	shoot := &gardencorev1beta1.Shoot{}
	if err := w.client().Get(w.t.Context(), client.ObjectKey{Namespace: "garden", Name: "a-0"}, shoot); err != nil {
		return err
	}
	shoot.Status.ObservedGeneration = shoot.Generation
	shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
	return w.client().Status().Update(w.t.Context(), shoot)
}

func scaleSet(replicas int) func(*world) error {
	return func(w *world) error {
		set := &gardenseedmanagementv1alpha1.ManagedSeedSet{ObjectMeta: in("garden", "a")}
		return w.client().Patch(w.t.Context(), set, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)))
	}
}

// state tells what there is in the garden, without what is different in each: identities and times.
func (w *world) state() []string {
	w.t.Helper()
	lists := []client.ObjectList{
		&gardencorev1beta1.ProjectList{}, &corev1.NamespaceList{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{},
		&corev1.ResourceQuotaList{}, &gardencorev1beta1.ShootList{}, &gardenoperationsv1alpha1.BastionList{},
		&gardenseedmanagementv1alpha1.ManagedSeedList{}, &gardenseedmanagementv1alpha1.ManagedSeedSetList{},
		&gardencorev1beta1.PlantList{}, &gardencorev1beta1.QuotaList{}, &gardensecurityv1alpha1.CredentialsBindingList{},
		&gardencorev1beta1.SeedList{}, &gardencorev1beta1.ControllerRegistrationList{}, &gardencorev1beta1.ControllerInstallationList{},
	}
	var lines []string
	secrets := &corev1.SecretList{}
	if err := w.client().List(w.t.Context(), secrets, client.InNamespace("garden-one")); err != nil {
		w.t.Fatal(err)
	}
	for i := range secrets.Items {
		lines = append(lines, line(&secrets.Items[i]))
	}
	for _, list := range lists {
		if err := w.client().List(w.t.Context(), list); err != nil {
			w.t.Fatal(err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			if object, ok := item.(client.Object); ok {
				lines = append(lines, line(object))
			}
			return nil
		})
	}
	slices.Sort(lines)
	return lines
}

// line describes one object.
func line(object client.Object) string {
	annotations := map[string]string{}
	for key, value := range object.GetAnnotations() {
		if key == gardencorev1beta1.AnnotationNamespaceProject {
			value = "a UID"
		}
		if !strings.HasSuffix(key, "timestamp") {
			annotations[key] = value
		}
	}
	name := object.GetName()
	if i, ok := object.(*gardencorev1beta1.ControllerInstallation); ok { // Part of its name is random.
		name = i.Spec.RegistrationRef.Name + " on " + seedOf(i)
		if shoot := i.Spec.ShootRef; shoot != nil {
			name += shoot.Namespace + "/" + shoot.Name
		}
	}
	finalizers := slices.Sorted(slices.Values(object.GetFinalizers())) // Their order is that in which controllers came.
	text := fmt.Sprintf("%T %s/%s labels %v annotations %v finalizers %v ends %t", object, object.GetNamespace(), name,
		object.GetLabels(), annotations, finalizers, object.GetDeletionTimestamp() != nil)
	switch typed := object.(type) {
	case *gardencorev1beta1.Project:
		text += " phase " + string(typed.Status.Phase)
	case *gardencorev1beta1.Shoot:
		text += lineOfShoot(typed)
	case *rbacv1.ClusterRole:
		text += fmt.Sprint(" rules ", len(typed.Rules))
	case *rbacv1.RoleBinding:
		text += fmt.Sprint(" subjects ", typed.Subjects)
	case *corev1.ResourceQuota:
		text += fmt.Sprint(" resources ", len(typed.Spec.Hard))
	case *gardenseedmanagementv1alpha1.ManagedSeedSet:
		text += fmt.Sprintf(" replicas %d next %d", typed.Status.Replicas, typed.Status.NextReplicaNumber)
		if p := typed.Status.PendingReplica; p != nil {
			text += " pending " + p.Name + " " + string(p.Reason)
		}
	}
	return text
}

// lineOfShoot describes a shoot by what it is to be, without the time window, which is another one in each garden, and by what was done to it.
// The generation tells how often a gardenlet had something to do.
func lineOfShoot(shoot *gardencorev1beta1.Shoot) string {
	spec := shoot.Spec.DeepCopy()
	if spec.Maintenance != nil {
		spec.Maintenance.TimeWindow = nil
	}
	wanted, err := json.Marshal(spec)
	text := fmt.Sprintf(" spec %s %v generation %d", wanted, err, shoot.Generation)
	if m := shoot.Status.LastMaintenance; m != nil {
		text += fmt.Sprintf(" maintenance %s %s, known from its time %t", m.Description, m.State,
			shoot.Annotations[gardencorev1beta1.AnnotationShootMaintained] == m.TriggeredTime.UTC().Format(time.RFC3339))
	}
	if at := shoot.Status.LastHibernationTriggerTime; at != nil {
		text += fmt.Sprint(" hibernation noted as it was carried out ",
			shoot.Annotations[gardencorev1beta1.AnnotationShootHibernationTriggered] == at.UTC().Format(time.RFC3339))
	}
	return text
}
