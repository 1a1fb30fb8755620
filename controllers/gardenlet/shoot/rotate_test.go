// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

const plane = "shoot--dev--a"

// workshop is a bedroom whose shoot is awake and gets other credentials.
type workshop struct {
	*bedroom

	// writers are the names of the keys that the API server was told to encrypt with, one after the other.
	writers []string
	// renewed names the Secrets that have got a new token, because the time of the old one was taken away.
	renewed []string
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{bedroom: newBedroom(t)}
	w.shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Processing"}
	seed, ok := w.SeedClient.(client.WithWatch)
	if !ok {
		t.Fatal("no client with watch")
	}
	w.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{Apply: w.watchEncryption, Patch: w.renew})
	inside := fake.NewClientBuilder().WithScheme(seed.Scheme()).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}, machineNode(), tunnelPod(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "diary", Labels: map[string]string{"mine": "yes"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "robot-token", CreationTimestamp: metav1.NewTime(time.Unix(1, 0))}, Type: "kubernetes.io/service-account-token"},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "registry", CreationTimestamp: metav1.NewTime(time.Unix(1, 0))}, Type: "kubernetes.io/dockercfg"},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "robot"}, Secrets: []corev1.ObjectReference{{Name: "robot-token"}, {Name: "registry"}}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "modern"}},
	).WithInterceptorFuncs(interceptor.Funcs{Get: w.rootBundle}).Build()
	w.inside = heavy(t, inside, "Namespace", "ServiceAccount")
	w.give(t, w.SeedClient, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: plane, Name: "shoot-access-tool", Labels: map[string]string{gardenresourcesv1alpha1.LabelPurpose: "token-requestor", gardenresourcesv1alpha1.LabelClass: "shoot"},
		Annotations: map[string]string{gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp: "2026-03-01T12:00:00Z"},
	}})

	return w
}

// watchEncryption notes the first key of each encryption configuration.
func (w *workshop) watchEncryption(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	data, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	var secret corev1.Secret
	if err := json.Unmarshal(data, &secret); err == nil && secret.Kind == "Secret" && len(secret.Data["encryption-configuration.yaml"]) > 0 {
		_, after, _ := strings.Cut(string(secret.Data["encryption-configuration.yaml"]), "name: ")
		name, _, _ := strings.Cut(after, "\n")
		w.writers = append(w.writers, name)
	}

	return c.Apply(ctx, obj, options...)
}

// renew does what the controller for tokens does: it renews one that has lost its time.
func (w *workshop) renew(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
	err := c.Patch(ctx, obj, patch, options...)
	if secret, ok := obj.(*corev1.Secret); ok && err == nil && secret.Labels[gardenresourcesv1alpha1.LabelPurpose] != "" {
		if secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp] == "" {
			w.renewed = append(w.renewed, secret.Name)
		}
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp, "2026-03-02T12:00:00Z")
		err = c.Update(ctx, secret)
	}

	return err
}

// rootBundle does what the controller manager does: it publishes the authorities that it is given.
func (w *workshop) rootBundle(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	config, ok := obj.(*corev1.ConfigMap)
	if !ok || key.Name != "kube-root-ca.crt" {
		return c.Get(ctx, key, obj, options...)
	}
	manager := &appsv1.Deployment{}
	if err := w.SeedClient.Get(ctx, client.ObjectKey{Namespace: plane, Name: "kube-controller-manager"}, manager); err != nil {
		return err
	}
	bundle, err := w.mounted(ctx, manager, "ca-bundle")
	config.Data = map[string]string{"ca.crt": string(bundle.Data["bundle.crt"])}

	return err
}

// mounted is the Secret in the files of a Deployment whose generated name begins so.
func (w *workshop) mounted(ctx context.Context, d *appsv1.Deployment, prefix string) (*corev1.Secret, error) {
	for _, volume := range d.Spec.Template.Spec.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret == nil || !strings.HasPrefix(source.Secret.Name, prefix+"-") && source.Secret.Name != prefix {
				continue
			}
			secret := &corev1.Secret{}
			err := w.SeedClient.Get(ctx, client.ObjectKey{Namespace: plane, Name: source.Secret.Name}, secret)

			return secret, err
		}
	}

	return nil, errors.New("no file of " + prefix)
}

