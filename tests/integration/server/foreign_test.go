// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// foreign is a gardenlet that was built elsewhere, as a garden sees it: what it asks for, in which order and encoding.
type foreign struct {
	t      *testing.T
	garden *harness.Garden
	name   string
	// config shows the certificate of the seed and prefers protobuf.
	config *rest.Config
	client client.WithWatch
	shoot  *gardencorev1beta1.Shoot
}

// TestForeignGardenlet plays what a gardenlet of the API level that is served sends, from its start to its end. Each
// part builds on those before.
func TestForeignGardenlet(t *testing.T) {
	t.Parallel()
	f := &foreign{t: t, garden: harness.Start(t), name: "abroad"}
	f.prepare()
	f.play("Bootstrap", (*foreign).bootstrap)
	f.play("Start", (*foreign).start)
	f.play("ListBackups", (*foreign).listBackups)
	f.play("Register", (*foreign).register)
	f.play("SeedNamespace", (*foreign).seedNamespace)
	f.play("Installation", (*foreign).installation)
	f.play("Shoot", (*foreign).runShoot)
	f.play("Security", (*foreign).security)
	f.play("SeedManagement", (*foreign).seedManagement)
	f.play("Backups", (*foreign).backups)
	f.play("BackupsReady", (*foreign).backupsReady)
	f.play("LeaveBackups", (*foreign).leaveBackups)
	f.play("DeleteWhatIsGone", (*foreign).deleteWhatIsGone)
	f.play("Leave", (*foreign).leave)
}

// play plays one part in a test of its own.
func (f *foreign) play(name string, part func(f *foreign)) {
	f.t.Helper()
	f.t.Run(name, func(t *testing.T) {
		one := *f
		one.t = t
		part(&one)
	})
}

// prepare is what the operators and a project of the garden have done before.
func (f *foreign) prepare() {
	f.t.Helper()
	registerLocal(f.t, f.garden)
	apply(f.t, f.garden, "cloudprofile.yaml", "project.yaml")
	harness.Await(f.t, f.garden.Client, &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "meadow"}}, "the project has its namespace",
		func(p *gardencorev1beta1.Project) error {
			if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
				return errNotYet
			}

			return nil
		})
	apply(f.t, f.garden, "secret.yaml", "credentialsbinding.yaml")
	mustCreate(f.t, f.garden, &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: "backup-local"},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{Resources: []gardencorev1beta1.ControllerResource{
			{Kind: "BackupBucket", Type: "local"}, {Kind: "BackupEntry", Type: "local"},
		}},
	}, tokenSecret("abroad", time.Hour), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "backup", Labels: map[string]string{"name.seed.gardener.cloud/abroad": "true"}}, Data: map[string][]byte{"key": []byte("x")},
	})
	config, c := f.enter(f.reach(func(config *rest.Config) { config.BearerToken = "abroad.0123456789abcdef" }))
	f.config, f.client = config, c
	f.shoot = &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}}
}

// bootstrap renews the certificate with itself, as it is done before its end.
func (f *foreign) bootstrap() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	renewed := f.open(f.certify(f.client, key))
	f.do("read the garden's identity with a renewed certificate",
		renewed.Get(f.t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "cluster-identity"}, &corev1.ConfigMap{}))
}

// start is what is read before anything is written.
func (f *foreign) start() {
	f.do("read about the garden", f.client.Get(f.t.Context(), client.ObjectKey{Namespace: "gardener-system-public", Name: "gardener-info"}, &corev1.ConfigMap{}))
	f.watched(&gardencorev1beta1.ControllerRegistrationList{})
	own := client.MatchingLabels{"name.seed.gardener.cloud/" + f.name: "true"}
	f.watched(&gardencorev1beta1.SeedList{}, own)
	f.watched(&gardencorev1beta1.ShootList{}, own)
	f.watched(&gardencorev1beta1.ControllerInstallationList{}, client.MatchingFields{"spec.seedRef.name": f.name})
	f.watched(&gardenseedmanagementv1alpha1.ManagedSeedList{}, own)
	f.watched(&gardenseedmanagementv1alpha1.GardenletList{}, client.InNamespace("garden"), client.MatchingFields{"metadata.name": f.name})
}

