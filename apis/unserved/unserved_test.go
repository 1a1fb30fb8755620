// SPDX-License-Identifier: Apache-2.0

package unserved_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/unserved"
)

// TestFields looks for the fields of all rows in the types, so that no row outlives its field or is never found.
func TestFields(t *testing.T) {
	t.Parallel()
	kinds := map[string]reflect.Type{
		"core.gardener.cloud/Shoot":                  reflect.TypeFor[gardencorev1beta1.Shoot](),
		"core.gardener.cloud/Seed":                   reflect.TypeFor[gardencorev1beta1.Seed](),
		"core.gardener.cloud/Project":                reflect.TypeFor[gardencorev1beta1.Project](),
		"core.gardener.cloud/Quota":                  reflect.TypeFor[gardencorev1beta1.Quota](),
		"core.gardener.cloud/CloudProfile":           reflect.TypeFor[gardencorev1beta1.CloudProfile](),
		"core.gardener.cloud/NamespacedCloudProfile": reflect.TypeFor[gardencorev1beta1.NamespacedCloudProfile](),
		"core.gardener.cloud/ControllerRegistration": reflect.TypeFor[gardencorev1beta1.ControllerRegistration](),
		"core.gardener.cloud/ControllerDeployment":   reflect.TypeFor[gardencorev1.ControllerDeployment](),

		"seedmanagement.gardener.cloud/Gardenlet":      reflect.TypeFor[gardenseedmanagementv1alpha1.Gardenlet](),
		"seedmanagement.gardener.cloud/ManagedSeedSet": reflect.TypeFor[gardenseedmanagementv1alpha1.ManagedSeedSet](),
	}
	seen := map[string]bool{}
	for _, row := range unserved.Table() {
		id := fmt.Sprint(row.Group, "/", row.Kind, " ", row.Field, " ", row.Only)
		if seen[id] {
			t.Errorf("%s is listed twice", id)
		}
		seen[id] = true
		if row.Instead == "" || strings.HasSuffix(row.Instead, ".") {
			t.Errorf("%s: Instead is %q, want a sentence without its full stop", id, row.Instead)
		}
		if row.Field == "" {
			continue
		}
		kind, found := kinds[row.Group+"/"+row.Kind]
		if !found {
			t.Errorf("%s: the test does not know kind %s", id, row.Kind)
			continue
		}
		if err := exists(kind, row.Field); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// exists follows a path through types, by the names that fields have in JSON.
func exists(t reflect.Type, path string) error {
	for step := range strings.SplitSeq(strings.ReplaceAll(strings.SplitN(path, "[gardener", 2)[0], "[]", ".[]"), ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if key := strings.Index(step, "["); key > 0 {
			step = step[:key]
		}
		switch {
		case step == "[]" && t.Kind() == reflect.Slice:
			t = t.Elem()
		case t.Kind() == reflect.Map:
			return nil
		case t.Kind() == reflect.Struct:
			field, found := fieldOf(t, step)
			if !found {
				return fmt.Errorf("%s has no field %q", t, step)
			}
			t = field
		default:
			return fmt.Errorf("%s has no %q", t, step)
		}
	}
	return nil
}

func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for field := range t.Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == name {
			return field.Type, true
		}
		if field.Anonymous && tag == "" {
			if inner, found := fieldOf(field.Type, name); found {
				return inner, true
			}
		}
	}
	return nil, false
}

func shoot(change func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-a", Name: "a"},
		Spec: gardencorev1beta1.ShootSpec{
			Kubernetes: gardencorev1beta1.Kubernetes{Version: "1.36.3"},
			Provider: gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{
				{Name: "one", Minimum: 1, Maximum: 1}, {Name: "two", Minimum: 2, Maximum: 2},
			}},
			SeedName: new("eu-1"),
		},
		Status: gardencorev1beta1.ShootStatus{SeedName: new("eu-1")},
	}
	gardencorev1beta1.SetDefaultsShoot(s)
	change(s)
	return s
}

func paths(all []unserved.Finding) []string {
	var out []string
	for _, f := range all {
		if f.Severity != unserved.Note {
			out = append(out, f.Path+": "+string(f.Severity))
		}
	}
	return out
}

