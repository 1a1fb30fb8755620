// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func bastionFor(name, of string) *gardenoperationsv1alpha1.Bastion {
	b := &gardenoperationsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}}
	b.Spec.ShootRef.Name, b.Spec.SeedName = of, new("eu-1")
	return b
}

// seedOfBastion is how the garden selects Bastions by their seed.
func seedOfBastion(object client.Object) []string {
	b, _ := object.(*gardenoperationsv1alpha1.Bastion)
	return []string{ptr.Deref(b.Spec.SeedName, "")}
}

// TestDeletionWaitsForBastions_GLET_BASTION_5 deletes a shoot to whose machines somebody may be logged in.
func TestDeletionWaitsForBastions_GLET_BASTION_5(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		of     string
		want   bool
	}{
		"Own":    {reason: "its host needs the infrastructure", of: "a", want: true},
		"Other":  {reason: "that is a way into another shoot", of: "b"},
		"Forced": {reason: "it goes with all else", of: "a", change: annotated("confirmation.gardener.cloud/force-deletion", "true")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fresh(withWorkers, func(s *gardencorev1beta1.Shoot) {
				s.Finalizers, s.DeletionTimestamp = []string{"gardener"}, new(metav1.NewTime(time.Now()))
				s.Status.UID, s.Status.TechnicalID = "uid-1", "shoot--dev--a"
				if tc.change != nil {
					tc.change(s)
				}
			})
			l := newLandscape(t, s)
			if err := l.GardenClient.Create(t.Context(), bastionFor("door", tc.of)); err != nil {
				t.Fatal(err)
			}
			_, err := l.pass(t.Context())
			refused := err != nil && strings.Contains(err.Error(), "the shoot still has bastions, which have to be deleted first: door")
			if refused != tc.want {
				t.Errorf("%s\nReconcile(...) = %v, refused %v, want %v", tc.reason, err, refused, tc.want)
			}
			if !tc.want {
				return
			}
			status := l.shoot(t).Status
			got := []string{string(status.LastOperation.State)}
			for _, one := range status.LastErrors {
				got = append(got, *one.TaskID)
			}
			if diff := cmp.Diff([]string{"Error", "bastions"}, got); diff != "" {
				t.Errorf("%s\nstate of the operation and tasks that failed (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHostsGoWithTheAccess_GLET_BASTION_5 disables SSH in a shoot that has a bastion. Runs before that leave it alone.
func TestHostsGoWithTheAccess_GLET_BASTION_5(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	b.give(t, b.inside, machineNode())
	b.run(t)
	host := &gardenextensionsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "door"}}
	b.give(t, b.SeedClient, host)
	b.run(t)
	if err := b.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(host), host); err != nil {
		t.Errorf("the host of a shoot whose machines can be reached: %v", err)
	}
	sshOff(b.shoot)
	b.run(t)
	if err := b.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(host), host); !apierrors.IsNotFound(err) {
		t.Errorf("the host is still there: %v", err)
	}
}