func (f *foreign) seed() *gardencorev1beta1.Seed {
	credentials := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"}
	return &gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{Name: f.name},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: "local", Region: "local", Zones: []string{"a"}},
			Networks: gardencorev1beta1.SeedNetworks{Pods: "10.98.0.0/16", Services: "10.97.0.0/16", Nodes: new("10.96.0.0/16")},
			Ingress:  &gardencorev1beta1.Ingress{Domain: "ingress.abroad.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}},
			DNS: gardencorev1beta1.SeedDNS{
				Provider: &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: &credentials},
				Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: credentials},
			},
		},
	}
}

// register makes the Seed and reports that it is well.
func (f *foreign) register() {
	ctx := f.t.Context()
	found := &gardencorev1beta1.Seed{}
	if err := f.client.Get(ctx, client.ObjectKey{Name: f.name}, found); !apierrors.IsNotFound(err) {
		f.t.Errorf("Get(seed): got %v, want NotFound", err)
	}
	seed := f.seed()
	if err := f.client.Create(ctx, seed); err != nil {
		f.t.Fatalf("Create(seed): %v", err)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: f.name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Seed", Name: seed.Name, UID: seed.UID},
	}}}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("gardenlet"), new(metav1.NewMicroTime(time.Now()))
	f.do("create lease", f.client.Create(ctx, lease))
	lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now()))
	f.do("renew lease", f.client.Update(ctx, lease))

	f.patchStatus(seed, func() {
		seed.Status.Gardener = &gardencorev1beta1.Gardener{ID: "abc", Name: "gardenlet-0", Version: "v1.149.0"}
		seed.Status.KubernetesVersion, seed.Status.ClusterIdentity = new("v1.36.3"), new("seed-abroad")
		seed.Status.Capacity = corev1.ResourceList{"shoots": *quantity("250")}
		seed.Status.Allocatable = corev1.ResourceList{"shoots": *quantity("250")}
		for _, kind := range []gardencorev1beta1.ConditionType{"GardenletReady", "SeedSystemComponentsHealthy"} {
			seed.Status.Conditions = append(seed.Status.Conditions, gardencorev1beta1.Condition{
				Type: kind, Status: "True", Reason: "Fine", Message: "fine", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
			})
		}
	})
	f.patchObject(seed, func() { seed.Finalizers = append(seed.Finalizers, "gardener") })
	f.patchStatus(seed, func() {
		seed.Status.ObservedGeneration = seed.Generation
		seed.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded", Progress: 100, Description: "done", LastUpdateTime: metav1.Now()}
	})
	stored := &gardencorev1beta1.Seed{}
	f.do("read the seed as its operator does", f.garden.Client.Get(ctx, client.ObjectKey{Name: f.name}, stored))
	if stored.Spec.Ingress == nil || len(stored.Status.Conditions) < 2 || !stored.Status.Capacity["shoots"].Equal(*quantity("250")) {
		f.t.Errorf("What was sent in protobuf is what there is: got %+v", stored)
	}
}

// seedNamespace reads what the garden has put there for the seed.
func (f *foreign) seedNamespace() {
	in := client.InNamespace("seed-" + f.name)
	harness.Eventually(f.t, "the credentials of monitoring are in the namespace of the seed", func(ctx context.Context) error {
		secrets := &corev1.SecretList{}
		if err := f.client.List(ctx, secrets, in, client.MatchingLabels{"gardener.cloud/role": "global-monitoring"}); err != nil {
			return err
		}
		if len(secrets.Items) != 1 {
			return fmt.Errorf("%d secrets: %w", len(secrets.Items), errNotYet)
		}
		for _, key := range []string{"username", "password", "auth"} {
			if len(secrets.Items[0].Data[key]) == 0 {
				f.t.Errorf("%q is empty", key)
			}
		}

		return nil
	})
	f.watched(&corev1.SecretList{}, in)
}

