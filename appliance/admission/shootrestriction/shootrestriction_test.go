// SPDX-License-Identifier: Apache-2.0

package shootrestriction_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootrestriction"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

const (
	// home is the namespace of self-hosted shoots.
	home   = "garden"
	sprout = "gardener.cloud:system:shoot:garden:sprout"
)

type scenario = admissiontest.Case

// by makes a request of the gardenlet of the shoot sprout.
func by(object, old kind.Object) admissiontest.Request {
	return admissiontest.Request{Object: object, Old: old, User: sprout, Groups: []string{"gardener.cloud:system:shoots"}}
}

func create(object kind.Object) admissiontest.Request { return by(object, nil) }

func remove(old kind.Object) admissiontest.Request { return by(nil, old) }

// status makes it a request about the status.
func status(r admissiontest.Request) admissiontest.Request {
	r.Subresource = "status"
	return r
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// selfHosted has its control plane on its own machines.
func selfHosted(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := admissiontest.Shoot(append([]func(*gardencorev1beta1.Shoot){atHome}, change...)...)
	for i := range s.Spec.Provider.Workers {
		s.Spec.Provider.Workers[i].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	}
	return s
}

func atHome(s *gardencorev1beta1.Shoot) { s.Namespace = home }

func called(name string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) { s.Name = name }
}

// judged runs cases in a garden with the shoot sprout.
func judged(t *testing.T, cases map[string]scenario) {
	t.Helper()
	for name, tc := range cases {
		if tc.Objects == nil {
			tc.Objects = []kind.Object{selfHosted()}
		}
		cases[name] = tc
	}
	admissiontest.Run(t, shootrestriction.New, cases)
}

var foreign = []string{"does not belong to an object of this shoot"}

func TestShoot(t *testing.T) {
	t.Parallel()
	state := func(name string) *gardencorev1beta1.ShootState {
		return &gardencorev1beta1.ShootState{ObjectMeta: named(home, name)}
	}
	resource := func(s *gardencorev1beta1.Shoot) {
		r := gardencorev1beta1.NamedResourceReference{Name: "x"}
		r.ResourceRef.APIVersion, r.ResourceRef.Kind, r.ResourceRef.Name = "v1", "Secret", "theirs"
		s.Spec.Resources = append(s.Spec.Resources, r)
	}
	annotated := selfHosted(func(s *gardencorev1beta1.Shoot) { s.Annotations = map[string]string{"a": "b"} })
	other := selfHosted(called("other"))
	binding := by(selfHosted(), selfHosted())
	binding.Subresource = "binding"
	access := create(selfHosted())
	access.Subresource = "adminkubeconfig"
	judged(t, map[string]scenario{
		"update":            {Reason: "a gardenlet notes what it does", Request: by(annotated, selfHosted())},
		"status":            {Reason: "and how its shoot is", Request: status(by(annotated, selfHosted()))},
		"other":             {Reason: "not how another is", Request: by(other, other), Refused: foreign},
		"other's status":    {Reason: "nor in its status", Request: status(by(other, other)), Refused: foreign},
		"create":            {Reason: "shoots are made by people", Request: create(selfHosted()), Refused: foreign},
		"delete":            {Reason: "and deleted by them", Request: remove(selfHosted()), Refused: foreign},
		"delete all":        {Reason: "all at once too", Request: admissiontest.Request{Old: selfHosted(), User: sprout, Groups: []string{"gardener.cloud:system:shoots"}, Many: true}, Refused: foreign},
		"binding":           {Reason: "a self-hosted shoot needs no seed", Request: binding, Refused: foreign},
		"administrator":     {Reason: "kubeconfigs are for people", Request: access, Refused: foreign},
		"reach":             {Reason: "a shoot is no way to a Secret: what it shall be, people decide", Rights: []string{sprout + " get secrets garden/theirs"}, Request: by(selfHosted(resource), selfHosted()), Refused: []string{"spec: gardenlets and extensions cannot change this"}},
		"reach, there":      {Reason: "what people have named stays", Request: by(selfHosted(resource), selfHosted(resource))},
		"state":             {Reason: "a gardenlet keeps the state of its shoot", Request: create(state("sprout"))},
		"other's state":     {Reason: "and no other", Request: create(state("other")), Refused: foreign},
		"hosted by a seed":  {Reason: "a shoot on a seed has the gardenlet of the seed", Objects: []kind.Object{admissiontest.Shoot(atHome)}, Request: create(state("sprout")), Refused: []string{"is not self-hosted"}},
		"no shoot":          {Reason: "a shoot that does not exist has none", Objects: []kind.Object{other}, Request: create(state("sprout")), Refused: []string{"does not exist"}},
		"no name":           {Reason: "nor has a member of the group that is named after no shoot", Request: admissiontest.Request{Object: state("sprout"), User: "rose", Groups: []string{"gardener.cloud:system:shoots"}}, Refused: foreign},
		"person":            {Reason: "people are judged by others", Request: admissiontest.Request{Object: state("other")}},
		"gardenlet of seed": {Reason: "as are gardenlets of seeds", Request: admissiontest.Request{Object: state("other"), User: "gardener.cloud:system:seed:a", Groups: []string{"gardener.cloud:system:seeds"}}},
	})
}