// does lets a shoot carry out operations in one run.
func (w *workshop) does(t *testing.T, operation string) {
	t.Helper()
	w.shoot.Annotations = map[string]string{"gardener.cloud/operation": operation}
	for _, a := range rotation.Begin(w.shoot, time.Now()) {
		if a.Refusal != "" {
			t.Fatalf("%s is refused: %s", a.Operation, a.Refusal)
		}
	}
	w.shoot.Annotations = nil
	if err := shoot.RunFlow(t.Context(), w.Reconciler, w.shoot, plane); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute) // of the time of the bubble
	rotation.Succeed(w.shoot, true, time.Now())
}

// view is what a rotation changes.
type view struct {
	// Trusted counts what is accepted: authorities of clients and servers, and keys of tokens.
	ClientCAs, ServerCAs, TokenKeys int
	// Keys counts those that can decrypt.
	Keys int
	// Labelled says that the Secret of the user was written anew.
	Labelled, Marked bool
	// Tokens are the Secrets of the robot account.
	Tokens int
	// OldSSH says that there is a second key of the machines.
	OldSSH bool
}

func (w *workshop) look(t *testing.T) view {
	t.Helper()
	server, secret, robot := &appsv1.Deployment{}, &corev1.Secret{}, &corev1.ServiceAccount{}
	config, ca := &corev1.Secret{}, &corev1.ConfigMap{}
	if err := errors.Join(
		w.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "kube-apiserver"}, server),
		w.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "kube-apiserver-etcd-encryption-configuration"}, config),
		w.inside.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "diary"}, secret),
		w.inside.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "robot"}, robot),
		w.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a.ca-cluster"}, ca),
	); err != nil {
		t.Fatal(err)
	}
	clients, err := w.mounted(t.Context(), server, "ca-client-bundle")
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := w.mounted(t.Context(), server, "service-account-key-bundle")
	if err != nil {
		t.Fatal(err)
	}
	err = w.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a.ssh-keypair.old"}, &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if secret.Labels["mine"] != "yes" {
		t.Error("other labels are lost")
	}

	return view{
		ClientCAs: strings.Count(string(clients.Data["bundle.crt"]), "BEGIN"), ServerCAs: strings.Count(ca.Data["ca.crt"], "BEGIN"),
		TokenKeys: strings.Count(string(tokens.Data["bundle.key"]), "BEGIN"),
		Keys:      strings.Count(string(config.Data["encryption-configuration.yaml"]), "name: "),
		Labelled:  secret.Labels["credentials.gardener.cloud/key-name"] != "", Marked: server.Annotations["credentials.gardener.cloud/resources-labeled"] != "",
		Tokens: len(robot.Secrets), OldSSH: err == nil,
	}
}

// signedBy is the authority that has signed a certificate of the API server.
func (w *workshop) signedBy(t *testing.T, name, authority string) string {
	t.Helper()
	server := &appsv1.Deployment{}
	if err := w.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "kube-apiserver"}, server); err != nil {
		t.Fatal(err)
	}
	secret, err := w.mounted(t.Context(), server, name)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(secret.Data["tls.crt"])
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	all := &corev1.SecretList{}
	if err := w.SeedClient.List(t.Context(), all, client.InNamespace(plane), client.MatchingLabels{"name": authority}); err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		block, _ := pem.Decode(all.Items[i].Data["ca.crt"])
		if ca, err := x509.ParseCertificate(block.Bytes); err == nil && certificate.CheckSignatureFrom(ca) == nil {
			return all.Items[i].Name
		}
	}

	return ""
}

func (w *workshop) machines(t *testing.T) string {
	t.Helper()
	worker := &gardenextensionsv1alpha1.Worker{}
	if err := w.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "a"}, worker); err != nil {
		t.Fatal(err)
	}

	return *worker.Spec.Pools[0].NodeAgentSecretName
}

