// SPDX-License-Identifier: Apache-2.0

package volumeagent_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumeagent"
)

const (
	uid    = "0b1c2d3e-0000-4000-8000-0123456789ab"
	name   = "pvc-" + uid
	folder = "/var/lib/machine/volumes/" + name
)

type world struct {
	*volumeagent.Reconciler

	client          *fake.Clientset
	claims, volumes cache.Indexer
	events          []string
	// outside is a folder beside that of the volumes, with a file in it.
	outside string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		client:  fake.NewClientset(),
		claims:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		volumes: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
	}
	top := t.TempDir()
	w.outside = filepath.Join(top, "outside")
	w.Reconciler = &volumeagent.Reconciler{
		Client: w.client, Claims: corelisters.NewPersistentVolumeClaimLister(w.claims), Volumes: corelisters.NewPersistentVolumeLister(w.volumes),
		Dir: filepath.Join(top, "volumes"),
		Event: func(c *corev1.PersistentVolumeClaim, _, reason, _ string) {
			w.events = append(w.events, c.Name+" "+reason)
		},
	}
	for _, dir := range []string{w.Dir, w.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, filepath.Join(w.outside, "file"))
	return w
}

func (*world) write(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) reconcile(t *testing.T) {
	t.Helper()
	if err := w.Reconcile(t.Context()); err != nil {
		t.Fatalf("Reconcile() = %v", err)
	}
}

// have puts a volume into the shoot, and into what the agent has seen of it.
func (w *world) have(t *testing.T, volume *corev1.PersistentVolume) {
	t.Helper()
	if err := w.client.Tracker().Add(volume); err != nil {
		t.Fatal(err)
	}
	if err := w.volumes.Add(volume); err != nil {
		t.Fatal(err)
	}
}

// left are the volumes of the shoot with their finalizers.
func (w *world) left(t *testing.T) map[string][]string {
	t.Helper()
	list, err := w.client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, v := range list.Items {
		found[v.Name] = v.Finalizers
	}
	return found
}

func (w *world) folders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(w.Dir)
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
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: uid},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new("local"),
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
		reason string
		change func(*corev1.PersistentVolumeClaim)
		made   bool
		events bool
		fails  bool
	}{
		"OfTheClass":   {reason: "a claim of the class gets a folder and a volume of the same name", change: func(*corev1.PersistentVolumeClaim) {}, made: true},
		"Other":        {reason: "another class has another provisioner", change: func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("other") }},
		"None":         {reason: "a claim without a class wants none", change: func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }},
		"ForOne":       {reason: "a claim that names its volume wants that one", change: func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "mine" }},
		"Bound":        {reason: "a claim that has a volume needs no other", change: func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimBound }},
		"OnItsWayOut":  {reason: "nothing is made for a claim that goes", change: func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Unix(1, 0)) }},
		"Block":        {reason: "a folder is not a block device", change: func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) }, events: true},
		"Source":       {reason: "an empty volume is not a copy", change: func(c *corev1.PersistentVolumeClaim) { c.Spec.DataSource = &corev1.TypedLocalObjectReference{} }, events: true},
		"SourceRef":    {reason: "however it is named", change: func(c *corev1.PersistentVolumeClaim) { c.Spec.DataSourceRef = &corev1.TypedObjectReference{} }, events: true},
		"Selector":     {reason: "who selects wants one that is there", change: func(c *corev1.PersistentVolumeClaim) { c.Spec.Selector = &metav1.LabelSelector{} }, events: true},
		"OddUID":       {reason: "an API server that gives such UIDs does not choose paths", change: func(c *corev1.PersistentVolumeClaim) { c.UID = "../../../../../../../../../../../etc/x" }, fails: true},
		"EmptyUID":     {reason: "nor without any", change: func(c *corev1.PersistentVolumeClaim) { c.UID = "" }, fails: true},
		"UIDWithSlash": {reason: "nor with folders in it", change: func(c *corev1.PersistentVolumeClaim) { c.UID = types.UID("/" + uid[1:]) }, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_ = w.claims.Add(claim(tc.change))
			for range 2 { // The second time, the agent has not seen the volume yet.
				if err := w.Reconcile(t.Context()); (err != nil) != tc.fails || (err != nil && !strings.Contains(err.Error(), "its UID")) {
					t.Fatalf("%s\nReconcile() = %v", tc.reason, err)
				}
			}
			want := []string{}
			if tc.made {
				want = []string{"pvc-" + uid}
			}
			if diff := cmp.Diff(want, w.folders(t)); diff != "" {
				t.Errorf("%s\nfolders (-want +got):\n%s", tc.reason, diff)
			}
			if got := w.left(t); len(got) != len(want) {
				t.Errorf("%s\nvolumes: %v", tc.reason, got)
			}
			if events := slices.Contains(w.events, "c ProvisioningFailed"); events != tc.events {
				t.Errorf("%s\nevents: %q", tc.reason, w.events)
			}
		})
	}
}

func TestProvisionedVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_ = w.claims.Add(claim())
	w.reconcile(t)
	volume, err := w.client.CoreV1().PersistentVolumes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := corev1.PersistentVolumeSpec{
		StorageClassName:              "local",
		AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		VolumeMode:                    new(corev1.PersistentVolumeFilesystem),
		ClaimRef:                      &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "c", UID: uid},
		PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: folder}},
		NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "local.provider.extensions.gardener.cloud/volumes", Operator: "In", Values: []string{"true"}},
			},
		}}}},
	}
	if diff := cmp.Diff(want, volume.Spec); diff != "" {
		t.Errorf("the volume is bound to its claim, its folder and machines that have it (-want +got):\n%s", diff)
	}
	for path, mode := range map[string]os.FileMode{w.Dir: 0o700, filepath.Join(w.Dir, name): 0o777} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != mode {
			t.Errorf("%s has the mode %v, want %v: users of pods write into their volume, others do not reach it", path, got, mode)
		}
	}
}

// TestForeignName: who is root on a machine can put anything there, also a link under the name of the next volume.
func TestForeignName(t *testing.T) {
	t.Parallel()
	for _, leads := range []string{"../outside", "inside"} {
		t.Run(leads, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if err := errors.Join(os.Mkdir(filepath.Join(w.Dir, "inside"), 0o755), os.Symlink(leads, filepath.Join(w.Dir, name))); err != nil {
				t.Fatal(err)
			}
			_ = w.claims.Add(claim())
			if err := w.Reconcile(t.Context()); err == nil || len(w.left(t)) != 0 {
				t.Errorf("Reconcile() = %v, volumes %v: a link is no folder", err, w.left(t))
			}
			if info, err := os.Stat(filepath.Join(w.Dir, leads)); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("the folder that it leads to has changed: %v, %v", info, err)
			}
		})
	}
}

func volume(change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": "local.provider.extensions.gardener.cloud/volumes"},
			Finalizers: []string{"local.provider.extensions.gardener.cloud/volume"},
		},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: folder}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased},
	}
	for _, f := range change {
		f(v)
	}
	return v
}

func retained(v *corev1.PersistentVolume) {
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
}

func bound(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }

func deleted(v *corev1.PersistentVolume) { v.DeletionTimestamp = new(metav1.Unix(1, 0)) }

func protected(v *corev1.PersistentVolume) {
	v.Finalizers = append(v.Finalizers, "kubernetes.io/pv-protection")
}

func named(name, path string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Name, v.Spec.Local.Path = name, path }
}

