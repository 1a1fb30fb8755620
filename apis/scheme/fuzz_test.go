// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	corevalidation "github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/apis/core/warning"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	operationsvalidation "github.com/terrarium-garden/terrarium/apis/operations/validation"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	operatorvalidation "github.com/terrarium-garden/terrarium/apis/operator/validation"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/apis/scheme/arbitrary"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	securityvalidation "github.com/terrarium-garden/terrarium/apis/security/validation"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	seedmanagementvalidation "github.com/terrarium-garden/terrarium/apis/seedmanagement/validation"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	settingsvalidation "github.com/terrarium-garden/terrarium/apis/settings/validation"
)

// judge lets everything look at an object, and at its change from another one, that does so before it is stored.
type judge func(now, old runtime.Object)

// judged is the judge of a kind.
func judged[T runtime.Object](validate func(T) field.ErrorList, updates ...func(now, old T) field.ErrorList) judge {
	return func(now, old runtime.Object) {
		n, isKind := now.(T)
		o, wasKind := old.(T)
		if !isKind || !wasKind {
			return
		}
		steady(func() field.ErrorList { return validate(n) })
		for _, update := range updates {
			steady(func() field.ErrorList { return update(n, o) })
		}
	}
}

// steady checks that two validations of the same object return the same errors.
func steady(validate func() field.ErrorList) {
	if diff := cmp.Diff(complaints(validate()), complaints(validate())); diff != "" {
		panic("two validations of the same object differ (-first +second):\n" + diff)
	}
}

// complaints leaves out those about labels and annotations, which the library puts in any order.
func complaints(errs field.ErrorList) string {
	var all strings.Builder
	for _, err := range errs {
		if name := strings.ToLower(err.Field); !strings.HasSuffix(name, "labels") && !strings.HasSuffix(name, "annotations") {
			fmt.Fprintln(&all, err)
		}
	}
	return all.String()
}

// judges knows every kind that is stored.
func judges() map[string]judge {
	shoots := judged(corevalidation.ValidateShoot, corevalidation.ValidateShootUpdate, corevalidation.ValidateShootBindingUpdate, corevalidation.ValidateShootStatusUpdate)
	return map[string]judge{
		"BackupBucket":               judged(corevalidation.ValidateBackupBucket, corevalidation.ValidateBackupBucketUpdate),
		"BackupEntry":                judged(corevalidation.ValidateBackupEntry, corevalidation.ValidateBackupEntryUpdate),
		"Bastion":                    judged(operationsvalidation.ValidateBastion, operationsvalidation.ValidateBastionUpdate, bastionStatus),
		"CloudProfile":               judged(corevalidation.ValidateCloudProfile, corevalidation.ValidateCloudProfileUpdate),
		"ClusterOpenIDConnectPreset": judged(settingsvalidation.ValidateClusterOpenIDConnectPreset, settingsvalidation.ValidateClusterOpenIDConnectPresetUpdate),
		"ControllerDeployment":       deployments,
		"ControllerInstallation":     judged(corevalidation.ValidateControllerInstallation, corevalidation.ValidateControllerInstallationUpdate),
		"ControllerRegistration":     judged(corevalidation.ValidateControllerRegistration, corevalidation.ValidateControllerRegistrationUpdate),
		"CredentialsBinding":         judged(securityvalidation.ValidateCredentialsBinding, securityvalidation.ValidateCredentialsBindingUpdate),
		"ExposureClass":              judged(corevalidation.ValidateExposureClass, corevalidation.ValidateExposureClassUpdate),
		"Garden":                     judged(operatorvalidation.ValidateGarden, operatorvalidation.ValidateGardenUpdate),
		"Gardenlet":                  judged(seedmanagementvalidation.ValidateGardenlet, seedmanagementvalidation.ValidateGardenletUpdate),
		"InternalSecret":             judged(corevalidation.ValidateInternalSecret, corevalidation.ValidateInternalSecretUpdate),
		"ManagedSeed":                judged(seedmanagementvalidation.ValidateManagedSeed, seedmanagementvalidation.ValidateManagedSeedUpdate),
		"ManagedSeedSet": judged(seedmanagementvalidation.ValidateManagedSeedSet, seedmanagementvalidation.ValidateManagedSeedSetUpdate,
			seedmanagementvalidation.ValidateManagedSeedSetStatusUpdate),
		"NamespacedCloudProfile": judged(corevalidation.ValidateNamespacedCloudProfile, corevalidation.ValidateNamespacedCloudProfileUpdate),
		"OpenIDConnectPreset":    judged(settingsvalidation.ValidateOpenIDConnectPreset, settingsvalidation.ValidateOpenIDConnectPresetUpdate),
		"Plant":                  judged(corevalidation.ValidatePlant, corevalidation.ValidatePlantUpdate),
		"Project":                judged(corevalidation.ValidateProject, corevalidation.ValidateProjectUpdate, corevalidation.ValidateProjectStatusUpdate),
		"Quota":                  judged(corevalidation.ValidateQuota, corevalidation.ValidateQuotaUpdate),
		"SecretBinding":          judged(corevalidation.ValidateSecretBinding, corevalidation.ValidateSecretBindingUpdate),
		"Seed":                   judged(corevalidation.ValidateSeed, corevalidation.ValidateSeedUpdate, corevalidation.ValidateSeedStatusUpdate),
		"Shoot": func(now, old runtime.Object) {
			shoots(now, old)
			n, isShoot := now.(*gardencorev1beta1.Shoot)
			o, wasShoot := old.(*gardencorev1beta1.Shoot)
			if isShoot && wasShoot {
				_ = warning.Shoot(n, o, time.Unix(1<<31, 0), time.Hour)
			}
		},
		"ShootState":       judged(corevalidation.ValidateShootState, corevalidation.ValidateShootStateUpdate),
		"WorkloadIdentity": judged(securityvalidation.ValidateWorkloadIdentity, securityvalidation.ValidateWorkloadIdentityUpdate),
	}
}