// TestAllCredentials rotates all credentials of a shoot, and looks after each run at what is accepted.
func TestAllCredentials_GLET_CRED_10_GLET_CRED_12_GLET_CRED_13(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	synctest.Test(t, func(t *testing.T) {
		w.does(t, "reconcile")
		before := view{ClientCAs: 1, ServerCAs: 1, TokenKeys: 1, Keys: 1, Tokens: 2}
		if diff := cmp.Diff(before, w.look(t)); diff != "" {
			t.Fatalf("before (-want +got):\n%s", diff)
		}
		first, writer := w.machines(t), w.writers[len(w.writers)-1]

		w.writers = nil
		w.does(t, "rotate-credentials-start")
		during := view{ClientCAs: 2, ServerCAs: 2, TokenKeys: 2, Keys: 2, Labelled: true, Marked: true, Tokens: 3, OldSSH: true}
		if diff := cmp.Diff(during, w.look(t)); diff != "" {
			t.Errorf("both are accepted (-want +got):\n%s", diff)
		}
		if len(w.writers) != 2 || w.writers[0] != writer || w.writers[1] == writer {
			t.Errorf("%v write one after the other, want the old key %s until the new one is known", w.writers, writer)
		}
		if !slices.Contains(w.renewed, "shoot-access-tool") {
			t.Errorf("the tokens of %v were renewed, want those of all that had one", w.renewed)
		}
		second := w.machines(t)
		if second == first {
			t.Error("the machines stay as they are")
		}
		for name, authority := range map[string]string{"kube-apiserver": "ca", "kube-apiserver-kubelet": "ca-client", "kube-aggregator": "ca-front-proxy"} {
			if got, old := w.signedBy(t, name, authority), authority; (got == old) != (name != "kube-aggregator") {
				t.Errorf("certificate %s is signed by %q", name, got)
			}
		}

		w.writers = nil
		w.does(t, "reconcile")
		between := during // The encryption key has taken its second step by itself.
		between.Keys, between.Labelled, between.Marked = 1, false, false
		if diff := cmp.Diff(between, w.look(t)); diff != "" || slices.Contains(w.writers, writer) || w.machines(t) != second {
			t.Errorf("a run between both steps changes something else; keys %v write (-want +got):\n%s", w.writers, diff)
		}

		w.does(t, "rotate-credentials-complete")
		after := view{ClientCAs: 1, ServerCAs: 1, TokenKeys: 1, Keys: 1, Tokens: 2, OldSSH: true}
		if diff := cmp.Diff(after, w.look(t)); diff != "" {
			t.Errorf("only the new ones are accepted (-want +got):\n%s", diff)
		}
		if w.machines(t) != second {
			t.Error("the machines are replaced a second time")
		}
		for name, authority := range map[string]string{"kube-apiserver": "ca", "kube-apiserver-kubelet": "ca-client", "kube-aggregator": "ca-front-proxy"} {
			if got := w.signedBy(t, name, authority); got == authority || got == "" {
				t.Errorf("certificate %s is signed by %q", name, got)
			}
		}
		w.robotAfterwards(t)
	})
}

// TestTokensAreAwaitedAgain repeats a run that has asked for new tokens and was killed before they were there: it does not ask a second time,
// and waits.
func TestTokensAreAwaitedAgain_GLET_CRED_12(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	access := func(name, class string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: plane, Name: name, Labels: map[string]string{gardenresourcesv1alpha1.LabelPurpose: "token-requestor", gardenresourcesv1alpha1.LabelClass: class},
		}}
	}
	tool := access("shoot-access-tool", "shoot")
	for _, secret := range []*corev1.Secret{tool, access("of-the-garden", "garden")} {
		l.give(t, l.SeedClient, secret)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := shoot.RenewAccess(ctx, l.Reconciler, plane)
		if err == nil || !strings.Contains(err.Error(), "not renewed yet in secrets shoot-access-tool (") {
			t.Errorf("RenewAccess(...) = %v while the token is not renewed", err)
		}
		ended := make(chan error)
		go func() { ended <- shoot.RenewAccess(t.Context(), l.Reconciler, plane) }()
		synctest.Wait()
		metav1.SetMetaDataAnnotation(&tool.ObjectMeta, gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp, "2026-03-02T12:00:00Z")
		if err := l.SeedClient.Update(t.Context(), tool); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("RenewAccess(...) = %v once the token is renewed", err)
		}
	})
}

