// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

// configuration is what an API server was told: the providers of resources, the first of which writes. Keys are part of their names.
type configuration map[string][]string

// vault is a workshop that stores objects as an API server would.
type vault struct {
	*workshop

	mu sync.Mutex
	// run makes a run, or its tasks about encryption.
	run func(ctx context.Context) error
	// is what the API server was told last, told all of it in short.
	is   configuration
	told []string
	// stored are the providers that the ConfigMaps were written with.
	stored map[string]string
	// versions are those in which the cluster serves widgets, listed those in which they were asked for.
	versions, listed []string
	// wrong is what an API server could not have read.
	wrong []string
	// crash is the write that is the last one; writes counts them. All later ones fail.
	crash, writes int
}

var errKilled = errors.New("killed")

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{workshop: newWorkshop(t), stored: map[string]string{}}
	seed, _ := v.SeedClient.(client.WithWatch)
	inside, _ := v.inside.(client.WithWatch)
	v.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			config := encryptionIn(obj)
			if config == nil {
				return c.Apply(ctx, obj, options...)
			}
			return v.write(func() error { return c.Apply(ctx, obj, options...) }, func() { v.tell(config) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if obj.GetName() != "kube-apiserver" {
				return c.Patch(ctx, obj, patch, options...)
			}
			return v.write(func() error { return c.Patch(ctx, obj, patch, options...) }, func() {})
		},
	})
	served := meta.NewDefaultRESTMapper(nil)
	served.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	served.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	v.inside = mapped{mapper: served, WithWatch: interceptor.NewClient(inside, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			kind := list.GetObjectKind().GroupVersionKind()
			switch {
			case kind.Kind != "WidgetList":
				return c.List(ctx, list, options...)
			case !slices.Contains(v.versions, kind.Version):
				return apierrors.NewGenericServerResponse(http.StatusNotFound, "list", schema.GroupResource{}, "", "404 page not found", 0, true)
			}
			v.listed = append(v.listed, kind.Version)
			return nil
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if obj.GetObjectKind().GroupVersionKind().Kind != "ConfigMap" {
				return c.Patch(ctx, obj, patch, options...)
			}
			return v.write(func() error { return c.Patch(ctx, obj, patch, options...) }, func() { v.stored[obj.GetName()] = v.is["configmaps"][0] })
		},
	})}
	for _, name := range []string{"one", "two"} {
		v.give(t, v.inside, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		v.stored[name] = "identity"
	}
	v.run = func(ctx context.Context) error {
		return shoot.RunEncryption(ctx, v.Reconciler, v.shoot, plane, v.inside)
	}

	return v
}

// whole makes whole runs.
func (v *vault) whole(ctx context.Context) error {
	return shoot.RunFlow(ctx, v.Reconciler, v.shoot, plane)
}

// mapped is a client of an API server that serves certain resources.
type mapped struct {
	client.WithWatch

	mapper meta.RESTMapper
}

func (m mapped) RESTMapper() meta.RESTMapper { return m.mapper }

// write does a write that counts, unless the gardenlet was killed.
func (v *vault) write(do func() error, note func()) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.writes++
	killed := v.crash > 0 && v.writes >= v.crash
	if killed && v.writes > v.crash {
		return errKilled
	}
	if err := do(); err != nil {
		return err
	}
	note()
	if killed {
		return errKilled
	}

	return nil
}

// encryptionIn is the encryption configuration in what is applied, or nil.
func encryptionIn(obj runtime.ApplyConfiguration) configuration {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil
	}
	var secret corev1.Secret
	if err := json.Unmarshal(data, &secret); err != nil || secret.Kind != "Secret" || len(secret.Data["encryption-configuration.yaml"]) == 0 {
		return nil
	}
	var read struct {
		Resources []struct {
			Resources []string `json:"resources"`
			Providers []map[string]struct {
				Keys []struct {
					Name string `json:"name"`
				} `json:"keys"`
			} `json:"providers"`
		} `json:"resources"`
	}
	if err := yaml.Unmarshal(secret.Data["encryption-configuration.yaml"], &read); err != nil {
		return nil
	}
	config := configuration{}
	for _, rule := range read.Resources {
		for _, resource := range rule.Resources {
			for _, providers := range rule.Providers {
				for name, provider := range providers {
					for _, key := range provider.Keys {
						config[resource] = append(config[resource], name+"/"+key.Name)
					}
					if len(provider.Keys) == 0 {
						config[resource] = append(config[resource], name)
					}
				}
			}
		}
	}

	return config
}

// providersOf are those of a resource; what is not mentioned is stored as it is.
func (c configuration) providersOf(resource string) []string {
	if all := c[resource]; all != nil {
		return all
	}

	return []string{"identity"}
}