func TestIn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		obj    any
		want   []string
	}{
		"plain": {reason: "defaults are no request", obj: shoot(func(*gardencorev1beta1.Shoot) {})},
		"move": {
			reason: "a shoot that waits for a move is looked after by nobody",
			obj:    shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("eu-2") }),
			want:   []string{"spec.seedName: refuse"},
		},
		"unscheduled": {
			reason: "a shoot that was never anywhere is not moved",
			obj:    shoot(func(s *gardencorev1beta1.Shoot) { s.Status.SeedName = nil }),
		},
		"rotation": {
			reason: "there is no monitoring with a password",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"gardener.cloud/operation": "reconcile;rotate-observability-credentials"}
			}),
			want: []string{"metadata.annotations[gardener.cloud/operation]: warn"},
		},
		"reconcile": {
			reason: "a reconciliation is carried out",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"gardener.cloud/operation": "reconcile"}
			}),
		},
		"retry later": {
			reason: "a maintenance retries and permits nothing that is asked for before",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"maintenance.gardener.cloud/operation": "retry"}
			}),
			want: []string{"metadata.annotations[maintenance.gardener.cloud/operation]: warn"},
		},
		"retry": {
			reason: "a retry is carried out now",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"gardener.cloud/operation": "retry", "maintenance.gardener.cloud/operation": "reconcile"}
			}),
		},
		"managed issuer": {
			reason: "other systems would not find its documents",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"authentication.gardener.cloud/issuer": "managed"}
			}),
			want: []string{"metadata.annotations[authentication.gardener.cloud/issuer]: configuration problem"},
		},
		"other issuer": {
			reason: "no other value has a meaning",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"authentication.gardener.cloud/issuer": "own"}
			}),
		},
		"caches": {
			reason: "only the sizes of single resources count",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{
					Default: new(int32(100)), Resources: []gardencorev1beta1.ResourceWatchCacheSize{{Resource: "pods"}},
				}}
			}),
			want: []string{"spec.kubernetes.kubeAPIServer.watchCacheSizes.default: warn"},
		},
		"workers": {
			reason: "each item has its index",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Type = "other"
				s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
				s.Spec.Provider.Workers[1].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
			}),
			want: []string{
				"spec.provider.workers[0].controlPlane: configuration problem",
				"spec.provider.workers[1].controlPlane: configuration problem",
			},
		},
		"machines in place": {
			reason: "they are updated in place, with any provider",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Type = "other"
				s.Spec.Provider.Workers[1].UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategy("AutoInPlaceUpdate"))
			}),
		},
		"failed local machines": {
			reason: "they are kept if their owner wants it",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Type, s.Spec.Provider.Workers[0].MachineControllerManager = "local", &gardencorev1beta1.MachineControllerManagerSettings{
					MachinePreserveTimeout: &metav1.Duration{Duration: time.Hour}, AutoPreserveFailedMachineMax: new(int32(3)),
				}
			}),
		},
		"add-ons on local machines": {
			reason: "they are served, the load balancer of the ingress controller too",
			obj:    shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Type, s.Spec.Addons = "local", addons() }),
		},
		"autoscaler of machines": {
			reason: "all of its settings are served, with any provider of machines",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Type = "local"
				s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscaler{
					MaxGracefulTerminationSeconds: new(int32(60)), EmitPerNodeGroupMetrics: new(true), Verbosity: new(int32(4)),
					MaxBinpackingTime: &metav1.Duration{Duration: time.Minute},
				}
				s.Spec.Provider.Workers[1].ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscalerOptions{ScaleDownGPUUtilizationThreshold: new(0.5)}
			}),
		},
		"api server": {
			reason: "what is served is not listed",
			obj: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
					TLSMinVersion:    new("VersionTLS13"),
					AuditConfig:      &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "a"}}},
					AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "ImagePolicyWebhook", KubeconfigSecretName: new("a")}},
					Autoscaling:      &gardencorev1beta1.ControlPlaneAutoscaling{},
				}
			}),
		},
		"seed": {
			reason: "backups are promised",
			obj:    &gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{Backup: &gardencorev1beta1.Backup{Provider: "local"}}},
			want:   []string{"spec.backup: configuration problem"},
		},
		"kind":       {reason: "nobody acts upon it", obj: &gardencorev1beta1.ShootState{}, want: []string{": warn"}},
		"other kind": {reason: "nothing is known of it", obj: &gardencorev1beta1.Project{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, paths(unserved.In(tc.obj))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, paths(unserved.Compile().In(tc.obj))); diff != "" {
				t.Errorf("%s, also quickly (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// moving asks for something that would break a running cluster.
func moving(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("us-1") }

func TestSet(t *testing.T) {
	t.Parallel()
	moved := shoot(moving)
	both := moved.DeepCopy()
	both.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{}}
	zone := both.DeepCopy()
	zone.Spec.ControlPlane.HighAvailability.FailureTolerance.Type = gardencorev1beta1.FailureToleranceTypeZone
	elsewhere, home := shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("us-2") }), shoot(func(*gardencorev1beta1.Shoot) {})
	var none *gardencorev1beta1.Shoot
	for name, tc := range map[string]struct {
		reason   string
		obj, old any
		want     []string
	}{
		"new":           {"all of a new object is set", moved, nil, []string{"spec.seedName: refuse"}},
		"nil":           {"also when there is a type without an object", moved, none, []string{"spec.seedName: refuse"}},
		"same":          {"what was there before is nobody's doing", moved, moved, nil},
		"added":         {"only what is new", both, moved, []string{"spec.controlPlane.highAvailability: configuration problem"}},
		"changed":       {"another value is set as well", zone, both, []string{"spec.controlPlane.highAvailability: configuration problem"}},
		"moved in turn": {"one wrong change does not follow another", elsewhere, moved, []string{"spec.seedName: refuse"}},
		"moved back":    {"the way back is open", home, moved, nil},
		"taken":         {"taking away sets nothing", moved, both, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, paths(unserved.Set(tc.obj, tc.old))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"spec.seedName: refuse", "spec.controlPlane.highAvailability: configuration problem"}, paths(unserved.Problems(both))); diff != "" {
		t.Errorf("Problems (-want +got):\n%s", diff)
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	state := unserved.In(&gardencorev1beta1.ShootState{})
	if got, want := state[0].String(), "kind ShootState is not served yet: no control plane is restored from it"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	moved := shoot(moving)
	if got, want := unserved.Problems(moved)[0].String(), "spec.seedName (another seed than status.seedName) is not served yet: "; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s...", got, want)
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	got := unserved.Operations("reconcile;rotate-ca-start; rollout-workers=a,b;retry;rotate-observability-credentials;maintain;something-else")
	if diff := cmp.Diff([]string{"rotate-observability-credentials"}, got); diff != "" {
		t.Errorf("what nobody carries out (-want +got):\n%s", diff)
	}
}

// TestDocumentation compares the table with docs/behaviour/unserved.md; UPDATE_GOLDEN=1 writes it.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "behaviour", "unserved.md")
	got := markdown()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale; run this test with UPDATE_GOLDEN=1 (-file +code):\n%s", path, diff)
	}
}

