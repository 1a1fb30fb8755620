// SPDX-License-Identifier: Apache-2.0

package applets_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reencrypt"
)

const (
	widgets = "widgets.example.org"
	// plainly is how an object is stored that is not encrypted.
	plainly = "not encrypted"
)

// estate is the control plane of a shoot, of which several API servers share one store.
type estate struct {
	seed  client.Client
	etcd  string
	store *clientv3.Client
	facts facts.Shoot
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	e := &estate{seed: newSeed(t), etcd: store(t), facts: shootWith(gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{}})}
	e.facts.Shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{
		Provider: gardencorev1beta1.EncryptionProviderStatus{Type: "aescbc"},
	}}
	var err error
	if e.store, err = clientv3.New(clientv3.Config{Endpoints: []string{e.etcd}, Logger: zap.NewNop(), DialTimeout: patience}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.store.Close() })

	return e
}

// wants changes what the shoot wants encrypted.
func (e *estate) wants(provider gardencorev1beta1.EncryptionProviderType, resources ...string) {
	config := e.facts.Shoot.Spec.Kubernetes.KubeAPIServer.EncryptionConfig
	config.Provider.Type, config.Resources = &provider, resources
}

// rotates sets the phase of the rotation of the key.
func (e *estate) rotates(phase gardencorev1beta1.CredentialsRotationPhase, at *metav1.Time) {
	e.facts.Shoot.Status.Credentials.Rotation = &gardencorev1beta1.ShootCredentialsRotation{
		ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: phase, LastInitiationTime: at},
	}
}

// instance runs one more API server, which is as far with the change.
func (e *estate) instance(t *testing.T, is facts.Encryption) client.Client {
	t.Helper()
	e.facts.Encryption = is
	s := serveFrom(t, e.seed, e.etcd, e.facts)
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.admin, client.Options{Scheme: types})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// stored is how objects are stored, by their keys without the folder of the shoot.
func (e *estate) stored(t *testing.T, keys ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range keys {
		answer, err := e.store.Get(t.Context(), "/"+e.facts.Namespace+"/"+key)
		if err != nil || len(answer.Kvs) != 1 {
			t.Fatalf("read %s: %d records, %v", key, len(answer.Kvs), err)
		}
		raw := string(answer.Kvs[0].Value)
		all[key] = plainly
		if strings.Contains(raw, "dear diary") == strings.HasPrefix(raw, "k8s:enc:") {
			t.Errorf("%s is neither encrypted nor not", key)
		}
		if strings.HasPrefix(raw, "k8s:enc:") {
			all[key] = strings.Split(raw, ":")[2]
		}
	}

	return all
}

// expect compares how objects are stored.
func (e *estate) expect(t *testing.T, reason string, want map[string]string) {
	t.Helper()
	var keys []string
	for key := range want {
		keys = append(keys, key)
	}
	if diff := cmp.Diff(want, e.stored(t, keys...)); diff != "" {
		t.Errorf("%s\nobjects are stored (-want +got):\n%s", reason, diff)
	}
}

// rewrite writes all objects, as the gardenlet does.
func rewrite(t *testing.T, c client.Client) {
	t.Helper()
	w, stop := reencrypt.Writer{Shoot: c, Patch: reencrypt.Nothing()}.Limited()
	defer stop()
	for _, resource := range []string{"configmaps", widgets} {
		if err := w.Write(t.Context(), resource, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func diary(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"text": "dear diary"}}
}

func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "default", "name": name}, "text": "dear diary",
	}}
}

// define makes custom resources known, and one of them.
func define(t *testing.T, c client.Client) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: widgets}, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.org", Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
		}}},
	}}
	if err := c.Create(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition is served", func(ctx context.Context) error { return c.Create(ctx, widget("first")) })
}

func eventually(t *testing.T, what string, do func(ctx context.Context) error) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), poll, patience, true, func(ctx context.Context) (bool, error) {
		last = do(ctx)
		return last == nil, nil
	}); err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}