// deployments judges the hub version; the other one is converted into it before.
func deployments(now, old runtime.Object) {
	judged[*gardencorev1.ControllerDeployment](corevalidation.ValidateControllerDeployment, corevalidation.ValidateControllerDeploymentUpdate)(now, old)
}

func bastionStatus(now, _ *gardenoperationsv1alpha1.Bastion) field.ErrorList {
	return operationsvalidation.ValidateBastionStatusUpdate(now, time.Unix(1<<31, 0))
}

// server reads and judges as the API server does.
type server struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	judges map[string]judge
	kinds  []schema.GroupVersionKind
}

func newServer(tb testing.TB) *server {
	tb.Helper()
	s := &server{scheme: runtime.NewScheme(), judges: judges()}
	if err := scheme.AddServed(s.scheme); err != nil {
		tb.Fatal(err)
	}
	s.codecs = serializer.NewCodecFactory(s.scheme, serializer.EnableStrict)
	for _, group := range scheme.ServedGroups() {
		for _, version := range group {
			for kind := range s.scheme.KnownTypes(version) {
				if _, ok := s.judges[kind]; ok {
					s.kinds = append(s.kinds, version.WithKind(kind))
				}
			}
		}
	}
	slices.SortFunc(s.kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return s
}

// read decodes, fills in defaults and converts to the version that is judged.
func (s *server) read(data []byte) (runtime.Object, error) {
	obj, _, err := s.codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil && !runtime.IsStrictDecodingError(err) {
		return nil, err
	}
	s.scheme.Default(obj)
	if d, ok := obj.(*gardencorev1beta1.ControllerDeployment); ok {
		hub := &gardencorev1.ControllerDeployment{}
		return hub, s.scheme.Convert(d, hub, nil)
	}
	return obj, nil
}

func (s *server) judge(now, old runtime.Object) {
	name := reflect.TypeOf(now).Elem().Name()
	if judge, ok := s.judges[name]; ok && reflect.TypeOf(old) == reflect.TypeOf(now) {
		judge(now, old)
	}
}

// make is an object of a kind as a client would write it, or nothing when it cannot be written.
func (s *server) make(kind schema.GroupVersionKind, source *arbitrary.Source) []byte {
	obj, err := s.scheme.New(kind)
	if err != nil {
		return nil
	}
	source.Fill(obj)
	obj.GetObjectKind().SetGroupVersionKind(kind)
	data, err := json.Marshal(obj)
	if err != nil {
		return nil
	}
	return data
}

func TestEveryKindIsJudged(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	bodies := []string{"AdminKubeconfigRequest", "ViewerKubeconfigRequest", "TokenRequest", "Scale", "TimelineReport"}
	// Nobody writes them but the server.
	bodies = append(bodies, "Snapshot", "TimelineEntry")
	for _, group := range scheme.ServedGroups() {
		for _, version := range group {
			for kind, typ := range s.scheme.KnownTypes(version) {
				_, isObject := reflect.TypeAssert[metav1.Object](reflect.New(typ))
				if _, ok := s.judges[kind]; isObject && !ok && !slices.Contains(bodies, kind) {
					t.Errorf("%s: a kind that is stored is judged, and fuzzed, before it is", version.WithKind(kind))
				}
			}
		}
	}
}

// FuzzDecoding reads two documents, of whatever kind, and judges the change from one to the other.
func FuzzDecoding(f *testing.F) {
	s := newServer(f)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no manifests to begin with: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for document := range strings.SplitSeq(string(data), "\n---\n") {
			f.Add([]byte(document), []byte(document))
		}
	}
	f.Fuzz(func(_ *testing.T, now, old []byte) {
		n, err := s.read(now)
		if err != nil {
			return
		}
		o, err := s.read(old)
		if err != nil {
			return
		}
		s.judge(n, o)
		s.judge(n, n.DeepCopyObject())
	})
}

