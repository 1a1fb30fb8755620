// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

type gardenObject = gardenoperatorv1alpha1.Garden

// described waits until the Garden of a server says something.
func described(t *testing.T, g *harness.Garden, what string, check func(*gardenObject) error) *gardenObject {
	t.Helper()
	own := &gardenObject{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}

	return harness.Await(t, g.Client, own, what, check)
}

func is(yes bool, format string, args ...any) error {
	if yes {
		return nil
	}

	return fmt.Errorf(format, args...)
}

// ask annotates the Garden with an operation.
func ask(t *testing.T, g *harness.Garden, operation string) error {
	t.Helper()
	own := described(t, g, "the Garden", func(*gardenObject) error { return nil })
	patch := client.MergeFrom(own.DeepCopy())
	metav1.SetMetaDataAnnotation(&own.ObjectMeta, "gardener.cloud/operation", operation)

	return g.Client.Patch(t.Context(), own, patch)
}

func well(own *gardenObject) error {
	bad := slices.DeleteFunc(slices.Clone(own.Status.Conditions), func(c gardencorev1beta1.Condition) bool { return c.Status == "True" })

	return is(len(own.Status.Conditions) == 5 && len(bad) == 0, "conditions %v", own.Status.Conditions)
}

// TestGardenDescribesTheServer reads the Garden of a new server, and starts the server again with another configuration.
func TestGardenDescribesTheServer(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	own := described(t, g, "the server is well", well)
	if err := is(own.Status.ObservedGeneration == own.Generation, "observed %d of %d", own.Status.ObservedGeneration, own.Generation); err != nil {
		t.Errorf("OPER-REC-4: %v", err)
	}
	virtual := own.Spec.VirtualCluster
	got := map[string]string{
		"identity":  virtual.Gardener.ClusterIdentity,
		"strategy":  *virtual.Gardener.Scheduler.Strategy,
		"events":    virtual.Kubernetes.KubeAPIServer.EventTTL.Duration.String(),
		"encrypts":  string(*virtual.Kubernetes.KubeAPIServer.EncryptionConfig.Provider.Type),
		"window":    virtual.Maintenance.TimeWindow.Begin,
		"level":     *virtual.Gardener.ControllerManager.LogLevel,
		"address":   own.Status.AdvertisedAddresses[0].Name + " " + own.Status.AdvertisedAddresses[0].URL,
		"version":   own.Status.Gardener.Version,
		"operation": string(own.Status.LastOperation.Type) + " " + string(own.Status.LastOperation.State),
		"encrypted": fmt.Sprint(own.Status.Credentials.EncryptionAtRest.Resources),
	}
	want := map[string]string{
		"identity": g.ClusterIdentity, "strategy": "SameRegion", "events": "1h0m0s", "encrypts": "secretbox", "window": "220000+0000", "level": "info",
		"address": "virtual-garden " + g.External, "version": "v0.0.0-test", "operation": "Reconcile Succeeded",
		"encrypted": "[internalsecrets.core.gardener.cloud secrets shootstates.core.gardener.cloud]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("OPER-API-7, OPER-FLOW-16: what the Garden tells (-want +got):\n%s", diff)
	}
	if err := g.Client.Create(t.Context(), &gardenObject{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: own.Spec}); !apierrors.IsBadRequest(err) {
		t.Errorf("OPER-WH-2: a second Garden: %v", err)
	}
	confirmed := own.DeepCopy()
	metav1.SetMetaDataAnnotation(&confirmed.ObjectMeta, "confirmation.gardener.cloud/deletion", "true")
	if err := g.Client.Patch(t.Context(), confirmed, client.MergeFrom(own)); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"it": g.Client.Delete(t.Context(), own), "all": g.Client.DeleteAllOf(t.Context(), &gardenObject{}),
	} {
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "describes this server") {
			t.Errorf("OPER-DEL-5: delete %s: %v", what, err)
		}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	if err := g.Client.Delete(t.Context(), namespace); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "Secrets of the garden itself") {
		t.Errorf("OPER-WH-19: delete the namespace garden: %v", err)
	}
	for name, change := range map[string]func(*gardenObject){
		"set eventTTL in /etc/terrarium/server.yaml": func(g *gardenObject) {
			g.Spec.VirtualCluster.Kubernetes.KubeAPIServer.EventTTL = &metav1.Duration{Duration: 2 * time.Hour}
		},
		"runs in no cluster": func(g *gardenObject) { g.Spec.RuntimeCluster.Provider.Zones = []string{"a"} },
		"Unsupported value":  func(g *gardenObject) { g.Annotations["gardener.cloud/operation"] = "dance" },
	} {
		changed := confirmed.DeepCopy()
		change(changed)
		if err := g.Client.Patch(t.Context(), changed, client.MergeFrom(confirmed)); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("OPER-WH-5: %s: %v", name, err)
		}
	}
}