// installation reports that an extension runs.
func (f *foreign) installation() {
	var found *gardencorev1beta1.ControllerInstallation
	harness.Eventually(f.t, "the extension of the provider is asked for", func(ctx context.Context) error {
		all := &gardencorev1beta1.ControllerInstallationList{}
		if err := f.client.List(ctx, all, client.MatchingFields{"spec.seedRef.name": f.name}); err != nil {
			return err
		}
		if len(all.Items) == 0 {
			return errNotYet
		}
		found = &all.Items[0]

		return nil
	})
	f.patchObject(found, func() { found.Finalizers = append(found.Finalizers, "core.gardener.cloud/controllerinstallation") })
	f.patchStatus(found, func() {
		for _, kind := range []gardencorev1beta1.ConditionType{"Valid", "Installed", "Healthy"} {
			found.Status.Conditions = append(found.Status.Conditions, gardencorev1beta1.Condition{
				Type: kind, Status: "True", Reason: "Fine", Message: "fine", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
			})
		}
	})
}

// runShoot takes a shoot that the scheduler has placed on the seed through its first operation.
func (f *foreign) runShoot() {
	ctx := f.t.Context()
	apply(f.t, f.garden, "shoot.yaml")
	harness.Await(f.t, f.garden.Client, f.shoot, "the shoot is placed on the seed", func(s *gardencorev1beta1.Shoot) error {
		if s.Spec.SeedName == nil || *s.Spec.SeedName != f.name {
			return fmt.Errorf("seed %v, %v: %w", s.Spec.SeedName, s.Status.LastOperation, errNotYet)
		}

		return nil
	})
	// The authorizer learns from a watch of its own where the shoot is placed.
	harness.Eventually(f.t, "the seed reads the project of its shoot", func(ctx context.Context) error {
		return f.client.Get(ctx, client.ObjectKey{Name: "meadow"}, &gardencorev1beta1.Project{})
	})
	f.do("read the cloud profile", f.client.Get(ctx, client.ObjectKey{Name: "local"}, &gardencorev1beta1.CloudProfile{}))
	f.do("read the binding", f.client.Get(ctx, client.ObjectKey{Namespace: "garden-meadow", Name: "local"}, &gardensecurityv1alpha1.CredentialsBinding{}))
	f.do("read the credentials", f.client.Get(ctx, client.ObjectKey{Namespace: "garden-meadow", Name: "local"}, &corev1.Secret{}))
	f.patchObject(f.shoot, func() { f.shoot.Finalizers = append(f.shoot.Finalizers, "gardener") })
	f.patchStatus(f.shoot, func() {
		f.shoot.Status.Gardener = gardencorev1beta1.Gardener{ID: "abc", Name: "gardenlet-0", Version: "v1.149.0"}
		f.shoot.Status.TechnicalID, f.shoot.Status.UID = "shoot--meadow--sprout", f.shoot.UID
		f.shoot.Status.SeedName = &f.name
		f.shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Processing", Progress: 10, Description: "begun", LastUpdateTime: metav1.Now()}
	})
	owner := *metav1.NewControllerRef(f.shoot, gardencorev1beta1.GroupVersion.WithKind("Shoot"))
	in := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "garden-meadow", Name: name, OwnerReferences: []metav1.OwnerReference{owner}}
	}
	written := &gardencorev1beta1.ShootState{ObjectMeta: in("sprout"), Spec: gardencorev1beta1.ShootStateSpec{
		Gardener:  []gardencorev1beta1.GardenerResourceData{{Name: "ca", Type: "secret", Data: runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}}},
		Resources: []gardencorev1beta1.ResourceData{{CrossVersionObjectReference: reference("v1", "Secret", "a"), Data: runtime.RawExtension{Raw: []byte(`{"c":"d"}`)}}},
	}}
	for what, object := range map[string]client.Object{
		"CA":        &corev1.Secret{ObjectMeta: in("sprout.ca-cluster"), Data: map[string][]byte{"ca.crt": []byte("x")}},
		"client CA": &gardencorev1beta1.InternalSecret{ObjectMeta: in("sprout.ca-client"), Data: map[string][]byte{"ca.crt": []byte("x"), "ca.key": []byte("y")}},
		"state":     written.DeepCopy(),
	} {
		f.do("create "+what, f.client.Create(ctx, object))
	}
	state := &gardencorev1beta1.ShootState{}
	f.do("read the state", f.client.Get(ctx, client.ObjectKeyFromObject(f.shoot), state))
	if diff := cmp.Diff(written.Spec, state.Spec); diff != "" {
		f.t.Errorf("A state is read as it was written (-want +got):\n%s", diff)
	}
	f.patchStatus(f.shoot, func() {
		f.shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, Description: "done", LastUpdateTime: metav1.Now()}
		f.shoot.Status.ObservedGeneration = f.shoot.Generation
	})
}

