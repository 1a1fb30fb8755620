// SPDX-License-Identifier: Apache-2.0

package shootrestriction_test

import (
	"bytes"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// eventAbout is an event about a shoot that a client has reported.
func eventAbout(namespace, shoot, reporter string) *corev1.Event {
	e := &corev1.Event{ObjectMeta: named(namespace, "e")}
	e.InvolvedObject = corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Namespace: namespace, Name: shoot}
	if reporter != "" {
		e.Annotations = map[string]string{"event.terrarium.garden/reporter": reporter}
	}
	return e
}

// TestHostile_GAC_SHOOTR_1 has a gardenlet write into its own objects what would act on those of others.
func TestHostile_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	noted := func(key, value string) *gardencorev1beta1.Shoot {
		return selfHosted(func(s *gardencorev1beta1.Shoot) { s.Annotations = map[string]string{key: value} })
	}
	told := func(change func(*gardencorev1beta1.ShootStatus)) admissiontest.Request {
		return status(by(selfHosted(func(s *gardencorev1beta1.Shoot) { change(&s.Status) }), selfHosted()))
	}
	project := admissiontest.Project(func(p *gardencorev1beta1.Project) { p.Name, p.Spec.Namespace = "garden", new(home) })
	secret := func(change func(*corev1.Secret)) *corev1.Secret {
		s := &corev1.Secret{ObjectMeta: named(home, "sprout.monitoring")}
		change(s)
		return s
	}
	owned := func(api, kind, name string) func(*corev1.Secret) {
		return func(s *corev1.Secret) {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: api, Kind: kind, Name: name, UID: "1"}}
		}
	}
	held := selfHosted(func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"gardener"} })
	reference := selfHosted(func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"gardener.cloud/reference-protection"} })
	ca := &gardencorev1beta1.InternalSecret{ObjectMeta: named(home, "sprout.ca-client"), Data: map[string][]byte{"ca.key": bytes.Repeat([]byte("k"), 16<<10)}}
	entry := func(seed *string) *gardencorev1beta1.BackupEntry {
		e := &gardencorev1beta1.BackupEntry{ObjectMeta: named(home, "e"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b"}}
		e.Spec.ShootRef = &corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Namespace: home, Name: "sprout"}
		e.Status.SeedName = seed
		return e
	}
	others := []string{"gardenlets and extensions cannot change this"}
	rights := []string{sprout + " patch shoots garden/sprout"}
	about := func(shoot, reporter string) *corev1.Event { return eventAbout(home, shoot, reporter) }
	judged(t, map[string]scenario{
		"confirmation":      {Reason: "people confirm deletions", Request: by(noted("confirmation.gardener.cloud/deletion", "true"), selfHosted()), Refused: others},
		"expiration":        {Reason: "and decide about lifetimes", Request: by(noted("shoot.gardener.cloud/expiration-timestamp", "2020-01-01T00:00:00Z"), selfHosted()), Refused: others},
		"finalizer":         {Reason: "it holds its shoot while it works", Request: by(held, selfHosted())},
		"finalizer of ours": {Reason: "and removes no finalizer of others", Request: by(selfHosted(), reference), Refused: others},
		"seed":              {Reason: "a seed in the status would give a seed the shoot", Request: told(func(s *gardencorev1beta1.ShootStatus) { s.SeedName = new("north") }), Refused: others},
		"uid":               {Reason: "the UID is its own", Request: told(func(s *gardencorev1beta1.ShootStatus) { s.UID = "other" }), Refused: []string{"status.uid"}},
		"technical ID":      {Reason: "so is the technical ID", Objects: []kind.Object{selfHosted(), project}, Request: told(func(s *gardencorev1beta1.ShootStatus) { s.TechnicalID = "shoot--other--sprout" }), Refused: []string{"status.technicalID"}},
		"own technical ID":  {Reason: "which it may tell", Objects: []kind.Object{selfHosted(), project}, Request: told(func(s *gardencorev1beta1.ShootStatus) { s.TechnicalID = "shoot--garden--sprout" })},
		"entry's seed":      {Reason: "a backup goes to no seed", Request: status(by(entry(new("north")), entry(nil))), Refused: others},
		"held Secret":       {Reason: "a project could not be deleted", Request: create(secret(func(s *corev1.Secret) { s.Finalizers = []string{"gardener"} })), Refused: others},
		"owner":             {Reason: "its shoot owns what it makes", Request: create(secret(owned("core.gardener.cloud/v1beta1", "Shoot", "sprout")))},
		"other owner":       {Reason: "nothing of others does, which it could block", Request: create(secret(owned("core.gardener.cloud/v1beta1", "Shoot", "other"))), Refused: others},
		"owner elsewhere":   {Reason: "nor an object of another group", Request: create(secret(owned("v1", "Shoot", "sprout"))), Refused: others},
		"outsized CA":       {Reason: "the server would compute for hours", Request: create(ca), Refused: []string{"data:"}},
		"own event":         {Reason: "it reports about its shoot", Rights: rights, Request: create(about("sprout", ""))},
		"own event later":   {Reason: "and counts", Rights: rights, Request: by(about("sprout", sprout), about("sprout", sprout))},
		"other's event":     {Reason: "people act upon events", Rights: rights, Request: create(about("other", "")), Refused: []string{`is not an object of shoot "garden:sprout"`}},
		"forged event":      {Reason: "also upon those of others", Rights: rights, Request: by(about("sprout", sprout), about("sprout", "")), As: metav1.StatusReasonNotFound, Refused: []string{"not found"}},
		"stolen event":      {Reason: "whoever is said to have reported them", Rights: rights, Request: by(about("sprout", "rose"), about("sprout", sprout)), Refused: []string{"must stay"}},
	})
}