// TestGardenSettings changes what acts in the running server.
func TestGardenSettings(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	own := described(t, g, "the server is well", well)
	before := own.DeepCopy()
	own.Spec.VirtualCluster.DNS.Domains = []gardenoperatorv1alpha1.DNSDomain{{Name: "example.org"}}
	own.Spec.VirtualCluster.Gardener.Scheduler.LogLevel = new("debug")
	if err := g.Client.Patch(t.Context(), own, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	named := func(g *harness.Garden) error {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(g.CA)
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "api.example.org", MinVersion: tls.VersionTLS13}}
		c, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(g.Server, "https://"))
		if err != nil {
			return err
		}

		return c.Close()
	}
	described(t, g, "the domain is in the certificate, and the log has its level", func(own *gardenObject) error {
		level := *own.Spec.VirtualCluster.Gardener.ControllerManager.LogLevel
		if err := is(level == "debug" && own.Status.ObservedGeneration == own.Generation, "level %s, observed %d of %d", level, own.Status.ObservedGeneration, own.Generation); err != nil {
			return err
		}

		return named(g)
	})
	if _, out, _ := terrarium(t, "log-level", "--data-dir", g.DataDir); !strings.Contains(out, "debug") {
		t.Errorf("the level of the log: got %q, want debug", out)
	}
	if status, _, errs := terrarium(t, "log-level", "error", "--data-dir", g.DataDir); status != 0 {
		t.Fatal(errs)
	}
	if err := ask(t, g, "reconcile"); err != nil {
		t.Fatal(err)
	}
	described(t, g, "the Garden shows what the command line has set", func(own *gardenObject) error {
		level := *own.Spec.VirtualCluster.Gardener.Scheduler.LogLevel

		return is(level == "error" && own.Annotations["gardener.cloud/operation"] == "", "level %s, annotations %v", level, own.Annotations)
	})
	serving := g.Config.TLSClientConfig
	g.Stop(t)
	again := harness.Start(t, harness.WithDataDir(g.DataDir))
	if err := named(again); err != nil {
		t.Errorf("OPER-FLOW-13: after a restart: %v (%d)", err, len(serving.CAData))
	}
	described(t, again, "the level is that of the configuration again", func(own *gardenObject) error {
		level := *own.Spec.VirtualCluster.Gardener.Scheduler.LogLevel

		return is(level == "info" && own.Spec.VirtualCluster.DNS.Domains[0].Name == "example.org", "level %s", level)
	})
}

// TestGardenActsAtOnce_OPER_REC_1 has a Garden that is looked at once a day: what happens before is because somebody asks for it.
func TestGardenActsAtOnce_OPER_REC_1(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.GardenCare.SyncPeriod = &metav1.Duration{Duration: 24 * time.Hour}
	}))
	described(t, g, "the server has started and was looked at", func(own *gardenObject) error {
		return is(len(own.Status.Conditions) > 0, "conditions %v", own.Status.Conditions)
	})
	if err := ask(t, g, "reconcile"); err != nil {
		t.Fatal(err)
	}
	own := described(t, g, "a known operation starts a run", func(own *gardenObject) error {
		return is(own.Annotations["gardener.cloud/operation"] == "", "annotations %v", own.Annotations)
	})
	before := own.DeepCopy()
	own.Spec.VirtualCluster.DNS.Domains = []gardenoperatorv1alpha1.DNSDomain{{Name: "example.org"}}
	if err := g.Client.Patch(t.Context(), own, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	described(t, g, "a new generation starts a run", func(own *gardenObject) error {
		return is(own.Generation > before.Generation && own.Status.ObservedGeneration == own.Generation, "generation %d, before %d, observed %d",
			own.Generation, before.Generation, own.Status.ObservedGeneration)
	})
}