// tell changes what the API server does. While an instance is replaced, the old and the new one have to read what the other one writes.
func (v *vault) tell(config configuration) {
	for _, resource := range []string{"secrets", "configmaps"} {
		before, after := v.is.providersOf(resource), config.providersOf(resource)
		if v.is != nil && (!slices.Contains(before, after[0]) || !slices.Contains(after, before[0])) {
			v.wrong = append(v.wrong, fmt.Sprintf("instances do not understand each other: %s are stored with %v by the one and %v by the other", resource, before, after))
		}
	}
	for name, provider := range v.stored {
		if !slices.Contains(config.providersOf("configmaps"), provider) {
			v.wrong = append(v.wrong, fmt.Sprintf("ConfigMap %s is stored with %s and cannot be read with %v", name, provider, config.providersOf("configmaps")))
		}
	}
	v.is = config
	short := strings.Join(config.kinds("secrets"), ",") + " | " + strings.Join(config.kinds("configmaps"), ",")
	if len(v.told) == 0 || v.told[len(v.told)-1] != short {
		v.told = append(v.told, short)
	}
}

// kinds are the providers of a resource without keys.
func (c configuration) kinds(resource string) []string {
	var all []string
	for _, provider := range c.providersOf(resource) {
		kind, _, _ := strings.Cut(provider, "/")
		all = append(all, kind)
	}

	return all
}

// pass makes one run, which may fail.
func (v *vault) pass(ctx context.Context) error {
	rotation.Begin(v.shoot, time.Now())
	live := &gardencorev1beta1.Shoot{}
	if err := v.GardenClient.Get(ctx, client.ObjectKeyFromObject(v.shoot), live); err != nil {
		return err
	}
	live.Spec = v.shoot.Spec
	if err := v.GardenClient.Update(ctx, live); err != nil {
		return err
	}
	live.Status = v.shoot.Status
	if err := v.GardenClient.Status().Update(ctx, live); err != nil {
		return err
	}
	*v.shoot = *live
	err := v.run(ctx)
	time.Sleep(time.Minute) // of the time of the bubble
	if err == nil {
		rotation.Succeed(v.shoot, true, time.Now())
	}

	return err
}

// settle makes runs until the status is as the spec wants it.
func (v *vault) settle(t *testing.T) {
	t.Helper()
	for range 3 {
		if err := v.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if phase := query.RotationPhases(v.shoot).ETCDEncryptionKey; !query.EncryptionDiffers(&v.shoot.Spec, &v.shoot.Status) && (phase == "" || phase == "Completed") {
			break
		}
	}
	if query.EncryptionDiffers(&v.shoot.Spec, &v.shoot.Status) {
		t.Errorf("the status reports %+v", v.shoot.Status.Credentials.EncryptionAtRest)
	}
	for _, one := range v.wrong {
		t.Error(one)
	}
	server := &appsv1.Deployment{}
	if err := v.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "kube-apiserver"}, server); err != nil {
		t.Fatal(err)
	}
	for key := range maps.Keys(server.Annotations) {
		if strings.HasPrefix(key, "credentials.gardener.cloud/") || key == shoot.AnnotationEncryptionProgress {
			t.Errorf("mark %s is left on the API server", key)
		}
	}
}

// wants changes what the shoot wants encrypted.
func (v *vault) wants(provider gardencorev1beta1.EncryptionProviderType, resources ...string) {
	encrypts(provider, resources...)(v.shoot)
}