// FuzzShoots judges shoots of any form.
func FuzzShoots(f *testing.F) {
	fuzzKinds(f, func(kind schema.GroupVersionKind) bool { return kind.Kind == "Shoot" })
}

// FuzzCore judges objects of the other kinds of the core group.
func FuzzCore(f *testing.F) {
	fuzzKinds(f, func(kind schema.GroupVersionKind) bool {
		return kind.Group == gardencorev1beta1.GroupName && kind.Kind != "Shoot"
	})
}

// FuzzGroups judges objects of the other groups.
func FuzzGroups(f *testing.F) {
	groups := []string{
		gardenoperationsv1alpha1.GroupName, gardenoperatorv1alpha1.GroupName, gardensecurityv1alpha1.GroupName,
		gardenseedmanagementv1alpha1.GroupName, gardensettingsv1alpha1.GroupName,
	}
	fuzzKinds(f, func(kind schema.GroupVersionKind) bool { return slices.Contains(groups, kind.Group) })
}

// fuzzKinds makes objects out of bytes, the first of which says of what kind, writes and reads them, and judges them.
func fuzzKinds(f *testing.F, wanted func(schema.GroupVersionKind) bool) {
	f.Helper()
	s := newServer(f)
	kinds := slices.DeleteFunc(slices.Clone(s.kinds), func(kind schema.GroupVersionKind) bool { return !wanted(kind) })
	if len(kinds) == 0 {
		f.Fatal("no kinds")
	}
	for i := range kinds {
		for seed := range byte(4) {
			f.Add(byte(i), noise(seed), noise(seed/2))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, now, old []byte) {
		kind := kinds[int(which)%len(kinds)]
		n, err := s.read(s.make(kind, arbitrary.From(now)))
		if err != nil {
			return
		}
		o, err := s.read(s.make(kind, arbitrary.From(old)))
		if err != nil {
			return
		}
		s.judge(n, o)
		s.judge(n, n.DeepCopyObject())
		if _, err := json.Marshal(n); err != nil {
			t.Errorf("%s: what was read can be written\nMarshal: %v", kind, err)
		}
	})
}

// noise is enough for every field of the largest kind, and the same each time.
func noise(seed byte) []byte {
	data := make([]byte, 8<<10)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(data) // It never fails.
	return data
}