// TestGardenRotations starts and completes rotations by the annotation and by the command line.
func TestGardenRotations(t *testing.T) {
	t.Parallel()
	clock := harness.NewClock(t)
	g := harness.Start(t, harness.WithClock(clock))
	described(t, g, "the server is well", well)
	phase := func(own *gardenObject) string {
		if c := own.Status.Credentials; c != nil && c.Rotation != nil && c.Rotation.ServiceAccountKey != nil {
			return string(c.Rotation.ServiceAccountKey.Phase)
		}

		return ""
	}
	reaches := func(want string) *gardenObject {
		t.Helper()

		return described(t, g, want, func(own *gardenObject) error {
			return is(phase(own) == want && own.Annotations["gardener.cloud/operation"] == "", "phase %q, annotations %v, last operation %v", phase(own), own.Annotations, own.Status.LastOperation)
		})
	}
	refuses := func(operation, want string) {
		t.Helper()
		if err := ask(t, g, operation); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("OPER-WH-6: %s: got %v, want %q", operation, err, want)
		}
	}
	refuses("rotate-serviceaccount-key-complete", "is possible only when")
	seen, err := g.Client.Watch(t.Context(), &gardenoperatorv1alpha1.GardenList{})
	if err != nil {
		t.Fatal(err)
	}
	// It is read until the operation is done: what a watch has not delivered when it is stopped is lost.
	early := make(chan []string, 1)
	go func() {
		var phases []string
		asked := false
		for e := range seen.ResultChan() {
			o, ok := e.Object.(*gardenObject)
			switch {
			case !ok:
			case o.Annotations["gardener.cloud/operation"] != "":
				asked = true
			case asked && phase(o) != "Prepared":
				phases = append(phases, phase(o))
			case asked:
				early <- phases

				return
			}
		}
		early <- append(phases, "the watch has ended")
	}()
	if err := ask(t, g, "reconcile;rotate-serviceaccount-key-start"); err != nil {
		t.Fatal(err)
	}
	own := reaches("Prepared")
	select {
	case phases := <-early:
		if len(phases) > 0 {
			t.Errorf("OPER-REC-4: the operation is taken off before the phase is written: %q", phases)
		}
	case <-time.After(time.Minute):
		t.Error("OPER-REC-4: the watch has not shown how the operation was taken off")
	}
	seen.Stop()
	if r := own.Status.Credentials.Rotation.ServiceAccountKey; r.LastInitiationTime == nil || r.LastInitiationFinishedTime == nil || r.LastCompletionTime != nil {
		t.Errorf("OPER-API-6: times of a prepared rotation: %+v", r)
	}
	if status, out, errs := terrarium(t, "certificate", "check", "--data-dir", g.DataDir); !strings.Contains(out, "service-account-former") {
		t.Errorf("the rotation is that of the command line: status %d\n%s%s", status, out, errs)
	}
	refuses("rotate-serviceaccount-key-start", "is not possible while")
	refuses("rotate-serviceaccount-key-complete", "may be valid until")
	clock.Step(2161 * time.Hour)
	if err := ask(t, g, "rotate-serviceaccount-key-complete"); err != nil {
		t.Fatal(err)
	}
	own = reaches("Completed")
	if r := own.Status.Credentials.Rotation.ServiceAccountKey; r.LastCompletionTime == nil || r.LastInitiationFinishedTime != nil {
		t.Errorf("OPER-REC-5: times of a completed rotation: %+v", r)
	}
	if status, _, errs := terrarium(t, "certificate", "rotate-service-account-key", "start", "--data-dir", g.DataDir); status != 0 {
		t.Fatal(errs)
	}
	reaches("Prepared")

	encryption := func(want string) *gardenObject { //nolint:unparam // As the others.
		t.Helper()

		return described(t, g, "the encryption key is "+want, func(own *gardenObject) error {
			r := own.Status.Credentials.Rotation.ETCDEncryptionKey

			return is(r != nil && string(r.Phase) == want && len(own.Annotations) == 0, "rotation %+v, annotations %v, last operation %v", r, own.Annotations, own.Status.LastOperation)
		})
	}
	authorities := func(want string) {
		t.Helper()
		described(t, g, "the authorities are "+want, func(own *gardenObject) error {
			r := own.Status.Credentials.Rotation.CertificateAuthorities

			return is(r != nil && string(r.Phase) == want && len(own.Annotations) == 0, "rotation %+v, annotations %v, last operation %v", r, own.Annotations, own.Status.LastOperation)
		})
	}
	if err := ask(t, g, "rotate-ca-start"); err != nil {
		t.Fatal(err)
	}
	authorities("Prepared")
	refuses("rotate-ca-start", "is not possible while")
	if status, _, errs := terrarium(t, "certificate", "rotate-ca", "start", "--data-dir", g.DataDir); status == 0 {
		t.Errorf("the command line begins another rotation: %s", errs)
	}
	refuses("rotate-credentials-complete", "is possible only when")
	refuses("rotate-credentials-start", "is not possible while")
	refuses("rotate-etcd-encryption-key-start", "use rotate-etcd-encryption-key")
	if err := ask(t, g, "rotate-etcd-encryption-key"); err != nil {
		t.Fatal(err)
	}
	encryption("Completing")
	clock.Step(2 * time.Hour)
	encryption("Completed")

	password := func() string {
		secret := &corev1.Secret{}
		if err := g.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "observability-ingress"}, secret); err != nil {
			t.Fatal(err)
		}

		return string(secret.Data["password"])
	}
	was := password()
	if err := ask(t, g, "rotate-observability-credentials"); err != nil {
		t.Fatal(err)
	}
	clock.Step(time.Minute)
	described(t, g, "OPER-ROT-8: a new password", func(own *gardenObject) error {
		clock.Step(time.Minute)
		r := own.Status.Credentials.Rotation.Observability

		return is(r != nil && r.LastCompletionTime != nil && password() != was, "rotation %+v", r)
	})
}