func TestObjectsOfAShoot(t *testing.T) {
	t.Parallel()
	secret := func(namespace, name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: named(namespace, name)} }
	config := func(name string) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: named(home, name)} }
	internal := func(name string) *gardencorev1beta1.InternalSecret {
		return &gardencorev1beta1.InternalSecret{ObjectMeta: named(home, name)}
	}
	token, domain := secret(home, "sprout.monitoring"), secret(home, "sprout.monitoring")
	token.Type = corev1.SecretTypeServiceAccountToken
	domain.Labels = map[string]string{"gardener.cloud/role": "default-domain"}
	keys := secret(home, "sprout.ssh-keypair")
	lease := func(namespace, name string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: named(namespace, name)}
	}
	event := func(namespace string) *corev1.Event { return eventAbout(namespace, "sprout", "") }
	judged(t, map[string]scenario{
		"keys":               {Reason: "a gardenlet keeps the keys of its shoot", Request: create(keys)},
		"keys change":        {Reason: "and rotates them", Request: by(keys, keys)},
		"keys go":            {Reason: "and deletes them", Request: remove(keys)},
		"other's keys":       {Reason: "not those of another", Request: create(secret(home, "other.ssh-keypair")), Refused: foreign},
		"other's keys later": {Reason: "nor later", Request: by(secret(home, "other.ssh-keypair"), secret(home, "other.ssh-keypair")), Refused: foreign},
		"other's keys go":    {Reason: "nor does it delete them", Request: remove(secret(home, "other.ssh-keypair")), Refused: foreign},
		"namesake":           {Reason: "nor those of a namesake elsewhere", Request: create(secret("garden-wood", "sprout.ssh-keypair")), Refused: foreign},
		"credentials":        {Reason: "nor what people keep", Request: create(secret(home, "credentials")), Refused: foreign},
		"join token":         {Reason: "nor what others join with", Request: create(secret("kube-system", "bootstrap-token-abcdef")), Refused: foreign},
		"token":              {Reason: "a Secret is no way to the token of a service account", Request: create(token), Refused: []string{"type"}},
		"domain":             {Reason: "nor to the domain of others", Request: create(domain), Refused: []string{"gardener.cloud/role"}},
		"domain later":       {Reason: "nor later", Request: by(domain, secret(home, "sprout.monitoring")), Refused: []string{"gardener.cloud/role"}},
		"authority":          {Reason: "clients trust the authority of the shoot", Request: create(config("sprout.ca-cluster"))},
		"other's authority":  {Reason: "which is its own", Request: create(config("other.ca-cluster")), Refused: foreign},
		"client CA":          {Reason: "the garden keeps the client CA", Request: create(internal("sprout.ca-client"))},
		"other's client CA":  {Reason: "which is its own", Request: by(internal("other.ca-client"), internal("other.ca-client")), Refused: foreign},
		"lease":              {Reason: "a gardenlet says that it is there", Request: create(lease(home, "self-hosted-shoot-sprout"))},
		"other's lease":      {Reason: "and that no other is", Request: create(lease(home, "self-hosted-shoot-other")), Refused: []string{"self-hosted-shoot-sprout"}},
		"seed's lease":       {Reason: "and no seed", Request: by(lease("gardener-system-seed-lease", "self-hosted-shoot-sprout"), lease("gardener-system-seed-lease", "self-hosted-shoot-sprout")), Refused: []string{"self-hosted-shoot-sprout"}},
		"event":              {Reason: "it tells what happens", Rights: []string{sprout + " patch shoots garden/sprout"}, Request: create(event(home))},
		"event elsewhere":    {Reason: "where its shoot is", Request: create(event("garden-wood")), Refused: foreign},
	})
}