// TestAccountIsChangedTwice changes a service account that somebody else has changed since it was read: both changes are kept.
func TestAccountIsChangedTwice_GLET_CRED_12(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	robot := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "robot"}, Secrets: []corev1.ObjectReference{{Name: "robot-token"}}}
	l.give(t, l.SeedClient, robot)
	seed, _ := l.SeedClient.(client.WithWatch)
	disturbed := false
	l.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if _, ok := obj.(*corev1.ServiceAccount); ok && !disturbed {
				disturbed = true
				robot.Secrets = append(robot.Secrets, corev1.ObjectReference{Name: "of-somebody"})
				if err := c.Update(ctx, robot); err != nil {
					return err
				}
			}
			return c.Patch(ctx, obj, patch, options...)
		},
	})
	rotating := l.shoot(t)
	rotating.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
		ServiceAccountKey: &gardencorev1beta1.ServiceAccountKeyRotation{Phase: "Preparing"},
	}}
	if err := shoot.RunTasks(t.Context(), l.Reconciler, rotating, plane, "account-tokens"); err != nil { // The seed stands for the shoot.
		t.Fatal(err)
	}
	if err := seed.Get(t.Context(), client.ObjectKeyFromObject(robot), robot); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ref := range robot.Secrets[1:] {
		names = append(names, ref.Name)
	}
	if diff := cmp.Diff([]string{"robot-token", "of-somebody"}, names); diff != "" || !strings.HasPrefix(robot.Secrets[0].Name, "robot-token-") || !disturbed {
		t.Errorf("the first Secret is %q, the others are (-want +got):\n%s", robot.Secrets[0].Name, diff)
	}
}

// An instance of the API server that is about to end still writes with the old key for those who are connected to it.
func TestEarlierInstancesEndBeforeObjectsAreEncryptedAnew_GLET_CRED_13(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	synctest.Test(t, func(t *testing.T) {
		w.does(t, "reconcile")
		server := &appsv1.Deployment{}
		if err := w.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "kube-apiserver"}, server); err != nil {
			t.Fatal(err)
		}
		for i := range *server.Spec.Replicas + 1 {
			instance := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: fmt.Sprintf("instance-%d", i), Labels: server.Spec.Selector.MatchLabels}}
			if err := w.SeedClient.Create(t.Context(), instance); err != nil {
				t.Fatal(err)
			}
		}
		w.shoot.Annotations = map[string]string{"gardener.cloud/operation": "rotate-etcd-encryption-key"}
		rotation.Begin(w.shoot, time.Now())
		w.shoot.Annotations = nil
		err := shoot.RunFlow(t.Context(), w.Reconciler, w.shoot, plane)
		if err == nil || !strings.Contains(err.Error(), "1 earlier instances of the API server have not ended") {
			t.Errorf("the run waits for the instance and names it: %v", err)
		}
		if got := w.look(t); got.Labelled || got.Marked || got.Keys != 2 {
			t.Errorf("nothing is encrypted anew, and both keys stay: %+v", got)
		}
		ended := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: "instance-0"}}
		if err := w.SeedClient.Delete(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		w.does(t, "")
		if got := w.look(t); !got.Labelled {
			t.Errorf("the next run goes on: %+v", got)
		}
	})
}

// robotAfterwards checks which Secrets an account has left.
func (w *workshop) robotAfterwards(t *testing.T) {
	t.Helper()
	robot := &corev1.ServiceAccount{}
	if err := w.inside.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "robot"}, robot); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(robot.Secrets[0].Name, "robot-token-") || robot.Secrets[1].Name != "registry" || len(robot.Labels) != 0 {
		t.Errorf("the account has %v, labels %v; want its new token and what was no token", robot.Secrets, robot.Labels)
	}
	err := w.inside.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "robot-token"}, &corev1.Secret{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the old token is still there: %v", err)
	}
}