// storedWith are the providers that ConfigMaps are stored with, without keys.
func (v *vault) storedWith() []string {
	var all []string
	for _, provider := range v.stored {
		kind, _, _ := strings.Cut(provider, "/")
		all = append(all, kind)
	}

	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// TestEncryptionChangesInSteps looks at each step of each change.
func TestEncryptionChangesInSteps_GLET_CRED_4(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.run = v.whole
	synctest.Test(t, func(t *testing.T) {
		v.wants("aescbc")
		v.settle(t)
		for _, step := range []struct {
			reason    string
			provider  gardencorev1beta1.EncryptionProviderType
			resources []string
			told      []string
			stored    string
		}{
			{
				reason: "all instances can read it before one encrypts it", provider: "aescbc", resources: []string{"configmaps"}, stored: "aescbc",
				told: []string{"aescbc,identity | identity,aescbc", "aescbc,identity | aescbc,identity"},
			},
			{
				reason: "each provider has its own key", provider: "secretbox", resources: []string{"configmaps"}, stored: "secretbox",
				told: []string{
					"aescbc,secretbox,identity | aescbc,secretbox,identity", "secretbox,aescbc,identity | secretbox,aescbc,identity",
					"secretbox,identity | secretbox,identity",
				},
			},
			{
				reason: "nothing is encrypted any more when the key goes", provider: "secretbox", stored: "identity",
				told: []string{"secretbox,identity | identity,secretbox", "secretbox,identity | identity"},
			},
		} {
			v.told = nil
			v.wants(step.provider, step.resources...)
			v.settle(t)
			told := slices.DeleteFunc(slices.Clone(v.told), func(one string) bool { return len(step.told) > 0 && one == v.told[0] && one != step.told[0] })
			if diff := cmp.Diff(step.told, told); diff != "" {
				t.Errorf("%s\nproviders of Secrets and ConfigMaps (-want +got):\n%s", step.reason, diff)
			}
			if diff := cmp.Diff([]string{step.stored}, v.storedWith()); diff != "" {
				t.Errorf("%s\nConfigMaps are stored with (-want +got):\n%s", step.reason, diff)
			}
		}
	})
}

// TestEncryptionSurvivesKills kills the gardenlet at each write of a change.
func TestEncryptionSurvivesKills(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from, to          gardencorev1beta1.EncryptionProviderType
		before, resources []string
		stored            string
	}{
		"added":    {"aescbc", "aescbc", nil, []string{"configmaps"}, "aescbc"},
		"removed":  {"aescbc", "aescbc", []string{"configmaps"}, nil, "identity"},
		"provider": {"aescbc", "secretbox", []string{"configmaps"}, []string{"configmaps"}, "secretbox"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			synctest.Test(t, func(t *testing.T) {
				v.wants(tc.from, tc.before...)
				v.settle(t)
				kills := 0
				for at := 1; at < 40; at++ {
					v.wants(tc.to, tc.resources...)
					v.writes, v.crash = 0, at
					failed := errors.Join(v.pass(t.Context()), v.pass(t.Context()))
					v.crash = 0
					if failed != nil {
						kills++
					}
					v.settle(t)
					if diff := cmp.Diff([]string{tc.stored}, v.storedWith()); diff != "" {
						t.Errorf("killed after write %d: ConfigMaps are stored with (-want +got):\n%s", at, diff)
					}
					v.wants(tc.from, tc.before...)
					v.settle(t)
					if failed == nil || t.Failed() {
						break
					}
				}
				if kills < 6 {
					t.Errorf("the gardenlet was killed %d times, want at each of several writes", kills)
				}
			})
		})
	}
}

func TestWhatTheClusterDoesNotServeIsNotEncrypted(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"widgets.example.org", "configmap", "deployments", "jobs.batch"} {
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			synctest.Test(t, func(t *testing.T) {
				v.wants("aescbc", "configmaps")
				v.settle(t)
				v.told = nil
				v.wants("aescbc", "configmaps", resource)
				err := v.pass(t.Context())
				failed := flow.Errors(err)
				if len(failed) != 1 || string(failed[0].ID) != query.TaskEncryptionCheck || !strings.Contains(err.Error(), fmt.Sprintf("resource %q", resource)) {
					t.Errorf("the error is %v, want one that names the resource", err)
				}
				if !slices.Contains(lastoperation.Codes(err), gardencorev1beta1.ErrorCodeConfigurationProblem) {
					t.Errorf("codes %v, want that the owner has to act", lastoperation.Codes(err))
				}
				if got := v.is.providersOf(resource)[0]; got != "identity" {
					t.Errorf("the resource is encrypted with %s", got)
				}
				v.wants("aescbc", "configmaps")
				v.settle(t)
				if got := v.is.providersOf(resource); len(got) != 1 {
					t.Errorf("the setting is taken back, and the API server is told %v", got)
				}
			})
		})
	}
}

// serves changes which versions of widgets the cluster serves, without that clients notice who are connected already.
func (v *vault) serves(versions ...string) {
	served := meta.NewDefaultRESTMapper(nil)
	served.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	for _, version := range versions {
		served.Add(schema.GroupVersionKind{Group: "example.org", Version: version, Kind: "Widget"}, meta.RESTScopeNamespace)
	}
	inside := v.inside.(mapped)
	v.inside = mapped{mapper: served, WithWatch: inside.WithWatch}
	v.versions = versions
}