// TestGardenRotatesAll rotates all credentials at once, and once more: what the Garden starts the command line completes, and the other
// way round, because they are two ways to the same rotation [OPER-ROT-1, OPER-ROT-4].
func TestGardenRotatesAll(t *testing.T) {
	t.Parallel()
	// It ends at the real time, with which TLS compares the new certificates.
	const longest = 2161 * time.Hour
	clock := harness.NewClockAt(t, time.Now().Add(-2*longest))
	g := harness.Start(t, harness.WithClock(clock))
	described(t, g, "the Garden describes the server", func(own *gardenObject) error {
		last := own.Status.LastOperation

		return is(last != nil && last.State == gardencorev1beta1.LastOperationStateSucceeded, "last operation %+v", last)
	})
	monitoring := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "observability-ingress"}}
	before := harness.Await(t, g.Client, monitoring, "the credentials of monitoring", func(*corev1.Secret) error { return nil })
	published := func() int {
		t.Helper()
		_, keys, err := g.Ask(t.Context(), "/garden/workload-identity/issuer/jwks")
		if err != nil {
			t.Fatal(err)
		}

		return strings.Count(keys, `"kid"`)
	}
	phases := func(own *gardenObject) []string {
		c := own.Status.Credentials
		if c == nil || c.Rotation == nil || c.Rotation.CertificateAuthorities == nil || c.Rotation.ServiceAccountKey == nil ||
			c.Rotation.WorkloadIdentityKey == nil || c.Rotation.ETCDEncryptionKey == nil {
			return nil
		}

		return []string{
			string(c.Rotation.CertificateAuthorities.Phase), string(c.Rotation.ServiceAccountKey.Phase),
			string(c.Rotation.WorkloadIdentityKey.Phase), string(c.Rotation.ETCDEncryptionKey.Phase),
		}
	}
	reach := func(want ...string) {
		t.Helper()
		described(t, g, strings.Join(want, ", "), func(own *gardenObject) error {
			return is(slices.Equal(phases(own), want) && own.Annotations["gardener.cloud/operation"] == "", "phases %v, annotations %v, last operation %v",
				phases(own), own.Annotations, own.Status.LastOperation)
		})
	}
	command := func(want int, says string, args ...string) {
		t.Helper()
		status, out, errs := terrarium(t, append([]string{"certificate", "--data-dir", g.DataDir}, args...)...)
		if status != want || !strings.Contains(errs, says) {
			t.Fatalf("%q: status %d, want %d and %q\n%s%s", args, status, want, says, out, errs)
		}
	}
	// A single operation that is a part of it is left out: what has been done already is no error, as for a server that was killed in between.
	if err := ask(t, g, "rotate-credentials-start;rotate-ca-start;rotate-etcd-encryption-key;rotate-workload-identity-key-start"); err != nil {
		t.Fatal(err)
	}
	reach("Prepared", "Prepared", "Prepared", "Completing")
	described(t, g, "OPER-REC-4, OPER-ROT-4: nothing is refused", func(own *gardenObject) error {
		last := own.Status.LastOperation

		return is(last.State == gardencorev1beta1.LastOperationStateSucceeded, "last operation %+v", last)
	})
	// The last operation is also that of a later run that has failed.
	if strings.Contains(g.Log(), "Operation of the Garden refused") {
		t.Error("OPER-REC-4, OPER-ROT-4: an operation was refused")
	}
	if n := published(); n != 2 {
		t.Errorf("%d keys of workload identities are published, want both", n)
	}
	command(1, "a rotation has begun", "rotate-credentials", "start")
	command(1, "rotate-workload-identity-key-complete: tokens of the former workload identity key may be valid until", "rotate-credentials", "complete")
	if err := ask(t, g, "rotate-credentials-complete"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "may be valid until") {
		t.Errorf("complete while tokens may be valid: got %v", err)
	}
	clock.Step(longest)
	reach("Prepared", "Prepared", "Prepared", "Completed")
	command(0, "not accepted any more", "rotate-credentials", "complete")
	// The administrator has another certificate now.
	renew := func() {
		t.Helper()
		config := admin(t, g)
		config.QPS = -1
		fresh, err := client.NewWithWatch(config, client.Options{Scheme: g.Scheme})
		if err != nil {
			t.Fatal(err)
		}
		g.Client = fresh
	}
	renew()
	reach("Completed", "Completed", "Completed", "Completed")
	if n := published(); n != 1 {
		t.Errorf("%d keys of workload identities are published, want the new one", n)
	}

	command(0, "both keys", "rotate-workload-identity-key", "start")
	reach("Completed", "Completed", "Prepared", "Completed")
	if err := ask(t, g, "rotate-workload-identity-key-complete"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "may be valid until") {
		t.Errorf("complete while tokens may be valid: got %v", err)
	}
	command(0, "cannot be verified", "rotate-workload-identity-key", "complete", "--force")
	reach("Completed", "Completed", "Completed", "Completed")
	rotated := harness.Await(t, g.Client, monitoring, "the password of monitoring was rotated as well", func(s *corev1.Secret) error {
		return is(!bytes.Equal(s.Data["password"], before.Data["password"]) && len(s.Annotations) == 0, "the password is the same, annotations %v", s.Annotations)
	}).DeepCopy()
	command(0, "The password is being changed", "rotate-observability-credentials")
	harness.Await(t, g.Client, monitoring, "the password of monitoring is rotated alone", func(s *corev1.Secret) error {
		return is(!bytes.Equal(s.Data["password"], rotated.Data["password"]), "the password is the same")
	})

	command(0, "", "rotate-credentials", "start")
	renew()
	reach("Prepared", "Prepared", "Prepared", "Completing")
	clock.Step(longest)
	reach("Prepared", "Prepared", "Prepared", "Completed")
	if err := ask(t, g, "rotate-credentials-complete"); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the Garden completes all rotations", func(ctx context.Context) error {
		renew()
		own := &gardenObject{}
		if err := g.Client.Get(ctx, client.ObjectKey{Name: "garden"}, own); err != nil {
			return err
		}

		return is(slices.Equal(phases(own), slices.Repeat([]string{"Completed"}, 4)), "phases %v, last operation %v", phases(own), own.Status.LastOperation)
	})
}

// TestGardenTakesOver starts a server on objects in which somebody has written a Garden when nobody acted on it.
func TestGardenTakesOver(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	own := described(t, g, "the server is well", well)
	loopback := g.As(t, "system:apiserver", "system:masters")
	if err := loopback.Delete(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	other := own.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Name: "mine", Finalizers: []string{"example.org/keep"}}
	other.Spec.VirtualCluster.Gardener.ClusterIdentity = "else"
	if err := loopback.Create(t.Context(), other); err != nil {
		// The server may have been faster.
		if !apierrors.IsBadRequest(err) {
			t.Fatal(err)
		}
	}
	described(t, g, "the Garden describes the server", func(own *gardenObject) error {
		list := &gardenoperatorv1alpha1.GardenList{}
		if err := g.Client.List(t.Context(), list); err != nil {
			return err
		}

		return is(len(list.Items) == 1 && own.Spec.VirtualCluster.Gardener.ClusterIdentity == g.ClusterIdentity, "%d Gardens", len(list.Items))
	})
}