func TestBackupsAndExtensions(t *testing.T) {
	t.Parallel()
	ref := func(name string) *corev1.ObjectReference {
		return &corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Namespace: home, Name: name}
	}
	bucket := func(shoot, secret string) *gardencorev1beta1.BackupBucket {
		b := &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
		b.Spec.Provider = gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}
		b.Spec.CredentialsRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: home, Name: secret}
		b.Spec.ShootRef = ref(shoot)
		return b
	}
	entry := func(shoot, bucket string) *gardencorev1beta1.BackupEntry {
		return &gardencorev1beta1.BackupEntry{ObjectMeta: named(home, "e"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: bucket, ShootRef: ref(shoot)}}
	}
	installation := func(shoot string) *gardencorev1beta1.ControllerInstallation {
		i := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "i"}}
		i.Spec.ShootRef = ref(shoot)
		return i
	}
	holding := func(finalizer string) *gardencorev1beta1.ControllerInstallation {
		i := installation("sprout")
		i.Finalizers = []string{finalizer}
		return i
	}
	redirected, labelled := installation("sprout"), installation("sprout")
	redirected.Spec.DeploymentRef, labelled.Labels = &corev1.ObjectReference{Name: "another"}, map[string]string{"seed-ref-name": "north"}
	bastion := func(shoot string) *gardenoperationsv1alpha1.Bastion {
		return &gardenoperationsv1alpha1.Bastion{ObjectMeta: named(home, "b"), Spec: gardenoperationsv1alpha1.BastionSpec{ShootRef: corev1.LocalObjectReference{Name: shoot}}}
	}
	rights := []string{sprout + " get secrets garden/backup"}
	withBucket := func(shoot string) []kind.Object { return []kind.Object{selfHosted(), bucket(shoot, "backup")} }
	judged(t, map[string]scenario{
		"bucket":            {Reason: "a shoot has a bucket", Rights: rights, Request: create(bucket("sprout", "backup"))},
		"other's bucket":    {Reason: "and makes none for others", Rights: rights, Request: create(bucket("other", "backup")), Refused: foreign},
		"bucket given away": {Reason: "nor gives its own away", Rights: rights, Request: by(bucket("other", "backup"), bucket("sprout", "backup")), Refused: foreign},
		"bucket taken":      {Reason: "nor takes one", Rights: rights, Request: by(bucket("sprout", "backup"), bucket("other", "backup")), Refused: foreign},
		"bucket goes":       {Reason: "its own goes", Request: remove(bucket("sprout", "backup"))},
		"other's goes":      {Reason: "another's does not", Request: remove(bucket("other", "backup")), Refused: foreign},
		"bucket's secret":   {Reason: "a bucket is no way to a Secret", Request: create(bucket("sprout", "theirs")), Refused: []string{"may not refer to Secret garden/theirs"}},
		"bucket's status":   {Reason: "its state is told", Request: status(by(bucket("sprout", "backup"), bucket("sprout", "backup")))},
		"entry":             {Reason: "a shoot has entries in its bucket", Objects: withBucket("sprout"), Request: create(entry("sprout", "b"))},
		"other's entry":     {Reason: "for nobody else", Objects: withBucket("sprout"), Request: create(entry("other", "b")), Refused: foreign},
		"entry elsewhere":   {Reason: "and in no other bucket", Objects: withBucket("other"), Request: create(entry("sprout", "b")), Refused: []string{"spec.bucketName"}},
		"entry nowhere":     {Reason: "which exists", Request: create(entry("sprout", "b")), Refused: []string{"spec.bucketName", "does not exist"}},
		"entry goes":        {Reason: "its own goes", Request: remove(entry("sprout", "b"))},
		"other entry goes":  {Reason: "another's does not", Request: remove(entry("other", "b")), Refused: foreign},
		"installation":      {Reason: "what is installed is told", Request: status(by(installation("sprout"), installation("sprout")))},
		"other's":           {Reason: "of one's own alone", Request: status(by(installation("other"), installation("other"))), Refused: foreign},
		"installation held": {Reason: "what is installed is held until it is removed", Request: by(holding("core.gardener.cloud/controllerinstallation"), installation("sprout"))},
		"held no more":      {Reason: "and goes then", Request: by(installation("sprout"), holding("core.gardener.cloud/controllerinstallation"))},
		"held by a guest":   {Reason: "with no other finalizer", Request: by(holding("example.com/stay"), installation("sprout")), Refused: []string{"only the finalizer"}},
		"freed for others":  {Reason: "nor what others hold", Request: by(installation("sprout"), holding("example.com/stay")), Refused: []string{"only the finalizer"}},
		"held for others":   {Reason: "another's is not held", Request: by(installation("other"), installation("other")), Refused: foreign},
		"other chart":       {Reason: "what is installed, the garden decides", Request: by(redirected, installation("sprout")), Refused: []string{"only the finalizer"}},
		"given away":        {Reason: "and where", Request: by(installation("other"), installation("sprout")), Refused: foreign},
		"labelled":          {Reason: "its labels are the garden's", Request: by(labelled, installation("sprout")), Refused: []string{"only the finalizer"}},
		"bastion":           {Reason: "a bastion is for the shoot", Request: status(by(bastion("sprout"), bastion("sprout")))},
		"other's bastion":   {Reason: "and for no other", Request: create(bastion("other")), Refused: foreign},
	})
}

