// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/journal"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// pictures has the graphs that gardenlets run, as pictures that their own tests hold.
var pictures = filepath.Join("..", "..", "controllers", "gardenlet", "shoot", "testdata")

const (
	// hands is how long a task takes that does something, and patience one that waits for others, at least.
	hands    = 60 * time.Millisecond
	patience = 500 * time.Millisecond
	// reportPeriod is the time between two reports of progress.
	reportPeriod = 300 * time.Millisecond
)

// errNoCapacity is why a task of the hollow gardenlet fails.
var errNoCapacity = errors.New("machine worker-2 could not be created: no capacity left in zone a")

// reconcile runs an operation on a shoot as its gardenlet does: with the graph that gardenlets run, the status that they write and the
// journal by which they hand in tasks, over the API and with their permissions. Only the tasks do nothing but take their time. A task
// can be made to fail. It returns when the operation has ended and its tasks are handed in.
func (w *world) reconcile(ctx context.Context, r *http.Request) error {
	query := r.URL.Query()
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Namespace, shoot.Name = "garden-meadow", query.Get("shoot")
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(shoot), shoot); err != nil {
		return err
	}
	asleep := shoot.Spec.Hibernation != nil && shoot.Spec.Hibernation.Enabled != nil && *shoot.Spec.Hibernation.Enabled
	picture := "reconcile"
	if asleep {
		picture = "hibernate"
	}
	graph, err := hollow(picture, flow.ID(query.Get("fail")))
	if err != nil {
		return err
	}
	garden := w.As(w.t, "gardener.cloud:system:seed:"+*shoot.Spec.SeedName, "gardener.cloud:system:seeds", "system:authenticated")
	notes := journal.New(clock.RealClock{}, logr.Discard())
	o := operation.Machine[*gardencorev1beta1.Shoot]{
		Kind: operation.Shoots(), Client: garden, Reader: garden, Clock: clock.RealClock{}, Patience: time.Hour, Journal: notes,
	}.On(shoot)
	writing, end := context.WithCancel(ctx)
	written := make(chan struct{})
	go func() {
		defer close(written)
		notes.Run(writing, garden)
	}()
	defer func() { end(); <-written }()
	generation := shoot.Generation
	var answers []rotation.Answer
	begin := operation.Start[*gardencorev1beta1.Shoot]{
		Type: gardencorev1beta1.LastOperationTypeReconcile, Anew: true,
		Change: func(s *gardencorev1beta1.Shoot) {
			s.Status.ObservedGeneration = generation
			answers = rotation.Begin(s, time.Now())
		},
	}
	if err := o.Begin(ctx, begin); err != nil {
		return err
	}
	if err := w.answered(ctx, shoot, answers); err != nil {
		return err
	}
	if err := o.Run(ctx, graph, reportPeriod); err != nil {
		_, _ = o.Fail(ctx, err) // The error is the one that is asked for, and shown in the status.

		return nil
	}

	return o.Succeed(ctx, func(s *gardencorev1beta1.Shoot) {
		s.Status.Hibernated = asleep
		rotation.Succeed(s, !asleep, time.Now())
	})
}

// answered takes off the annotation what the run has taken up.
func (w *world) answered(ctx context.Context, shoot *gardencorev1beta1.Shoot, answers []rotation.Answer) error {
	for _, a := range answers {
		if a.Refusal != "" {
			return fmt.Errorf("operation %q: %s", a.Operation, a.Refusal)
		}
	}
	if len(answers) == 0 {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, gardencorev1beta1.AnnotationOperation)

	return w.Client.Patch(ctx, &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace, Name: shoot.Name}},
		client.RawPatch(types.MergePatchType, []byte(patch)))
}

// hollow reads a graph from its picture. Its tasks take some time.
func hollow(picture string, failing flow.ID) (*flow.Graph, error) {
	file, err := os.Open(filepath.Join(pictures, picture+".dot"))
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // Nothing is written.
	var (
		name   string
		tasks  []flow.Task
		places = map[flow.ID]int{}
		quoted = regexp.MustCompile(`^\s+"([^"]+)"(?: -> "([^"]+)")?(.*)`)
	)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "digraph "); ok {
			name = strings.Trim(rest, `"{ `)
		}
		found := quoted.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if found[2] != "" {
			at := places[flow.ID(found[2])]
			tasks[at].After = append(tasks[at].After, flow.ID(found[1]))

			continue
		}
		places[flow.ID(found[1])] = len(tasks)
		tasks = append(tasks, task(flow.ID(found[1]), strings.Contains(found[3], "dashed"), flow.ID(found[1]) == failing))
	}

	return flow.Compile(name, tasks...)
}

// task is one that takes a while, depending on what it is.
func task(id flow.ID, skipped, fails bool) flow.Task {
	name, waits := strings.CutSuffix(string(id), "-wait")
	title := "Deploying " + strings.ReplaceAll(name, "-", " ")
	takes := hands + time.Duration(len(name))*5*time.Millisecond
	if waits {
		title = "Waiting for " + strings.ReplaceAll(name, "-", " ")
		takes = patience + time.Duration(len(name)%7)*150*time.Millisecond
	}

	return flow.Task{ID: id, Title: title, Skip: skipped, Do: func(ctx context.Context) error {
		timer := time.NewTimer(takes)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if fails {
			return fmt.Errorf("%s: %w", name, errNoCapacity)
		}

		return nil
	}}
}

// publish does what a gardenlet does when a shoot can be reached: it tells its address and its CA, and gives the garden the CA by which
// kubeconfigs of users are signed.
func (w *world) publish(ctx context.Context, name string) error {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: name}}
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(shoot), shoot); err != nil {
		return err
	}
	certificate, key, err := newAuthority(name)
	if err != nil {
		return err
	}
	of := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: shoot.Namespace, Name: name + suffix}
	}
	for _, object := range []client.Object{
		&gardencorev1beta1.InternalSecret{ObjectMeta: of(".ca-client"), Data: map[string][]byte{"ca.crt": certificate, "ca.key": key}},
		&corev1.ConfigMap{ObjectMeta: of(".ca-cluster"), Data: map[string]string{"ca.crt": string(certificate)}},
	} {
		if err := w.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("publish shoot %q: %w", name, err)
		}
	}
	before := shoot.DeepCopy()
	shoot.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{{Name: "external", URL: "https://api." + name + ".example.org"}}

	return w.Client.Status().Patch(ctx, shoot, client.MergeFrom(before))
}

// newAuthority makes a CA, in PEM.
func newAuthority(name string) (certificate, key []byte, err error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	made, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, signer)
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.MarshalECPrivateKey(signer)
	if err != nil {
		return nil, nil, err
	}

	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: made.Raw}),
		pem.EncodeToMemory(&pem.Block{Type: keyutil.ECPrivateKeyBlockType, Bytes: raw}), nil
}