// TestReclaim: data go with their volume, and with nothing that somebody else has written.
func TestReclaim(t *testing.T) {
	t.Parallel()
	type changes []func(*corev1.PersistentVolume)
	for name, tc := range map[string]struct {
		reason string
		change changes
		// data stay, and the volume is not touched.
		data, stays bool
	}{
		"Released":        {reason: "a volume without its claim goes, and its folder before it"},
		"Bound":           {reason: "a volume in use stays", change: changes{bound}, data: true, stays: true},
		"Retained":        {reason: "a retained volume is kept", change: changes{retained}, data: true, stays: true},
		"Deleted":         {reason: "a volume that somebody deletes goes with its data", change: changes{deleted}},
		"DeletedInUse":    {reason: "but not before its claim", change: changes{bound, deleted, protected}, data: true, stays: true},
		"DeletedRetained": {reason: "retained data stay when the object goes", change: changes{retained, deleted}, data: true},
		"Unannotated":     {reason: "a volume of another provisioner", change: changes{func(v *corev1.PersistentVolume) { v.Annotations = nil }}, data: true, stays: true},
		"Unheld":          {reason: "a volume that was not made here", change: changes{func(v *corev1.PersistentVolume) { v.Finalizers = nil }}, data: true, stays: true},
		"OtherPath":       {reason: "a volume written by hand with the path of somebody else", change: changes{named("pvc-ffffffff-ffff-ffff-ffff-ffffffffffff", folder)}, data: true, stays: true},
		"Upwards":         {reason: "a path that leads out", change: changes{named(name, folder+"/../../../../etc")}, data: true, stays: true},
		"HostPath": {reason: "a path on the machine", change: changes{func(v *corev1.PersistentVolume) {
			v.Spec.Local, v.Spec.HostPath = nil, &corev1.HostPathVolumeSource{Path: folder}
		}}, data: true, stays: true},
		"Dots":  {reason: "a name that leads out", change: changes{named("..", "/var/lib/machine")}, data: true, stays: true},
		"Whole": {reason: "the folder of all", change: changes{named("pvc-", "/var/lib/machine/volumes/pvc-")}, data: true, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			v := volume(tc.change...)
			w.have(t, v)
			inside := filepath.Join(w.Dir, "pvc-"+uid)
			w.write(t, filepath.Join(inside, "deep", "down"))
			if err := os.Symlink(w.outside, filepath.Join(inside, "link")); err != nil {
				t.Fatal(err)
			}
			w.reconcile(t)
			if _, err := os.Stat(filepath.Join(inside, "deep", "down")); (err == nil) != tc.data {
				t.Errorf("%s\ndata: %v", tc.reason, err)
			}
			if _, err := os.Stat(filepath.Join(w.outside, "file")); err != nil {
				t.Errorf("a link was followed: %v", err)
			}
			finalizers, there := w.left(t)[v.Name]
			if touched := !there || len(finalizers) != len(v.Finalizers); touched == tc.stays {
				t.Errorf("%s\nthe volume is there: %t, with %q", tc.reason, there, finalizers)
			}
		})
	}
}

// TestRetainedInTime: what the agent has seen may be old. Data do not come back, so it looks again.
func TestRetainedInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_ = w.client.Tracker().Add(volume(retained))
	_ = w.volumes.Add(volume())
	w.write(t, filepath.Join(w.Dir, name, "file"))
	w.reconcile(t)
	if _, err := os.Stat(filepath.Join(w.Dir, name, "file")); err != nil {
		t.Errorf("retained data are gone: %v", err)
	}
	_ = w.volumes.Add(volume(named("pvc-ffffffff-ffff-ffff-ffff-ffffffffffff", "/var/lib/machine/volumes/pvc-ffffffff-ffff-ffff-ffff-ffffffffffff")))
	w.reconcile(t) // Another agent has been faster.
}

// TestServe: claims are served as they come.
func TestServe(t *testing.T) {
	t.Parallel()
	client, dir := fake.NewClientset(), t.TempDir()
	watch, err := client.CoreV1().PersistentVolumes().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- volumeagent.Serve(t.Context(), client, dir, logr.Discard()) }()
	if _, err := client.CoreV1().PersistentVolumeClaims("ns").Create(t.Context(), claim(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case event := <-watch.ResultChan():
		if v, is := event.Object.(*corev1.PersistentVolume); !is || v.Name != name {
			t.Errorf("the first event is of %v", event.Object)
		}
	case err := <-done:
		t.Errorf("Serve(...) = %v", err)
	case <-time.After(30 * time.Second):
		t.Error("there is no volume")
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	if err := volumeagent.Run(t.Context(), []string{"--folder=/"}); err == nil {
		t.Error("an unknown flag is accepted")
	}
}