func TestNothingElse(t *testing.T) {
	t.Parallel()
	judged(t, map[string]scenario{
		"certificate":         {Reason: "a gardenlet renews its certificate", Request: create(signingRequest(t, sprout))},
		"other's certificate": {Reason: "and asks for no other", Request: create(signingRequest(t, "gardener.cloud:system:shoot:garden:other")), Refused: foreign},
		"seed's certificate":  {Reason: "nor for that of a seed", Request: create(signingRequest(t, "gardener.cloud:system:seed:a")), Refused: foreign},
		"question":            {Reason: "every client may ask what it may do", Request: create(&authorizationv1.SelfSubjectAccessReview{})},
		"project":             {Reason: "projects are made by people", Request: create(admissiontest.Project()), Refused: foreign},
		"seed":                {Reason: "seeds by operators", Request: create(admissiontest.Seed("a")), Refused: foreign},
		"binding":             {Reason: "no rights are given", Request: create(&rbacv1.ClusterRoleBinding{ObjectMeta: named("", "b")}), Refused: foreign},
		"account":             {Reason: "nor accounts made", Request: create(&corev1.ServiceAccount{ObjectMeta: named(home, "a")}), Refused: foreign},
		"namespace":           {Reason: "nor namespaces removed", Request: remove(admissiontest.ProjectNamespace()), Refused: foreign},
	})
}

func signingRequest(t *testing.T, name string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: name, Organization: []string{"gardener.cloud:system:shoots"}},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificatesv1.CertificateSigningRequest{ObjectMeta: named("", "c"), Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: certificatesv1.KubeAPIServerClientSignerName,
		Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth},
	}}
}