// reads checks that an API server reads all objects.
func reads(t *testing.T, who string, c client.Client) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("example.org/v1")
	list.SetKind("WidgetList")
	for _, all := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}, list} {
		eventually(t, who+" reads what others have written", func(ctx context.Context) error { return c.List(ctx, all, client.InNamespace("default")) })
	}
}

// TestEncryptionOfARunningShoot leads API servers from one encryption to the next, while an earlier instance still serves.
func TestEncryptionOfARunningShoot_GLET_CRED_4(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	const first, second, custom = "configmaps/default/first", "configmaps/default/second", "example.org/widgets/default/first"
	e.wants("aescbc")
	before := e.instance(t, facts.Encryption{})
	define(t, before)
	if err := before.Create(t.Context(), diary("first")); err != nil {
		t.Fatal(err)
	}
	if kind, err := reencrypt.Served(before, "configmap"); err != nil || !kind.Empty() {
		t.Errorf("a resource that is misspelled is taken for %v, %v", kind, err)
	}
	e.expect(t, "nothing is encrypted yet", map[string]string{first: plainly, custom: plainly})

	e.wants("aescbc", "configmaps", widgets)
	learned := e.instance(t, facts.Encryption{Changing: true})
	rewrite(t, learned)
	e.expect(t, "the instance before could not read it", map[string]string{first: plainly, custom: plainly})

	writes := e.instance(t, facts.Encryption{Changing: true, Known: true})
	if err := writes.Create(t.Context(), diary("second")); err != nil {
		t.Fatal(err)
	}
	reads(t, "an instance that has learned of it", learned)
	if err := before.Get(t.Context(), client.ObjectKeyFromObject(diary("second")), &corev1.ConfigMap{}); err == nil {
		t.Error("an instance that has not learned of it can read what is encrypted: the step before is not needed")
	}
	e.expect(t, "what is written is encrypted", map[string]string{first: plainly, second: "aescbc", custom: plainly})
	rewrite(t, writes)
	e.expect(t, "and so is what was written before", map[string]string{first: "aescbc", second: "aescbc", custom: "aescbc"})
	reads(t, "an instance that has learned of it", learned)
	at := e.revision(t)
	rewrite(t, writes)
	if got := e.revision(t); got != at {
		t.Errorf("%d records are written again that are stored as they should be", got-at)
	}
	e.facts.Shoot.Status.Credentials.EncryptionAtRest.Resources = []string{"configmaps", widgets}

	e.wants("secretbox", "configmaps", widgets)
	began := new(metav1.NewTime(time.Now().Truncate(time.Second)))
	e.rotates("Preparing", began)
	learned = e.instance(t, facts.Encryption{})
	rewrite(t, learned)
	e.expect(t, "the old provider writes until all know the new one", map[string]string{first: "aescbc", custom: "aescbc"})
	reads(t, "the instance before", writes)
	changed := e.instance(t, facts.Encryption{Known: true})
	rewrite(t, changed)
	e.expect(t, "the new provider writes", map[string]string{first: "secretbox", second: "secretbox", custom: "secretbox"})
	reads(t, "the instance before", learned)

	e.facts.Shoot.Status.Credentials.EncryptionAtRest.Provider.Type = "secretbox"
	e.facts.Shoot.Status.Credentials.Rotation = nil
	e.rotates("Completing", began)
	e.wants("secretbox")
	plain := e.instance(t, facts.Encryption{Changing: true, Known: true})
	rewrite(t, plain)
	e.expect(t, "what is not to be encrypted any more is decrypted", map[string]string{first: plainly, second: plainly, custom: plainly})
	reads(t, "the instance before", changed)
	e.facts.Shoot.Status.Credentials.EncryptionAtRest.Resources = nil
	reads(t, "an instance without the old key and rules", e.instance(t, facts.Encryption{Changing: true, Known: true, Written: true}))
}

// revision grows with each write to a ConfigMap or a custom resource.
func (e *estate) revision(t *testing.T) int64 {
	t.Helper()
	var sum int64
	for _, folder := range []string{"configmaps/default/", "example.org/"} {
		answer, err := e.store.Get(t.Context(), "/"+e.facts.Namespace+"/"+folder, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range answer.Kvs {
			sum += record.Version
		}
	}

	return sum
}