// security asks for what stands for credentials of shoots.
func (f *foreign) security() {
	ctx := f.t.Context()
	identity := &gardensecurityv1alpha1.WorkloadIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "identity"},
		Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
			Audiences: []string{"cloud"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "local"},
		},
	}
	binding := &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "garden-meadow", Name: "by-identity"},
		Provider:       gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: "garden-meadow", Name: "identity"},
	}
	mustCreate(f.t, f.garden, identity, binding)
	shoot := f.garden.Client
	moved := &gardencorev1beta1.Shoot{}
	f.do("read the shoot", shoot.Get(ctx, client.ObjectKeyFromObject(f.shoot), moved))
	before := moved.DeepCopy()
	moved.Spec.CredentialsBindingName = new("by-identity")
	f.do("move the shoot to other credentials", shoot.Patch(ctx, moved, client.MergeFrom(before)))
	read := &gardensecurityv1alpha1.CredentialsBinding{}
	harness.Eventually(f.t, "the binding belongs to the seed", func(ctx context.Context) error {
		return f.client.Get(ctx, client.ObjectKeyFromObject(binding), read)
	})
	f.do("read the identity", f.client.Get(ctx, client.ObjectKeyFromObject(identity), &gardensecurityv1alpha1.WorkloadIdentity{}))
	request := &gardensecurityv1alpha1.TokenRequest{Spec: gardensecurityv1alpha1.TokenRequestSpec{
		ExpirationSeconds: new(int64(3600)),
		ContextObject: &gardensecurityv1alpha1.ContextObject{
			APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Name: "sprout", Namespace: new("garden-meadow"), UID: f.shoot.UID,
		},
	}}
	f.do("ask for a token", f.client.SubResource("token").Create(ctx, identity, request))
	if request.Status.Token == "" {
		f.t.Errorf("A token is answered in protobuf: got %+v", request)
	}
}

// seedManagement registers the gardenlet itself.
func (f *foreign) seedManagement() {
	self := &gardenseedmanagementv1alpha1.Gardenlet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: f.name},
		Spec: gardenseedmanagementv1alpha1.GardenletSpec{
			Deployment: gardenseedmanagementv1alpha1.GardenletSelfDeployment{
				GardenletDeployment: gardenseedmanagementv1alpha1.GardenletDeployment{ReplicaCount: new(int32(1))},
				Helm: gardenseedmanagementv1alpha1.GardenletHelm{
					OCIRepository: ociRepository("registry.example.org/charts/gardenlet:v1.149.0"),
				},
			},
			Config: runtime.RawExtension{Raw: []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration","seedConfig":{"spec":{"provider":{"type":"local","region":"local"},"networks":{"pods":"10.98.0.0/16","services":"10.97.0.0/16","nodes":"10.96.0.0/16"},"dns":{"provider":{"type":"local","credentialsRef":{"apiVersion":"v1","kind":"Secret","name":"backup","namespace":"garden"}},"internal":{"type":"local","domain":"internal.example.org","credentialsRef":{"apiVersion":"v1","kind":"Secret","name":"backup","namespace":"garden"}}},"ingress":{"domain":"ingress.abroad.example.org","controller":{"kind":"nginx"}}}}}`)},
		},
	}
	f.do("create itself", f.client.Create(f.t.Context(), self))
	f.patchStatus(self, func() {
		self.Status.ObservedGeneration = self.Generation
		self.Status.Conditions = append(self.Status.Conditions, gardencorev1beta1.Condition{
			Type: "GardenletReconciled", Status: "True", Reason: "Deployed", Message: "deployed", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
	})
}

// deleteWhatIsGone deletes what an earlier attempt has deleted already: an answer that the object is gone is as good as
// a deletion, and any other stops a gardenlet.
func (f *foreign) deleteWhatIsGone() {
	in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "garden-meadow", Name: name} }
	for what, object := range map[string]client.Object{
		"state":       &gardencorev1beta1.ShootState{ObjectMeta: in("gone")},
		"entry":       &gardencorev1beta1.BackupEntry{ObjectMeta: in("shoot--meadow--gone--1")},
		"client CA":   &gardencorev1beta1.InternalSecret{ObjectMeta: in("gone.ca-client")},
		"credentials": &corev1.Secret{ObjectMeta: in("gone.monitoring")},
		"SSH key":     &corev1.Secret{ObjectMeta: in("gone.ssh-keypair")},
		"bucket":      &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "gone"}},
	} {
		if err := f.client.Delete(f.t.Context(), object); !apierrors.IsNotFound(err) {
			f.t.Errorf("delete %s that is gone: got %v, want NotFound", what, err)
		}
	}
}