func TestRecordOfAnotherType_EXT_DNS_5(t *testing.T) {
	t.Parallel()
	const host = "api.a.dev.internal.example"
	for name, tc := range map[string]struct {
		live, provider, want string
		// gone says that the record is made anew, and key which credentials its extension deletes it with.
		gone bool
		key  string
	}{
		"the same":         {live: host, provider: "local", want: "A", key: "old"},
		"another type":     {live: host, provider: "local", want: "CNAME", gone: true, key: "new"},
		"another name":     {live: "api.former.example", provider: "local", want: "A", gone: true, key: "new"},
		"another provider": {live: host, provider: "former", want: "A", gone: true, key: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh())
			s, seed := fresh(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--dev--a" }), internalDomain("local")
			used := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "dnsrecord-a-internal"}, Data: map[string][]byte{"key": []byte("old")}}
			current := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "dns"}, Data: map[string][]byte{"key": []byte("new")}}
			record := &gardenextensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a-internal"}}
			record.Spec.RecordType, record.Spec.Name, record.Spec.Type = "A", tc.live, tc.provider
			if err := errors.Join(l.GardenClient.Create(t.Context(), current), l.SeedClient.Create(t.Context(), used)); err != nil {
				t.Fatal(err)
			}
			want := gardenextensionsv1alpha1.DNSRecordType(tc.want)
			if err := shoot.ReplaceInternalRecord(t.Context(), l.Reconciler, seed, s, want); err != nil {
				t.Errorf("there is no record yet: %v", err)
			}
			if err := l.SeedClient.Create(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			if err := shoot.ReplaceInternalRecord(t.Context(), l.Reconciler, seed, s, want); err != nil {
				t.Fatal(err)
			}
			err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(record), record)
			if apierrors.IsNotFound(err) != tc.gone {
				t.Errorf("the record: %v, want it to be made anew: %v", err, tc.gone)
			}
			if err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(used), used); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string][]byte{"key": []byte(tc.key)}, used.Data); diff != "" {
				t.Errorf("credentials (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecordInDeletion_EXT_DNS_5: a record that is being deleted is gone before it is made again, also if it is the same.
func TestRecordInDeletion_EXT_DNS_5(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLandscape(t, fresh())
		l.give(t, l.GardenClient, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "dns"}})
		record := &gardenextensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a-internal", Finalizers: []string{"example.org/kept"}}}
		record.Spec.RecordType, record.Spec.Name, record.Spec.Type = "A", "api.a.dev.internal.example", "local"
		l.give(t, l.SeedClient, record)
		if err := l.SeedClient.Delete(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		replaced := make(chan error, 1)
		go func() {
			s := fresh(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--dev--a" })
			replaced <- shoot.ReplaceInternalRecord(t.Context(), l.Reconciler, internalDomain("local"), s, "A")
		}()
		synctest.Wait()
		select {
		case err := <-replaced:
			t.Fatalf("the record is not waited for: %v", err)
		default:
		}
		if err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(record), record); err != nil {
			t.Fatal(err)
		}
		record.Finalizers = nil
		if err := l.SeedClient.Update(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if err := <-replaced; err != nil {
			t.Error(err)
		}
	})
}

// internalDomain is a seed with a domain for its shoots.
func internalDomain(provider string) *gardencorev1beta1.Seed {
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}}
	seed.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{
		Type: provider, Domain: "internal.example", CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "dns"},
	}
	return seed
}

// TestCredentialsAreRenewedBeforeADeletion_EXT_DNS_5: those that a record was made with may have been changed since.
func TestCredentialsAreRenewedBeforeADeletion_EXT_DNS_5(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh())
	s := fresh(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--dev--a" })
	seed := internalDomain("local")
	// Nobody has the credentials any more: that is not in the way.
	if err := shoot.DeleteRecords(t.Context(), l.Reconciler, seed, s); err != nil {
		t.Fatal(err)
	}
	current := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "dns"}, Data: map[string][]byte{"key": []byte("new")}}
	if err := l.GardenClient.Create(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	if err := shoot.DeleteRecords(t.Context(), l.Reconciler, seed, s); err != nil {
		t.Fatal(err)
	}
	used := &corev1.Secret{}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "dnsrecord-a-internal"}, used); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"key": []byte("new")}, used.Data); diff != "" {
		t.Errorf("credentials that the extension deletes the record with (-want +got):\n%s", diff)
	}
}

// TestInternalRecordBeforeACleanUp_EXT_DNS_5: the record is asked for only if it is missing or leads elsewhere. Even one whose extension has failed
// stays as it is.
func TestInternalRecordBeforeACleanUp_EXT_DNS_5(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLandscape(t, fresh())
		l.SeedClient = livelySeed(l.SeedClient.Scheme(), nil)
		s := fresh(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--dev--a" })
		l.give(t, l.GardenClient, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "dns"}})
		seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}}
		seed.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{
			Type: "local", Domain: "internal.example", CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "dns"},
		}
		last := ""
		for _, step := range []struct {
			reason, address string
			asked           bool
		}{
			{"it is missing", "10.99.1.1", true}, {"nothing has changed", "10.99.1.1", false}, {"the API server has moved", "10.99.1.2", true}, {"and stays there", "10.99.1.2", false},
		} {
			time.Sleep(time.Minute) // of the time of the bubble
			if err := shoot.RestoreInternalRecord(t.Context(), l.Reconciler, seed, s, step.address); err != nil {
				t.Fatalf("%s: %v", step.reason, err)
			}
			record := &gardenextensionsv1alpha1.DNSRecord{}
			if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "a-internal"}, record); err != nil {
				t.Fatal(err)
			}
			if at := record.Annotations["gardener.cloud/timestamp"]; (at != last) != step.asked || record.Spec.Values[0] != step.address {
				t.Errorf("%s: the extension was asked: %t, want %t; the record leads to %v", step.reason, at != last, step.asked, record.Spec.Values)
			}
			last = record.Annotations["gardener.cloud/timestamp"]
		}
	})
}