// TestInterruptedRotation lets a run fail after the API server knows the new key, and when all is written but the run goes on.
func TestInterruptedRotation_GLET_CRED_9_GLET_CRED_13(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	synctest.Test(t, func(t *testing.T) {
		w.does(t, "reconcile")
		writer := w.writers[len(w.writers)-1]
		seed, ok := w.SeedClient.(client.WithWatch)
		if !ok {
			t.Fatal("no client with watch")
		}
		inside, ok := w.inside.(client.WithWatch)
		if !ok {
			t.Fatal("no client with watch")
		}
		boom := errors.New("boom")
		w.inside = interceptor.NewClient(inside, interceptor.Funcs{
			Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return boom
			},
		})
		w.Shoots.Drop(plane)
		w.shoot.Annotations = map[string]string{"gardener.cloud/operation": "rotate-etcd-encryption-key"}
		rotation.Begin(w.shoot, time.Now())
		w.shoot.Annotations = nil
		if err := shoot.RunFlow(t.Context(), w.Reconciler, w.shoot, plane); err == nil {
			t.Fatal("objects cannot be written, and the run succeeds")
		}
		w.inside, w.writers = inside, nil
		w.Shoots.Drop(plane)
		w.does(t, "reconcile")
		if slices.Contains(w.writers, writer) || len(w.writers) == 0 {
			t.Errorf("%v write; the old key must not write any more once the new one is in use", w.writers)
		}
		if got := w.shoot.Status.Credentials.Rotation.ETCDEncryptionKey.Phase; got != "Prepared" || !w.look(t).Labelled {
			t.Errorf("the rotation is %s, and objects are written anew: %t", got, w.look(t).Labelled)
		}

		// A run that is repeated does not write all objects again.
		w.shoot.Status.Credentials.Rotation.ETCDEncryptionKey.Phase = "Preparing"
		writes := 0
		w.inside = interceptor.NewClient(inside, interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
				if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
					writes++
				}
				return c.Patch(ctx, obj, patch, options...)
			},
		})
		w.Shoots.Drop(plane)
		w.does(t, "reconcile")
		if writes != 0 {
			t.Errorf("%d objects are written again", writes)
		}
		w.inside = inside
		w.Shoots.Drop(plane)
		w.does(t, "") // the second step follows by itself
		server := &appsv1.Deployment{}
		if err := seed.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "kube-apiserver"}, server); err != nil {
			t.Fatal(err)
		}
		for key := range maps.Keys(server.Annotations) {
			if strings.HasPrefix(key, "credentials.gardener.cloud/") {
				t.Errorf("mark %s is left on the API server", key)
			}
		}
		if got := w.shoot.Status.Credentials.Rotation.ETCDEncryptionKey.Phase; got != "Completed" || w.look(t).Labelled {
			t.Errorf("the rotation is %s, and labels are left: %t", got, w.look(t).Labelled)
		}
	})
}

func TestOperationIsTakenUpOnce_GLET_CRED_1_GLET_CRED_9(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) {
		s.Finalizers, s.Status = []string{"gardener"}, running().Status
		s.Generation = 4
		s.Annotations = map[string]string{"gardener.cloud/operation": "rotate-ca-start;rotate-serviceaccount-key-complete;other.example.com"}
	}))
	var initiated *metav1.Time
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			if _, err := l.pass(t.Context()); err == nil {
				t.Error("there are no stores, and the run succeeds")
			}
		})
		s := l.shoot(t)
		ca := s.Status.Credentials.Rotation.CertificateAuthorities
		if ca.Phase != "Preparing" || s.Status.LastOperation.State != "Error" || s.Status.Credentials.Rotation.ServiceAccountKey != nil {
			t.Errorf("authorities %+v, operation %+v", ca, s.Status.LastOperation)
		}
		if initiated != nil && !initiated.Equal(ca.LastInitiationTime) {
			t.Error("the second run begins another rotation")
		}
		initiated = ca.LastInitiationTime
		if got := s.Annotations["gardener.cloud/operation"]; got != "other.example.com" {
			t.Errorf("annotation %q, want what belongs to others", got)
		}
	}
	refusals := slices.DeleteFunc(l.recorded(), func(e string) bool { return !strings.Contains(e, "OperationNotPossible") })
	if len(refusals) != 1 || !strings.Contains(refusals[0], "rotate-serviceaccount-key-complete") {
		t.Errorf("events %q, want one about what is not possible", refusals)
	}
	if told := l.told(t); told == nil || told.Status.Credentials.Rotation.CertificateAuthorities.Phase != "Preparing" {
		t.Error("extensions were not told")
	}
}

func TestRotationGoesOnByItself_GLET_CRED_4(t *testing.T) {
	t.Parallel()
	waits := func(s *gardencorev1beta1.Shoot) {
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: "Prepared", AutoCompleteAfterPrepared: new(true)},
		}}
	}
	settings := shoot.Settings{SeedName: "eu-1", Version: "v1", SyncPeriod: time.Hour}
	if got := shoot.Decide(running(waits), settings, now()); got.Action != shoot.ActionRun {
		t.Errorf("Decide(...) = %+v, want another run", got)
	}
	if got := shoot.NextPass(running(waits), settings, now()); got <= 0 || got > time.Minute {
		t.Errorf("the next pass is after %s", got)
	}
	if got := shoot.Decide(running(waits, inDeletion), settings, now()); got.Operation != "Delete" {
		t.Errorf("Decide(...) = %+v, want the deletion", got)
	}
}
