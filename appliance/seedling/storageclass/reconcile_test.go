// SPDX-License-Identifier: Apache-2.0

package storageclass_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/appliance/seedling/storageclass"
)

type world struct {
	reconciler      *storageclass.Reconciler
	client          *fake.Clientset
	claims, volumes cache.Indexer
	events          []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		client:  fake.NewClientset(),
		claims:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		volumes: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
	}
	w.reconciler = &storageclass.Reconciler{
		Client: w.client, Claims: corelisters.NewPersistentVolumeClaimLister(w.claims), Volumes: corelisters.NewPersistentVolumeLister(w.volumes),
		Dir: t.TempDir(),
		Event: func(c *corev1.PersistentVolumeClaim, _, reason, _ string) {
			w.events = append(w.events, c.Name+" "+reason)
		},
	}
	return w
}

func (w *world) reconcile(t *testing.T) {
	t.Helper()
	if err := w.reconciler.Reconcile(t.Context()); err != nil {
		t.Fatalf("Reconcile() = %v", err)
	}
}

func (w *world) volumeNames(t *testing.T) []string {
	t.Helper()
	list, err := w.client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, v := range list.Items {
		names = append(names, v.Name)
	}
	return names
}

func (w *world) folders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(w.reconciler.Dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func claim(change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "uid-of-claim"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new("seedling"),
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestProvision(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		claim   *corev1.PersistentVolumeClaim
		volumes []string
		events  []string
	}{
		"of the class": {
			reason:  "A claim of the class gets a folder and a volume of the same name.",
			claim:   claim(),
			volumes: []string{"pvc-uid-of-claim"},
		},
		"of another class": {
			reason: "Another class has another provisioner.",
			claim:  claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("other") }),
		},
		"without a class": {
			reason: "A claim without a class gets one by admission, or wants none.",
			claim:  claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }),
		},
		"for a certain volume": {
			reason: "A claim that names its volume wants that one.",
			claim:  claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "mine" }),
		},
		"on its way out": {
			reason: "Nothing is made for a claim that goes.",
			claim:  claim(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Unix(1, 0)) }),
		},
		"block device": {
			reason: "A folder is not a block device; an event says so.",
			claim:  claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) }),
			events: []string{"c ProvisioningFailed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_ = w.claims.Add(tc.claim)
			w.reconcile(t)
			w.reconcile(t) // the informer has not seen the volume yet
			want := tc.volumes
			if want == nil {
				want = []string{}
			}
			if diff := cmp.Diff(want, w.volumeNames(t)); diff != "" {
				t.Errorf("%s\nVolumes (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want, w.folders(t)); diff != "" {
				t.Errorf("%s\nFolders (-want +got):\n%s", tc.reason, diff)
			}
			if len(tc.events) > 0 && (len(w.events) == 0 || w.events[0] != tc.events[0]) {
				t.Errorf("%s\nEvents: got %q, want %q", tc.reason, w.events, tc.events)
			}
		})
	}
}

func TestProvisionedVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_ = w.claims.Add(claim())
	w.reconcile(t)
	volume, err := w.client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-uid-of-claim", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(w.reconciler.Dir, "pvc-uid-of-claim")
	want := corev1.PersistentVolumeSpec{
		StorageClassName:              "seedling",
		AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		ClaimRef:                      &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "c", UID: "uid-of-claim"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: folder, Type: new(corev1.HostPathDirectory)},
		},
	}
	if diff := cmp.Diff(want, volume.Spec); diff != "" {
		t.Errorf("The volume is bound to its claim and to its folder (-want +got):\n%s", diff)
	}
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != fs.FileMode(0o777) {
		t.Errorf("Every user of the pod may write into the folder; its mode is %v", got)
	}
	parent, err := os.Stat(w.reconciler.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := parent.Mode().Perm(); got != fs.FileMode(0o700) {
		t.Errorf("No user of the machine may exchange the folder: the mode of the one around it is %v", got)
	}
}

// released is a volume whose claim is gone.
func released(change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: "pvc-1", UID: "uid-of-volume", ResourceVersion: "7",
			Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": "seedling.terrarium.garden/folder"},
		},
		Spec:   corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased},
	}
	for _, f := range change {
		f(v)
	}
	return v
}

func bound(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }

func retained(v *corev1.PersistentVolume) {
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
}

func TestReclaim(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		volume *corev1.PersistentVolume
		stays  bool
	}{
		"released": {reason: "A volume without its claim goes, and its folder with it.", volume: released()},
		"bound": {
			reason: "A volume in use stays.", stays: true,
			volume: released(bound),
		},
		"retained": {
			reason: "A retained volume is kept.", stays: true,
			volume: released(retained),
		},
		"foreign": {
			reason: "A volume of another provisioner is not ours to remove.", stays: true,
			volume: released(func(v *corev1.PersistentVolume) { v.Annotations = nil }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_ = w.client.Tracker().Add(tc.volume)
			_ = w.volumes.Add(tc.volume)
			inside := filepath.Join(w.reconciler.Dir, tc.volume.Name, "data")
			if err := os.MkdirAll(inside, 0o700); err != nil {
				t.Fatal(err)
			}
			w.reconcile(t)
			want := []string{}
			if tc.stays {
				want = []string{"pvc-1"}
			}
			if diff := cmp.Diff(want, w.volumeNames(t)); diff != "" {
				t.Errorf("%s\nVolumes (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want, w.folders(t)); diff != "" {
				t.Errorf("%s\nFolders (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReclaimLooksAgain: what the informer has seen may be old. Data do not come back, so the volume itself counts.
func TestReclaimLooksAgain(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(*corev1.PersistentVolume){"retained in time": retained, "bound again": bound} {
		w := newWorld(t)
		_ = w.client.Tracker().Add(released(change))
		_ = w.volumes.Add(released())
		_ = w.volumes.Add(released(func(v *corev1.PersistentVolume) { v.Name = "pvc-gone" }))
		if err := os.Mkdir(filepath.Join(w.reconciler.Dir, "pvc-1"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.reconcile(t)
		if diff := cmp.Diff([]string{"pvc-1"}, w.volumeNames(t)); diff != "" {
			t.Errorf("%s\nVolumes (-want +got):\n%s", reason, diff)
		}
		if diff := cmp.Diff([]string{"pvc-1"}, w.folders(t)); diff != "" {
			t.Errorf("%s\nFolders (-want +got):\n%s", reason, diff)
		}
	}
}

// TestReclaimsWhatItHasSeen: only the volume that was looked at is deleted. If it has changed, its next event decides.
func TestReclaimsWhatItHasSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_ = w.client.Tracker().Add(released())
	_ = w.volumes.Add(released())
	var got *metav1.Preconditions
	w.client.PrependReactor("delete", "persistentvolumes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deletion, _ := action.(clienttesting.DeleteActionImpl)
		got = deletion.DeleteOptions.Preconditions
		return true, nil, apierrors.NewConflict(corev1.Resource("persistentvolumes"), "pvc-1", errors.New("it has changed"))
	})
	w.reconcile(t)
	want := &metav1.Preconditions{UID: new(types.UID("uid-of-volume")), ResourceVersion: new("7")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Preconditions of the deletion (-want +got):\n%s", diff)
	}
}

func TestEnsureClass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 { // a second time after a restart
		if err := w.reconciler.EnsureClass(t.Context()); err != nil {
			t.Fatalf("EnsureClass() = %v", err)
		}
	}
	class, err := w.client.StorageV1().StorageClasses().Get(t.Context(), "seedling", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if class.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" {
		t.Errorf("Claims without a class get this one; its annotations are %v", class.Annotations)
	}
}