func markdown() string {
	var out strings.Builder
	out.WriteString(`# What is accepted and not served yet

The API accepts everything that Gardener's API accepts. This is what nobody acts upon yet, and what happens in its place. The page is written from the
table in [apis/unserved](../../apis/unserved), and a row goes when what it is about is served.

- **warn**: it is ignored while everything else works. The API warns the user who sets it; kubectl shows that.
- **configuration problem**: somebody relies on it. The API warns, and the object's status reports it with the code ` + "`ERR_CONFIGURATION_PROBLEM`" + ` for as
  long as it is set; everything else is done.
- **refuse**: going on would break a cluster. The API refuses a change that sets it on a shoot that has a seed. Of a shoot that was created with it, nothing is
  done but to report it with the code ` + "`ERR_CONFIGURATION_PROBLEM`" + `.
- **note**: it is there by default, so nobody is warned.

An operator whose seeds are run by gardenlets and extensions that do serve these things disables the admission rule ` + "`Unserved`" + `, which gives the warnings
and the refusals.
`)
	kind := ""
	for _, row := range unserved.Table() {
		if of := row.Kind + " (" + row.Group + ")"; of != kind {
			kind = of
			fmt.Fprintf(&out, "\n## %s\n\n| field | counts for | what happens instead | severity |\n|---|---|---|---|\n", of)
		}
		field := "the kind as a whole"
		if row.Field != "" {
			field = "`" + row.Field + "`"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", field, row.Only, row.Instead, row.Severity)
	}
	return out.String()
}

func addons() *gardencorev1beta1.Addons {
	return &gardencorev1beta1.Addons{
		KubernetesDashboard: &gardencorev1beta1.KubernetesDashboard{Addon: gardencorev1beta1.Addon{Enabled: true}},
		NginxIngress:        &gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: true}},
	}
}
