// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// leaseInterval is how often the seeds of the world give a sign of life.
const leaseInterval = 10 * time.Second

// world is a garden with objects in it.
type world struct {
	*harness.Garden

	t *testing.T
	// log is what joins have told.
	log *lines
}

// lines are collected by several goroutines.
type lines struct {
	mutex sync.Mutex
	all   []string
}

func (l *lines) add(line string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.all = append(l.all, line)
}

// String implements fmt.Stringer.
func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()

	return strings.Join(l.all, "\n")
}

// furnish creates the objects of the playground and those in testdata, with the status that gardenlets would give them.
func furnish(t *testing.T, g *harness.Garden) *world {
	t.Helper()
	w := &world{Garden: g, t: t, log: &lines{}}
	examples := filepath.Join("..", "..", "packaging", "examples")
	for _, file := range []string{"internal-domain", "cloudprofile", "project"} {
		w.load(filepath.Join(examples, file+".yaml"))
	}
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "meadow"}}
	harness.Await(t, g.Client, project, "the project is ready", func(p *gardencorev1beta1.Project) error {
		if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
			return fmt.Errorf("phase %q", p.Status.Phase)
		}

		return nil
	})
	w.members(project)
	w.load(filepath.Join("testdata", "seeds.yaml"))
	w.keepLeases()
	w.installExtensions()
	for _, file := range []string{"secret", "credentialsbinding"} {
		w.load(filepath.Join(examples, file+".yaml"))
	}
	w.load(filepath.Join("testdata", "shoots.yaml"))

	return w
}

// members creates a member of the project who may read, and somebody who is no member.
func (w *world) members(of *gardencorev1beta1.Project) {
	w.t.Helper()
	for _, name := range []string{"viewer", "stranger"} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: name}}
		if err := w.Client.Create(w.t.Context(), account); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.Client.Get(w.t.Context(), client.ObjectKeyFromObject(of), of); err != nil {
		w.t.Fatal(err)
	}
	before := of.DeepCopy()
	of.Spec.Members = append(of.Spec.Members, gardencorev1beta1.ProjectMember{
		Subject: rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "garden-meadow", Name: "viewer"},
		Role:    gardencorev1beta1.ProjectMemberViewer,
	})
	if err := w.Client.Patch(w.t.Context(), of, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// load creates the objects in a file. The status is written after the object, as controllers do.
func (w *world) load(file string) {
	w.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(w.filled(data)), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			w.t.Fatalf("read %s: %v", file, err)
		}
		if len(object.Object) > 0 {
			w.create(object)
		}
	}
}

func (w *world) create(object *unstructured.Unstructured) {
	w.t.Helper()
	status, has := object.Object["status"]
	name := object.GetKind() + " " + object.GetName()
	harness.Eventually(w.t, "create "+name, func(ctx context.Context) error {
		// Some objects become acceptable when controllers have seen others.
		if err := w.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}

		return nil
	})
	if !has {
		return
	}
	harness.Eventually(w.t, "write status of "+name, func(ctx context.Context) error {
		patch, err := json.Marshal(map[string]any{"status": status})
		if err != nil {
			return err
		}

		return w.Client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))
	})
}

// filled replaces the words for the time of the test, and for the chart of an extension.
func (w *world) filled(data []byte) []byte {
	w.t.Helper()
	packed, err := chart.Pack("demo", fstest.MapFS{
		"Chart.yaml":             {Data: []byte("apiVersion: v2\nname: demo\nversion: 0.1.0\n")},
		"templates/nothing.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nothing}\n")},
	})
	if err != nil {
		w.t.Fatal(err)
	}

	return []byte(strings.NewReplacer(
		"NOW", time.Now().UTC().Format(time.RFC3339), "CHART", base64.StdEncoding.EncodeToString(packed),
	).Replace(string(data)))
}

// installExtensions says of all extensions that they are installed, as gardenlets do.
func (w *world) installExtensions() {
	w.t.Helper()
	harness.Eventually(w.t, "extensions are installed", func(ctx context.Context) error {
		all := &gardencorev1beta1.ControllerInstallationList{}
		if err := w.Client.List(ctx, all); err != nil {
			return err
		}
		if len(all.Items) < 3 {
			return fmt.Errorf("%d installations", len(all.Items))
		}
		for _, installation := range all.Items {
			before := installation.DeepCopy()
			installation.Status.Conditions = nil
			for kind, is := range map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{
				"Valid": gardencorev1beta1.ConditionTrue, "Installed": gardencorev1beta1.ConditionTrue,
				"Healthy": gardencorev1beta1.ConditionTrue, "Progressing": gardencorev1beta1.ConditionFalse,
			} {
				installation.Status.Conditions = append(installation.Status.Conditions, gardencorev1beta1.Condition{
					Type: kind, Status: is, Reason: "Installed", Message: "The extension is installed.",
					LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
				})
			}
			if err := w.Client.Status().Patch(ctx, &installation, client.MergeFrom(before)); err != nil {
				return err
			}
		}

		return nil
	})
}

// keepLeases gives signs of life of the seeds until the test ends.
func (w *world) keepLeases() {
	w.t.Helper()
	seeds := &gardencorev1beta1.SeedList{}
	if err := w.Client.List(w.t.Context(), seeds); err != nil {
		w.t.Fatal(err)
	}
	beat := func(ctx context.Context) {
		for _, seed := range seeds.Items {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: seed.Name}}
			before := lease.DeepCopy()
			_ = w.Client.Create(ctx, lease) // It is there after the first time.
			lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("gardenlet"), new(metav1.NewMicroTime(time.Now()))
			_ = w.Client.Patch(ctx, lease, client.MergeFrom(before)) // The next one follows.
		}
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	beat(ctx)
	go func() {
		defer close(done)
		ticker := time.NewTicker(leaseInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				beat(ctx)
			}
		}
	}()
	w.t.Cleanup(func() { cancel(); <-done })
}