// TestEncryptionNoticesWhatIsServed changes what is encrypted after a resource was deleted, or moved to another version.
func TestEncryptionNoticesWhatIsServed(t *testing.T) {
	t.Parallel()
	const widgets = "widgets.example.org"
	for reason, tc := range map[string]struct {
		serves []string
		change func(v *vault)
	}{
		"it is deleted, and then taken out": {change: func(v *vault) { v.wants("aescbc") }},
		"it is moved, and then taken out":   {serves: []string{"v2"}, change: func(v *vault) { v.wants("aescbc") }},
		"it is deleted, and the key is rotated": {change: func(v *vault) {
			v.shoot.Annotations = map[string]string{gardencorev1beta1.AnnotationOperation: gardencorev1beta1.OperationRotateETCDEncryptionKey}
		}},
		"it is moved, and the key is rotated": {serves: []string{"v2"}, change: func(v *vault) {
			v.shoot.Annotations = map[string]string{gardencorev1beta1.AnnotationOperation: gardencorev1beta1.OperationRotateETCDEncryptionKey}
		}},
		"another one is added": {serves: []string{"v2"}, change: func(v *vault) { v.wants("aescbc", "configmaps", widgets) }},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			synctest.Test(t, func(t *testing.T) {
				definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: widgets}}
				v.give(t, v.inside, definition)
				v.serves("v1")
				v.wants("aescbc", widgets)
				v.settle(t)
				v.serves(tc.serves...)
				if len(tc.serves) == 0 {
					if err := v.inside.Delete(t.Context(), definition); err != nil {
						t.Fatal(err)
					}
				}
				v.listed = nil
				tc.change(v)
				v.settle(t)
				if got := len(v.listed) > 0; got != (len(tc.serves) > 0) {
					t.Errorf("%s, and widgets were written in %v", reason, v.listed)
				}
			})
		})
	}
}

// TestWhatMayBeEncryptedIsNotRefused: a resource is served no more once some of its objects are encrypted. Its owner could take back what
// is refused, and nobody could read them again.
func TestWhatMayBeEncryptedIsNotRefused(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	synctest.Test(t, func(t *testing.T) {
		v.wants("aescbc")
		v.settle(t)
		v.wants("aescbc", "configmaps")
		// Each run is killed a write later, until an object is written.
		for v.crash = 1; !slices.Contains(v.storedWith(), "aescbc"); v.crash++ {
			v.writes = 0
			if err := v.pass(t.Context()); err == nil {
				t.Fatal("nothing was written encrypted")
			}
		}
		v.crash = 0
		served := v.inside
		v.inside = mapped{mapper: meta.NewDefaultRESTMapper(nil), WithWatch: served.(mapped).WithWatch}
		if err := v.pass(t.Context()); err != nil {
			t.Errorf("the change does not go on: %v", err)
		}
		v.inside = served
		v.settle(t)
		if got := v.is.providersOf("configmaps")[0]; got == "identity" {
			t.Error("the API server cannot read what is encrypted")
		}
	})
}

// TestEncryptionBackAndForth kills the gardenlet in a change, and in the change back, about when they write objects.
func TestEncryptionBackAndForth(t *testing.T) {
	t.Parallel()
	for forth := 6; forth <= 8; forth++ {
		t.Run(strconv.Itoa(forth), func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			synctest.Test(t, func(t *testing.T) {
				v.wants("aescbc")
				v.settle(t)
				for back := 3; back <= 5 && !t.Failed(); back++ {
					for at, resources := range [][]string{{"configmaps"}, nil} {
						v.wants("aescbc", resources...)
						v.writes, v.crash = 0, []int{forth, back}[at]
						_ = v.pass(t.Context())
					}
					v.crash = 0
					v.wants("aescbc", "configmaps")
					v.settle(t)
					if diff := cmp.Diff([]string{"aescbc"}, v.storedWith()); diff != "" {
						t.Errorf("killed after write %d, and %d of the change back: ConfigMaps are stored with (-want +got):\n%s", forth, back, diff)
					}
					v.wants("aescbc")
					v.settle(t)
				}
			})
		})
	}
}

func TestEncryptionWaits(t *testing.T) {
	t.Parallel()
	for reason, hold := range map[string]func(v *vault){
		"nothing can be written in a shoot that sleeps": func(v *vault) { v.shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)} },
		"one thing after the other": func(v *vault) {
			v.shoot.Status.Credentials.Rotation = &gardencorev1beta1.ShootCredentialsRotation{
				ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: "Prepared"},
			}
		},
		"what it is changed from is reported first": func(v *vault) { v.shoot.Status.Credentials.EncryptionAtRest = nil },
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			synctest.Test(t, func(t *testing.T) {
				v.wants("aescbc", "configmaps")
				v.settle(t)
				if err := v.inside.Delete(t.Context(), machineNode()); err != nil {
					t.Fatal(err)
				}
				hold(v)
				v.shoot.Spec.Provider.Workers = nil
				v.told = nil
				v.wants("aescbc")
				_ = v.pass(t.Context())
				if diff := cmp.Diff([]string{"aescbc,identity | aescbc,identity"}, v.told); diff != "" {
					t.Errorf("%s\nproviders of Secrets and ConfigMaps (-want +got):\n%s", reason, diff)
				}
			})
		})
	}
}

func TestEncryptionGraph(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		g, err := shoot.EncryptGraph(t.Context(), running(withWorkers, hasty), known)
		if err != nil {
			t.Fatal(err)
		}
		golden.Text(t, map[bool]string{false: "encrypt.dot", true: "encrypt-known.dot"}[known], g.DOT())
	}
}