// TestFormer_GAC_SHOOTR_1 writes with certificates that are older and younger than the shoot, which is created now.
func TestFormer_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	issued := func(at time.Time) admissiontest.Request {
		r := create(&corev1.Secret{ObjectMeta: named(home, "sprout.monitoring")})
		r.Extra = shootclient.Issued(&user.DefaultInfo{Name: sprout}, at).GetExtra()
		return r
	}
	judged(t, map[string]scenario{
		"own":    {Reason: "the certificate is one of this shoot", Request: issued(time.Now().Add(time.Hour))},
		"former": {Reason: "one of a former shoot is of somebody else", Request: issued(time.Now().Add(-time.Hour)), Refused: []string{"former shoot"}},
	})
}

// TestLending_GAC_SHOOTR_1 has people refer to Secrets that the gardenlet of the shoot reads then.
func TestLending_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	person := func(now, old kind.Object) admissiontest.Request {
		return admissiontest.Request{Object: now, Old: old, User: "rose"}
	}
	bound := selfHosted(func(s *gardencorev1beta1.Shoot) {
		s.Spec.CredentialsBindingName, s.Spec.SecretBindingName = new("cloud"), nil
	})
	plain := selfHosted(func(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName, s.Spec.SecretBindingName = nil, nil })
	dns := plain.DeepCopy()
	dns.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{SecretName: new("default-domain")}}}
	noted := dns.DeepCopy()
	noted.Annotations = map[string]string{"a": "b"}
	hosted := dns.DeepCopy()
	for i := range hosted.Spec.Provider.Workers {
		hosted.Spec.Provider.Workers[i].ControlPlane = nil
	}
	binding := &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: named(home, "cloud"), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"}}
	binding.CredentialsRef = corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: home, Name: "cloud"}
	there := []kind.Object{binding}
	const readsBinding, readsSecret = "rose get credentialsbindings garden/cloud", "rose get secrets garden/cloud"
	judged(t, map[string]scenario{
		"readable":        {Reason: "what somebody can read he may lend", Rights: []string{"rose get secrets garden/default-domain"}, Request: person(dns, plain)},
		"unreadable":      {Reason: "a shoot is no way to a Secret of the garden", Request: person(dns, plain), Refused: []string{"may not refer to Secret garden/default-domain", `user "rose"`}},
		"unreadable, new": {Reason: "nor is a new one", Request: person(dns, nil), Refused: []string{"may not refer to Secret garden/default-domain"}},
		"there":           {Reason: "what somebody else has lent stays", Request: person(noted, dns)},
		"hosted":          {Reason: "a shoot on a seed lends nothing to people", Request: person(hosted, nil)},
		"binding":         {Reason: "credentials are read through a binding", Objects: there, Rights: []string{readsBinding, readsSecret}, Request: person(bound, plain)},
		"binding alone":   {Reason: "so a binding is not enough", Objects: there, Rights: []string{readsBinding}, Request: person(bound, plain), Refused: []string{"may not refer to Secret garden/cloud"}},
		"secret alone":    {Reason: "nor are they", Objects: there, Rights: []string{readsSecret}, Request: person(bound, plain), Refused: []string{"may not refer to CredentialsBinding garden/cloud"}},
	})
}