// leave is the end of the shoot and of the seed.
func (f *foreign) leave() {
	ctx := f.t.Context()
	operator := f.garden.Client
	shoot := &gardencorev1beta1.Shoot{}
	f.do("read the shoot", operator.Get(ctx, client.ObjectKeyFromObject(f.shoot), shoot))
	before := shoot.DeepCopy()
	metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, "confirmation.gardener.cloud/deletion", "true")
	f.do("confirm the deletion", operator.Patch(ctx, shoot, client.MergeFrom(before)))
	f.do("delete the shoot", operator.Delete(ctx, shoot))
	f.patchStatus(f.shoot, func() {
		f.shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Delete", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
	})
	state := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}}
	f.patchObject(state, func() {
		metav1.SetMetaDataAnnotation(&state.ObjectMeta, "confirmation.gardener.cloud/deletion", "true")
	})
	for what, object := range map[string]client.Object{
		"state":     state,
		"client CA": &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout.ca-client"}},
		"CA":        &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout.ca-cluster"}},
	} {
		f.do("delete "+what, f.client.Delete(ctx, object))
	}
	f.patchObject(f.shoot, func() { f.shoot.Finalizers = nil })
	awaitGone(f.t, f.garden, f.shoot, "the shoot is gone")

	self := &gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: f.name}}
	f.do("delete the gardenlet", client.IgnoreNotFound(operator.Delete(ctx, self)))
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	f.do("delete the seed", operator.Delete(ctx, seed))
	harness.Eventually(f.t, "the extensions go", func(ctx context.Context) error {
		all := &gardencorev1beta1.ControllerInstallationList{}
		if err := f.client.List(ctx, all, client.MatchingFields{"spec.seedRef.name": f.name}); err != nil {
			return err
		}
		for i := range all.Items {
			if all.Items[i].DeletionTimestamp == nil {
				continue
			}
			patch := client.MergeFrom(all.Items[i].DeepCopy())
			all.Items[i].Finalizers = nil
			if err := f.client.Patch(ctx, &all.Items[i], patch); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		if len(all.Items) > 0 {
			return errNotYet
		}

		return nil
	})
	harness.Eventually(f.t, "the gardenlet lets go of its seed, although others do so at the same time", func(ctx context.Context) error {
		if err := f.client.Get(ctx, client.ObjectKeyFromObject(seed), seed); err != nil {
			return client.IgnoreNotFound(err)
		}
		patch := client.MergeFromWithOptions(seed.DeepCopy(), client.MergeFromWithOptimisticLock{})
		controllerutil.RemoveFinalizer(seed, "gardener")

		return client.IgnoreNotFound(f.client.Patch(ctx, seed, patch))
	})
	awaitGone(f.t, f.garden, seed, "the seed is gone")
}

func quantity(value string) *resource.Quantity { return new(resource.MustParse(value)) }

func reference(version, kind, name string) autoscalingv1.CrossVersionObjectReference {
	return autoscalingv1.CrossVersionObjectReference{APIVersion: version, Kind: kind, Name: name}
}

func ociRepository(ref string) gardencorev1.OCIRepository {
	return gardencorev1.OCIRepository{Ref: &ref}
}
