// SPDX-License-Identifier: Apache-2.0

package seedrestriction_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

const (
	meadow = admissiontest.Namespace
	north  = "gardener.cloud:system:seed:north"
)

type scenario = admissiontest.Case

// by makes a request of the gardenlet of the seed north.
func by(object, old kind.Object) admissiontest.Request {
	return admissiontest.Request{Object: object, Old: old, User: north, Groups: []string{"gardener.cloud:system:seeds"}}
}

func create(object kind.Object) admissiontest.Request { return by(object, nil) }

// extension makes a request of an extension there.
func extension(object kind.Object) admissiontest.Request {
	return admissiontest.Request{
		Object: object, User: "system:serviceaccount:seed-north:extension-local",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:seed-north"},
	}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func on(seed string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = &seed }
}

func called(namespace, name string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) { s.Namespace, s.Name = namespace, name }
}

// shoots are one of the seed and one of another.
func shoots() []kind.Object {
	return []kind.Object{admissiontest.Shoot(on("north")), admissiontest.Shoot(on("south"), called(meadow, "other"))}
}

func TestShoots(t *testing.T) {
	t.Parallel()
	bastion := func(seed string) *gardenoperationsv1alpha1.Bastion {
		return &gardenoperationsv1alpha1.Bastion{ObjectMeta: named(meadow, "b"), Spec: gardenoperationsv1alpha1.BastionSpec{SeedName: &seed}}
	}
	state := func(name string) *gardencorev1beta1.ShootState {
		return &gardencorev1beta1.ShootState{ObjectMeta: named(meadow, name)}
	}
	leaving := []kind.Object{admissiontest.Shoot(on("south"), func(s *gardencorev1beta1.Shoot) { s.Status.SeedName = new("north") })}
	config := func(name string) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: named(meadow, name)} }
	role := func(c *corev1.ConfigMap, role string) *corev1.ConfigMap {
		c.Labels = map[string]string{"gardener.cloud/role": role}
		return c
	}
	internal := func(name string) *gardencorev1beta1.InternalSecret {
		return &gardencorev1beta1.InternalSecret{ObjectMeta: named(meadow, name)}
	}
	ca := func(secret *gardencorev1beta1.InternalSecret, size int) *gardencorev1beta1.InternalSecret {
		secret.Data = map[string][]byte{"ca.key": []byte(strings.Repeat("x", size))}
		return secret
	}
	ofKind := func(kind, name string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			r := gardencorev1beta1.NamedResourceReference{Name: "x"}
			r.ResourceRef.APIVersion, r.ResourceRef.Kind, r.ResourceRef.Name = "v1", kind, name
			s.Spec.Resources = append(s.Spec.Resources, r)
		}
	}
	resource := func(name string) func(*gardencorev1beta1.Shoot) { return ofKind("Secret", name) }
	extensionUpdate := func(object, old kind.Object) admissiontest.Request {
		request := extension(object)
		request.Old = old
		return request
	}
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SR-5 own bastion":        {Reason: "a bastion is for the seed", Request: create(bastion("north"))},
		"GAC-SR-5 other bastion":      {Reason: "and for no other", Request: create(bastion("south")), Refused: []string{"spec.seedName", `"south"`}},
		"GAC-SR-10 config map":        {Reason: "the authority of a shoot is published", Objects: shoots(), Request: create(config("sprout.ca-cluster"))},
		"GAC-SR-10 kubelets":          {Reason: "and that of kubelets", Objects: shoots(), Request: create(config("sprout.ca-kubelet"))},
		"GAC-SR-10 other shoot":       {Reason: "not for shoots of others", Objects: shoots(), Request: create(config("other.ca-cluster")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"GAC-SR-10 no shoot":          {Reason: "nor for none", Request: create(config("sprout.ca-cluster")), Refused: []string{`shoot "sprout" is not on seed "north"`}},
		"GAC-SR-10 other name":        {Reason: "nor under another name", Objects: shoots(), Request: create(config("sprout")), Refused: []string{"metadata.name"}},
		"GAC-SR-10 internal secret":   {Reason: "the garden keeps the client CA", Objects: shoots(), Request: create(internal("sprout.ca-client"))},
		"GAC-SR-10 other's":           {Reason: "not of shoots of others", Objects: shoots(), Request: create(internal("other.ca-client")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"GAC-SR-10 other internal":    {Reason: "nor anything else", Objects: shoots(), Request: create(internal("sprout.ca-cluster")), Refused: []string{"metadata.name"}},
		"GAC-SR-10 update":            {Reason: "it is kept up to date", Objects: shoots(), Request: by(role(config("sprout.ca-cluster"), "ca-cluster"), config("sprout.ca-cluster"))},
		"GAC-SR-10 update other's":    {Reason: "that of another is not, though a shoot of the seed refers to it", Objects: shoots(), Request: by(config("other.ca-cluster"), config("other.ca-cluster")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"GAC-SR-10 delete other's":    {Reason: "nor deleted", Objects: shoots(), Request: by(nil, config("other.ca-cluster")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"GAC-SR-10 delete":            {Reason: "what is its own is", Objects: shoots(), Request: by(nil, config("sprout.ca-cluster"))},
		"GAC-SR-10 role":              {Reason: "no other role is given", Objects: shoots(), Request: create(role(config("sprout.ca-cluster"), "default-domain")), Refused: []string{"gardener.cloud/role"}},
		"GAC-SR-10 role later":        {Reason: "nor later", Objects: shoots(), Request: by(role(config("sprout.ca-cluster"), "default-domain"), config("sprout.ca-cluster")), Refused: []string{"gardener.cloud/role"}},
		"GAC-SR-10 update internal":   {Reason: "a client CA is kept up to date", Objects: shoots(), Request: by(internal("sprout.ca-client"), internal("sprout.ca-client"))},
		"GAC-SR-10 delete internal":   {Reason: "and goes with the shoot", Objects: shoots(), Request: by(nil, internal("sprout.ca-client"))},
		"GAC-SR-10 others internal":   {Reason: "that of another does not", Objects: shoots(), Request: by(nil, internal("other.ca-client")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"GAC-SR-10 CA":                {Reason: "with a key that can be computed with", Objects: shoots(), Request: create(ca(internal("sprout.ca-client"), 8<<10))},
		"GAC-SR-10 large CA":          {Reason: "not with one that stops the server for hours", Objects: shoots(), Request: create(ca(internal("sprout.ca-client"), 8<<10+1)), Refused: []string{"data", "use an ECDSA key or an RSA key of at most 8192 bits"}},
		"GAC-SR-10 large CA later":    {Reason: "nor later", Objects: shoots(), Request: by(ca(internal("sprout.ca-client"), 8<<10+1), internal("sprout.ca-client")), Refused: []string{"data", "use an ECDSA key or an RSA key of at most 8192 bits"}},
		"GAC-SR-10 large CA removed":  {Reason: "such a one can be removed", Objects: shoots(), Request: by(nil, ca(internal("sprout.ca-client"), 8<<10+1))},
		"GAC-SR-10 held":              {Reason: "nothing in a project is held for ever", Objects: shoots(), Request: create(held(config("sprout.ca-cluster"))), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-10 held later":        {Reason: "nor later", Objects: shoots(), Request: by(held(config("sprout.ca-cluster")), config("sprout.ca-cluster")), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-10 held by others":    {Reason: "what the garden holds stays", Objects: shoots(), Request: by(held(config("sprout.ca-cluster")), held(config("sprout.ca-cluster")))},
		"GAC-SR-10 held internal":     {Reason: "be it an internal secret", Objects: shoots(), Request: create(held(internal("sprout.ca-client"))), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-10 internal later":    {Reason: "nor later", Objects: shoots(), Request: by(held(internal("sprout.ca-client")), internal("sprout.ca-client")), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-13 held state":        {Reason: "or a state", Objects: shoots(), Request: create(held(state("sprout"))), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-13 held state later":  {Reason: "nor later", Objects: shoots(), Request: by(held(state("sprout")), state("sprout")), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-13 kept state":        {Reason: "what the garden holds stays", Objects: shoots(), Request: by(held(state("sprout")), held(state("sprout")))},
		"GAC-SR-13 own state":         {Reason: "a seed keeps the state of its shoots", Objects: shoots(), Request: create(state("sprout"))},
		"GAC-SR-13 leaving":           {Reason: "also of those that leave", Objects: leaving, Request: create(state("sprout"))},
		"GAC-SR-13 other state":       {Reason: "not of others", Objects: shoots(), Request: create(state("other")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"API-BIND reach for a secret": {Reason: "a shoot is no way to a Secret", Objects: shoots(), Request: by(admissiontest.Shoot(on("north"), resource("theirs")), admissiontest.Shoot(on("north"))), Refused: []string{"may not refer to Secret garden-meadow/theirs"}},
		"API-BIND what it has":        {Reason: "what it refers to already stays", Objects: shoots(), Request: by(admissiontest.Shoot(on("north"), resource("theirs")), admissiontest.Shoot(on("north"), resource("theirs")))},
		"API-BIND what it may read":   {Reason: "what the seed may read for another shoot is not added", Rights: []string{north + " get secrets garden-meadow/theirs"}, Objects: shoots(), Request: by(admissiontest.Shoot(on("north"), resource("theirs")), admissiontest.Shoot(on("north"))), Refused: []string{"may not refer to Secret garden-meadow/theirs"}},
		"API-BIND client CA":          {Reason: "nor the key of another cluster", Rights: []string{north + " get internalsecrets.core.gardener.cloud garden-meadow/other.ca-client"}, Objects: shoots(), Request: by(admissiontest.Shoot(on("north"), ofKind("InternalSecret", "other.ca-client")), admissiontest.Shoot(on("north"))), Refused: []string{"may not refer to InternalSecret garden-meadow/other.ca-client"}},
		"API-BIND binding":            {Reason: "nor the credentials of another shoot", Rights: []string{north + " get credentialsbindings.security.gardener.cloud garden-meadow/theirs"}, Objects: shoots(), Request: by(admissiontest.Shoot(on("north"), func(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName = new("theirs") }), admissiontest.Shoot(on("north"))), Refused: []string{"may not refer to CredentialsBinding garden-meadow/theirs"}},
		"API-BIND extension":          {Reason: "extensions do not either", Rights: []string{"system:serviceaccount:seed-north:extension-local get secrets garden-meadow/theirs"}, Objects: shoots(), Request: extensionUpdate(admissiontest.Shoot(on("north"), resource("theirs")), admissiontest.Shoot(on("north"))), Refused: []string{"may not refer to Secret garden-meadow/theirs"}},
	})
}

// held has a finalizer that nobody removes.
func held(object kind.Object) kind.Object {
	object.SetFinalizers([]string{"example.com/stay"})
	return object
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	secret := func(namespace, name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: named(namespace, name)} }
	nurseries := []kind.Object{
		admissiontest.Shoot(on("north"), called("garden", "nursery")), admissiontest.Shoot(on("south"), called("garden", "school")),
		managed("nursery"), managed("school"),
	}
	typed := secret(meadow, "sprout.ssh-keypair")
	typed.Type = corev1.SecretTypeServiceAccountToken
	with := func(s *corev1.Secret, change func(*corev1.Secret)) *corev1.Secret {
		s = s.DeepCopy()
		change(s)
		return s
	}
	label := func(key, value string) func(*corev1.Secret) {
		return func(s *corev1.Secret) { s.Labels = map[string]string{key: value} }
	}
	note := func(key, value string) func(*corev1.Secret) {
		return func(s *corev1.Secret) { s.Annotations = map[string]string{key: value} }
	}
	data := func(s *corev1.Secret) { s.Data = map[string][]byte{"a": []byte("b")} }
	finalizers := func(all ...string) func(*corev1.Secret) { return func(s *corev1.Secret) { s.Finalizers = all } }
	generated, backup, keys := secret("garden", "generated-bucket-b"), secret("garden", "backup"), secret("garden", "nursery.ssh-keypair")
	buckets := []kind.Object{bucket("north")}
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SR-9 (a) own bucket":     {Reason: "a bucket has generated credentials", Objects: []kind.Object{bucket("north")}, Request: create(secret("garden", "generated-bucket-b"))},
		"GAC-SR-9 (a) other bucket":   {Reason: "those of others are not written", Objects: []kind.Object{bucket("south")}, Request: create(secret("garden", "generated-bucket-b")), Refused: []string{`backup bucket "b" is not on seed "north"`}},
		"GAC-SR-9 (a) elsewhere":      {Reason: "they live in the garden", Objects: []kind.Object{bucket("north")}, Request: create(secret(meadow, "generated-bucket-b")), Refused: []string{"does not belong to an object"}},
		"GAC-SR-9 (b) held":           {Reason: "it is not held for ever", Objects: shoots(), Request: create(with(secret(meadow, "sprout.ssh-keypair"), finalizers("x"))), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-9 (b) held later":     {Reason: "nor later", Objects: shoots(), Request: by(with(secret(meadow, "sprout.ssh-keypair"), finalizers("x")), secret(meadow, "sprout.ssh-keypair")), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-9 (b) CA":             {Reason: "the authority of a shoot", Objects: shoots(), Request: create(secret(meadow, "sprout.ca-cluster"))},
		"GAC-SR-9 (b) SSH keys":       {Reason: "its keys", Objects: shoots(), Request: create(secret(meadow, "sprout.ssh-keypair"))},
		"GAC-SR-9 (b) old SSH keys":   {Reason: "its former keys", Objects: shoots(), Request: create(secret(meadow, "sprout.ssh-keypair.old"))},
		"GAC-SR-9 (b) monitoring":     {Reason: "its passwords", Objects: shoots(), Request: create(secret(meadow, "sprout.monitoring"))},
		"GAC-SR-9 (b) kubeconfig":     {Reason: "static kubeconfigs are no more", Objects: shoots(), Request: create(secret(meadow, "sprout.kubeconfig")), Refused: []string{"does not belong to an object"}},
		"GAC-SR-9 (b) other":          {Reason: "not for shoots of others", Objects: shoots(), Request: create(secret(meadow, "other.monitoring")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"GAC-SR-9 (b) account token":  {Reason: "a Secret for a token of an account would be filled in by the server", Objects: shoots(), Request: create(typed), Refused: []string{"type"}},
		"GAC-SAR-12 bucket":           {Reason: "generated credentials change", Objects: buckets, Request: by(with(generated, data), generated)},
		"GAC-SAR-12 delete bucket":    {Reason: "and go", Objects: buckets, Request: by(nil, generated)},
		"GAC-SAR-12 role":             {Reason: "a seed makes no default domain", Objects: buckets, Request: create(with(generated, label("gardener.cloud/role", "default-domain"))), Refused: []string{"metadata.labels[gardener.cloud/role]", "operators"}},
		"GAC-SAR-12 role later":       {Reason: "nor later", Objects: buckets, Request: by(with(generated, label("gardener.cloud/role", "internal-domain")), generated), Refused: []string{"metadata.labels[gardener.cloud/role]"}},
		"GAC-SAR-12 role away":        {Reason: "nor takes a role away", Objects: buckets, Request: by(generated, with(generated, label("gardener.cloud/role", "default-domain"))), Refused: []string{"metadata.labels[gardener.cloud/role]"}},
		"GAC-SAR-12 role kept":        {Reason: "what an operator has set stays", Objects: buckets, Request: by(with(with(generated, label("gardener.cloud/role", "x")), data), with(generated, label("gardener.cloud/role", "x")))},
		"GAC-SAR-12 role of keys":     {Reason: "objects of shoots have their roles", Objects: nurseries, Request: create(with(keys, label("gardener.cloud/role", "ssh-keypair")))},
		"GAC-SAR-12 role of a domain": {Reason: "and no others", Objects: nurseries, Request: create(with(keys, label("gardener.cloud/role", "default-domain"))), Refused: []string{"gardener.cloud/role"}},
		"GAC-SAR-12 for a seed":       {Reason: "a seed gives nothing to a seed", Objects: buckets, Request: create(with(generated, label("name.seed.gardener.cloud/south", "true"))), Refused: []string{"metadata.labels[name.seed.gardener.cloud/south]"}},
		"GAC-SAR-12 domain":           {Reason: "a domain is the operator's", Objects: buckets, Request: create(with(generated, note("dns.gardener.cloud/domain", "evil.example"))), Refused: []string{"metadata.annotations[dns.gardener.cloud/domain]"}},
		"GAC-SAR-12 domain later":     {Reason: "also later", Objects: nurseries, Request: by(with(keys, note("dns.gardener.cloud/provider", "x")), keys), Refused: []string{"metadata.annotations[dns.gardener.cloud/provider]"}},
		"GAC-SAR-12 read":             {Reason: "what is given is only read", Request: by(with(backup, data), backup), Refused: []string{"may only read this object", "finalizers"}},
		"GAC-SAR-12 in use":           {Reason: "and marked as in use", Request: by(with(backup, finalizers("x", "core.gardener.cloud/backupbucket")), with(backup, finalizers("x", "gardener.cloud/gardener")))},
		"GAC-SAR-12 protection":       {Reason: "nor unprotected", Objects: shoots(), Request: by(secret(meadow, "credentials"), with(secret(meadow, "credentials"), finalizers("gardener.cloud/gardener"))), Refused: []string{"may only read this object"}},
		"GAC-SAR-12 other finalizers": {Reason: "not in the name of others", Request: by(backup, with(backup, finalizers("x"))), Refused: []string{"may only read this object"}},
		"GAC-SAR-12 delete":           {Reason: "nor deleted", Request: by(nil, backup), Refused: []string{"does not belong to an object"}},
		"GAC-SAR-12 delete project's": {Reason: "credentials of projects neither", Objects: shoots(), Request: by(nil, secret(meadow, "credentials")), Refused: []string{"does not belong to an object"}},
		"GAC-SAR-12 update project's": {Reason: "nor changed", Objects: shoots(), Request: by(with(secret(meadow, "credentials"), data), secret(meadow, "credentials")), Refused: []string{"may only read this object"}},
		"GAC-SAR-12 other's keys":     {Reason: "keys of another's shoot neither, though a shoot of the seed refers to them", Objects: shoots(), Request: by(with(secret(meadow, "other.ssh-keypair"), data), secret(meadow, "other.ssh-keypair")), Refused: []string{`shoot "other" is not on seed "north"`}},
		"GAC-SAR-12 own keys":         {Reason: "keys are rotated", Objects: shoots(), Request: by(with(secret(meadow, "sprout.ssh-keypair"), data), secret(meadow, "sprout.ssh-keypair"))},
		"GAC-SR-9 (e) backup":         {Reason: "a managed seed has a backup", Objects: nurseries, Request: create(secret("garden", "backup-nursery"))},
		"GAC-SR-9 (e) kubeconfig":     {Reason: "older ones have a kubeconfig", Objects: nurseries, Request: create(secret("garden", "kubeconfig-nursery"))},
		"GAC-SR-9 (e) other managed":  {Reason: "not managed seeds of others", Objects: nurseries, Request: create(secret("garden", "backup-school")), Refused: []string{"does not belong to an object"}},
		"GAC-SR-9 anything":           {Reason: "nothing else is written", Objects: shoots(), Request: create(secret(meadow, "credentials")), Refused: []string{"does not belong to an object"}},
		"GAC-SR-9 anything in system": {Reason: "nowhere", Request: create(secret("kube-system", "x")), Refused: []string{"does not belong to an object"}},
	})
}

// domains are those that each seed has, and the Secret with their credentials, which is copied to all seeds.
const domains = `"ingress":{"domain":"ingress.example.org","controller":{"kind":"nginx"}},"dns":{
	"provider":{"type":"local","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"internal-domain"}},
	"internal":{"type":"local","domain":"internal.example.org","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"internal-domain"}}},`

// managed is a managed seed of a shoot of the same name.
func managed(name string, change ...func(*gardenseedmanagementv1alpha1.ManagedSeed)) *gardenseedmanagementv1alpha1.ManagedSeed {
	m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", name)}
	m.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: name}
	m.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{
		Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapToken), MergeWithParent: new(true),
	}
	m.Spec.Gardenlet.Config.Raw = []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration","seedConfig":{"spec":{
		"provider":{"type":"local","region":"north"},"networks":{"pods":"10.1.0.0/16","services":"10.2.0.0/16","nodes":"10.3.0.0/16"},` + domains + `
		"backup":{"provider":"local","secretRef":{"namespace":"garden","name":"backup-` + name + `"}},"secretRef":{"namespace":"garden","name":"kubeconfig-` + name + `"}}}}`)
	for _, c := range change {
		c(m)
	}
	return m
}

// token has the name that gardenlets derive from the managed seed nursery, or from the Gardenlet of the seed.
func token(description string, change ...func(*corev1.Secret)) *corev1.Secret {
	name := "bootstrap-token-15f426"
	if strings.Contains(description, "Gardenlet") {
		name = "bootstrap-token-cdcee0"
	}
	s := &corev1.Secret{ObjectMeta: named("kube-system", name), Type: "bootstrap.kubernetes.io/token", Data: map[string][]byte{
		"usage-bootstrap-authentication": []byte("true"), "usage-bootstrap-signing": []byte("true"), "description": []byte(description),
		"expiration": []byte(kindtest.Now().Add(24 * time.Hour).Format(time.RFC3339)),
	}}
	for _, c := range change {
		c(s)
	}
	return s
}

func TestManagedSeeds(t *testing.T) {
	t.Parallel()
	const about = "A bootstrap token for the ManagedSeed resource garden/nursery"
	nursery := admissiontest.Shoot(on("north"), called("garden", "nursery"))
	fresh := []kind.Object{nursery, managed("nursery")}
	foreign := []kind.Object{admissiontest.Shoot(on("south"), called("garden", "nursery")), managed("nursery")}
	expires := func(in time.Duration) *gardencorev1beta1.Seed {
		return admissiontest.Seed("nursery", func(s *gardencorev1beta1.Seed) {
			s.Status.ClientCertificateExpirationTimestamp = &metav1.Time{Time: kindtest.Now().Add(in)}
		})
	}
	const self = "A token for the Gardenlet resource garden/north."
	gardenlet := func(asked ...string) *gardenseedmanagementv1alpha1.Gardenlet {
		g := &gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: named("garden", "north")}
		g.Spec.Config.Raw = managed("north").Spec.Gardenlet.Config.Raw
		g.Spec.Deployment.Helm.OCIRepository.Ref = new("registry.example/gardenlet:v1")
		for _, key := range asked {
			g.Annotations = map[string]string{key: "renew-kubeconfig"}
		}
		return g
	}
	north := func(in time.Duration) *gardencorev1beta1.Seed {
		return admissiontest.Seed("north", func(s *gardencorev1beta1.Seed) {
			s.Status.ClientCertificateExpirationTimestamp = &metav1.Time{Time: kindtest.Now().Add(in)}
		})
	}
	account := func(namespace, name string, labels ...string) *corev1.ServiceAccount {
		a := &corev1.ServiceAccount{ObjectMeta: named(namespace, name)}
		for _, label := range labels {
			key, value, _ := strings.Cut(label, "=")
			metav1.SetMetaDataLabel(&a.ObjectMeta, key, value)
		}
		return a
	}
	installed := func(seed string) []kind.Object {
		i := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		i.Spec.SeedRef, i.Spec.RegistrationRef.Name = &corev1.ObjectReference{Name: seed}, "dns"
		return []kind.Object{i}
	}
	const dns, app = "controllerregistration.core.gardener.cloud/name=dns", "app=dns"
	binding := func(name, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role}, Subjects: subjects,
		}
	}
	const role = "gardener.cloud:system:seed-bootstrapper"
	own := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "garden", Name: "gardenlet-bootstrap-nursery"}
	narrow := binding(role+":garden:nursery", role, own)
	narrow.RoleRef.Kind = "Role"
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SR-14 token":           {Reason: "a managed seed joins", Objects: fresh, Request: create(token(about))},
		"GAC-SR-14 token elsewhere": {Reason: "a Secret is a token in one namespace only", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { s.Namespace = meadow })), Refused: []string{"does not belong to an object"}},
		"GAC-SR-14 delete":          {Reason: "a token that has served its purpose goes", Objects: fresh, Request: by(nil, token("for me"))},
		"GAC-SR-14 foreign":         {Reason: "those of others do not", Objects: foreign, Request: create(token(about)), Refused: []string{`managed seed "nursery" is not on seed "north"`}},
		"GAC-SR-14 other name":      {Reason: "there are not any number of tokens for one seed", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { s.Name = "bootstrap-token-abcdef" })), Refused: []string{"metadata.name", "bootstrap-token-15f426"}},
		"GAC-SR-14 own, other name": {Reason: "nor for the seed itself", Objects: []kind.Object{gardenlet()}, Request: create(token(self, func(s *corev1.Secret) { s.Name = "bootstrap-token-abcdef" })), Refused: []string{"metadata.name", "bootstrap-token-cdcee0"}},
		"GAC-SR-14 nobody's":        {Reason: "a token is for somebody", Objects: fresh, Request: create(token("for me")), Refused: []string{"data[description]"}},
		"GAC-SR-14 no managed seed": {Reason: "who exists", Request: create(token(about)), Refused: []string{`managed seed "nursery" is not on seed "north"`}},
		"GAC-SR-14 own Gardenlet":   {Reason: "or for the seed itself", Objects: []kind.Object{gardenlet()}, Request: create(token(self))},
		"GAC-SR-14 no Gardenlet":    {Reason: "which has to be there", Request: create(token(self)), Refused: []string{"does not exist"}},
		"GAC-SR-14 own, joined":     {Reason: "a seed with a good certificate needs no token", Objects: []kind.Object{gardenlet(), north(time.Hour)}, Request: create(token(self)), Refused: []string{"has already joined"}, As: metav1.StatusReasonBadRequest},
		"GAC-SR-14 own, expired":    {Reason: "one whose certificate has expired does", Objects: []kind.Object{gardenlet(), north(-time.Hour)}, Request: create(token(self))},
		"GAC-SR-14 own, renewal":    {Reason: "so does one whose operator asked for another", Objects: []kind.Object{gardenlet("gardener.cloud/operation"), north(time.Hour)}, Request: create(token(self))},
		"GAC-SR-14 extension":       {Reason: "extensions make no tokens", Objects: fresh, Request: extension(token(about)), Refused: []string{"extensions"}},
		"GAC-SR-14 endless":         {Reason: "a token ends", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { delete(s.Data, "expiration") })), Refused: []string{"data[expiration]"}},
		"GAC-SR-14 too long": {Reason: "and soon", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) {
			s.Data["expiration"] = []byte(kindtest.Now().Add(25 * time.Hour).Format(time.RFC3339))
		})), Refused: []string{"data[expiration]"}},
		"GAC-SR-14 seed":            {Reason: "what operators decide about is not for gardenlets", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { s.Data["seed"] = []byte("south") })), Refused: []string{"data[seed]"}},
		"GAC-SR-14 renew":           {Reason: "nor the replacement of a good certificate", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { s.Data["renew"] = []byte("true") })), Refused: []string{"data[renew]"}},
		"GAC-SR-14 other Gardenlet": {Reason: "and not for others", Request: create(token("A token for the Gardenlet resource garden/south.")), Refused: []string{"data[description]"}},
		"GAC-SR-14 groups":          {Reason: "a token has the groups of a token", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { s.Data["auth-extra-groups"] = []byte("system:masters") })), Refused: []string{"auth-extra-groups"}},
		"GAC-SR-14 usage":           {Reason: "and its uses", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { delete(s.Data, "usage-bootstrap-signing") })), Refused: []string{"usage-bootstrap-signing"}},
		"GAC-SR-14 type":            {Reason: "and its type", Objects: fresh, Request: create(token(about, func(s *corev1.Secret) { s.Type = "Opaque" })), Refused: []string{"type"}},
		"GAC-SR-14 later":           {Reason: "and stays so", Objects: fresh, Request: by(token(about, func(s *corev1.Secret) { s.Data["auth-extra-groups"] = []byte("system:masters") }), token(about)), Refused: []string{"auth-extra-groups"}},
		"GAC-SR-15 expired":         {Reason: "who has lost its certificate joins again", Objects: append(fresh, expires(-time.Hour)), Request: create(token(about))},
		"GAC-SR-15 renewal": {Reason: "who asks for it joins again", Objects: []kind.Object{nursery, expires(time.Hour), managed("nursery", func(m *gardenseedmanagementv1alpha1.ManagedSeed) {
			m.Annotations = map[string]string{"gardener.cloud/operation": "renew-kubeconfig"}
		})}, Request: create(token(about))},
		"GAC-SR-12 account":          {Reason: "or joins with an account", Objects: fresh, Request: create(account("garden", "gardenlet-bootstrap-nursery"))},
		"GAC-SR-12 foreign":          {Reason: "not those of others", Objects: foreign, Request: create(account("garden", "gardenlet-bootstrap-nursery")), Refused: []string{`managed seed "nursery" is not on seed "north"`}},
		"GAC-SR-12 other name":       {Reason: "other accounts are not made", Objects: fresh, Request: create(account("garden", "robot")), Refused: []string{"gardenlet-bootstrap-"}},
		"GAC-SR-12 own namespace":    {Reason: "except those of extensions in the namespace of the seed", Objects: installed("north"), Request: create(account("seed-north", "extension-x", dns))},
		"GAC-SR-12 own robot":        {Reason: "and no others there", Objects: installed("north"), Request: create(account("seed-north", "robot")), Refused: []string{"metadata.name", "ControllerInstallation"}},
		"GAC-SR-12 not installed":    {Reason: "nor those of extensions that other seeds have", Objects: installed("south"), Request: create(account("seed-north", "extension-x")), Refused: []string{`controller installation "x" is not on seed "north"`}},
		"GAC-SR-12 nobody's":         {Reason: "or that are nowhere", Request: create(account("seed-north", "extension-x")), Refused: []string{`controller installation "x" is not on seed "north"`}},
		"GAC-SR-12 other extension":  {Reason: "an extension is not called by the name of another", Objects: installed("north"), Request: create(account("seed-north", "extension-x", "controllerregistration.core.gardener.cloud/name=backup")), Refused: []string{`"dns"`}},
		"GAC-SR-12 label":            {Reason: "and has no label that could get it a role", Objects: installed("north"), Request: create(account("seed-north", "extension-x", dns, app)), Refused: []string{"metadata.labels[app]"}},
		"GAC-SR-12 later label":      {Reason: "nor later", Objects: installed("north"), Request: by(account("seed-north", "extension-x", dns, app), account("seed-north", "extension-x", dns)), Refused: []string{"metadata.labels[app]"}},
		"GAC-SR-12 kept label":       {Reason: "except what operators gave it", Objects: installed("north"), Request: by(account("seed-north", "extension-x", dns, app), account("seed-north", "extension-x", app))},
		"GAC-SR-12 same labels":      {Reason: "an account changes without its extension too", Request: by(account("seed-north", "extension-x", dns), account("seed-north", "extension-x", dns))},
		"GAC-SR-12 other namespace":  {Reason: "and not in that of another", Request: create(account("seed-south", "extension-x")), Refused: []string{"seed-north"}},
		"GAC-SR-12 extension":        {Reason: "extensions make no accounts", Request: extension(account("seed-north", "extension-x")), Refused: []string{"does not belong to an object"}},
		"GAC-SR-7 binding":           {Reason: "the account may join", Objects: fresh, Request: create(binding(role+":garden:gardenlet-bootstrap-nursery", role, own))},
		"GAC-SR-7 short name":        {Reason: "also named after the seed", Objects: fresh, Request: create(binding(role+":garden:nursery", role, own))},
		"GAC-SR-7 other role":        {Reason: "and nothing else", Objects: fresh, Request: create(binding(role+":garden:nursery", "cluster-admin", own)), Refused: []string{"roleRef"}},
		"GAC-SR-7 other kind":        {Reason: "a role of a namespace is another one, whatever its name", Objects: fresh, Request: create(narrow), Refused: []string{"roleRef"}},
		"GAC-SR-7 other name":        {Reason: "under its name", Objects: fresh, Request: create(binding("mine", role, own)), Refused: []string{"metadata.name"}},
		"GAC-SR-7 foreign":           {Reason: "not for others", Objects: foreign, Request: create(binding(role+":garden:nursery", role, own)), Refused: []string{`managed seed "nursery" is not on seed "north"`}},
		"GAC-SR-7 everybody":         {Reason: "and for nobody beside", Objects: fresh, Request: create(binding(role+":garden:nursery", role, own, rbacv1.Subject{Kind: "Group", Name: "system:authenticated"})), Refused: []string{"subjects"}},
		"GAC-SR-7 later":             {Reason: "and stays so", Objects: fresh, Request: by(binding(role+":garden:nursery", role, rbacv1.Subject{Kind: "User", Name: "me"}), binding(role+":garden:nursery", role, own)), Refused: []string{"subjects"}},
		"GAC-SR-7 extension":         {Reason: "extensions bind nothing", Objects: fresh, Request: extension(binding(role+":garden:nursery", role, own)), Refused: []string{"does not belong to an object"}},
		"GAC-SR-11 delete its own":   {Reason: "a managed seed that goes takes the Seed with it", Objects: []kind.Object{nursery, expires(0), managed("nursery", func(m *gardenseedmanagementv1alpha1.ManagedSeed) { m.Finalizers = []string{"gardener"} })}, Request: by(nil, expires(0)), Refused: []string{"not being deleted"}},
		"GAC-SR-11 delete unmanaged": {Reason: "others stay", Request: by(nil, admissiontest.Seed("south")), Refused: []string{`managed seed "south" is not on seed "north"`}},
		"GAC-SR-13 own Gardenlet":    {Reason: "a seed has one Gardenlet", Request: create(&gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: named("garden", "north")})},
		"GAC-SR-13 other Gardenlet":  {Reason: "others have theirs", Request: create(&gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: named("garden", "south")}), Refused: []string{"garden/north"}},
		"GAC-SR-13 other namespace":  {Reason: "in one namespace", Request: create(&gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: named(meadow, "north")}), Refused: []string{"garden/north"}},
	})
	t.Run("GAC-SR-15 joined", func(t *testing.T) {
		t.Parallel()
		g := admissiontest.New(t, nil, append(fresh, expires(time.Hour))...)
		err := g.Ask(seedrestriction.New(g.World), create(token(about)))
		if diff := cmp.Diff(metav1.StatusReasonBadRequest, apierrors.ReasonForError(err)); diff != "" {
			t.Errorf("who has joined is told so: got %v\nreason (-want +got):\n%s", err, diff)
		}
	})
	t.Run("GAC-SR-11 delete with the managed seed", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct {
			reason  string
			objects []kind.Object
			refused bool
		}{
			{"a managed seed that goes takes the Seed with it", []kind.Object{nursery}, false},
			{"but not one on another seed", foreign[:1], true},
		} {
			g := admissiontest.New(t, nil, append(tc.objects, managed("nursery", func(m *gardenseedmanagementv1alpha1.ManagedSeed) { m.Finalizers = []string{"gardener"} }))...)
			g.DeleteOf(gardenseedmanagementv1alpha1.Resource("managedseeds"), "garden", "nursery")
			if err := g.Ask(seedrestriction.New(g.World), by(nil, admissiontest.Seed("nursery"))); (err != nil) != tc.refused {
				t.Errorf("%s: the answer is %v, want a rejection: %t", tc.reason, err, tc.refused)
			}
		}
	})
}

func request(t *testing.T, seed string, change ...func(*x509.CertificateRequest)) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "gardener.cloud:system:seed:" + seed, Organization: []string{"gardener.cloud:system:seeds"}}}
	for _, c := range change {
		c(template)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "seed-csr-x"}, Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: "kubernetes.io/kube-apiserver-client",
		Usages: []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"},
	}}
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	lease := func(namespace, name string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: named(namespace, name)}
	}
	holding := lease("garden", "gardenlet-leader-election")
	holding.Finalizers = []string{"example.com/stay"}
	backup := func(namespace, name string) func(*gardencorev1beta1.Seed) {
		return func(s *gardencorev1beta1.Seed) {
			s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", SecretRef: &corev1.SecretReference{Namespace: namespace, Name: name}}
		}
	}
	given := func(name, label, value string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name, Labels: map[string]string{label: value}}}
	}
	labelledBy := given("credentials", "name.seed.gardener.cloud/north", "true")
	labelledBy.Namespace = meadow
	labelled := func(s *gardencorev1beta1.Seed) { s.Labels = map[string]string{"a": "b"} }
	resource := func(kind, name string) func(*gardencorev1beta1.Seed) {
		return func(s *gardencorev1beta1.Seed) {
			r := gardencorev1beta1.NamedResourceReference{Name: "x"}
			r.ResourceRef.Kind, r.ResourceRef.Name = kind, name
			s.Spec.Resources = append(s.Spec.Resources, r)
		}
	}
	domain := func(s *gardencorev1beta1.Seed) {
		s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{
			Type: "local", Domain: "example.org", CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "domain"},
		}}
	}
	reaching := func(m *gardenseedmanagementv1alpha1.ManagedSeed) {
		m.Spec.Gardenlet.Config.Raw = []byte(strings.Replace(string(m.Spec.Gardenlet.Config.Raw), `"name":"internal-domain"`, `"name":"domain"`, 1))
	}
	account := &corev1.ServiceAccount{
		ObjectMeta: named("garden", "gardenlet-bootstrap-nursery"), Secrets: []corev1.ObjectReference{{Name: "backup"}},
	}
	identity := func(audience string) *gardensecurityv1alpha1.WorkloadIdentity {
		return &gardensecurityv1alpha1.WorkloadIdentity{
			ObjectMeta: named("garden", "identity"), Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{Audiences: []string{audience}},
		}
	}
	used := func(i *gardensecurityv1alpha1.WorkloadIdentity) *gardensecurityv1alpha1.WorkloadIdentity {
		i.Finalizers = []string{"core.gardener.cloud/backupbucket"}
		return i
	}
	broken := request(t, "north")
	broken.Spec.Request = []byte("x")
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SR-6 own":                {Reason: "a gardenlet renews its certificate", Request: create(request(t, "north"))},
		"GAC-SR-6 other":              {Reason: "and gets none of another", Request: create(request(t, "south")), Refused: []string{`"south"`}},
		"GAC-SR-6 admin":              {Reason: "let alone one of administrators", Request: create(request(t, "north", func(r *x509.CertificateRequest) { r.Subject.Organization = []string{"system:masters"} })), Refused: []string{"spec.request"}},
		"GAC-SR-6 names":              {Reason: "nor one of a server", Request: create(request(t, "north", func(r *x509.CertificateRequest) { r.DNSNames = []string{"a.b"} })), Refused: []string{"spec.request"}},
		"GAC-SR-6 attributes":         {Reason: "nor one with more than a name", Request: create(request(t, "north", func(r *x509.CertificateRequest) { r.Subject.OrganizationalUnit = []string{"x"} })), Refused: []string{"spec.request"}},
		"GAC-SR-6 broken":             {Reason: "nor anything unreadable", Request: create(broken), Refused: []string{"spec.request"}},
		"GAC-SR-6 extension":          {Reason: "extensions get none", Request: extension(request(t, "north")), Refused: []string{"extensions"}},
		"GAC-SR-8 own lease":          {Reason: "a gardenlet shows that it lives", Request: create(lease("gardener-system-seed-lease", "north"))},
		"GAC-SR-8 other lease":        {Reason: "not that others live", Request: create(lease("gardener-system-seed-lease", "south")), Refused: []string{"gardener-system-seed-lease/north"}},
		"GAC-SR-8 election":           {Reason: "older ones elect a leader in the garden", Request: create(lease("garden", "gardenlet-leader-election"))},
		"GAC-SR-8 elsewhere":          {Reason: "there are no others", Request: create(lease("kube-system", "north")), Refused: []string{"gardener-system-seed-lease/north"}},
		"GAC-SR-8 in the garden":      {Reason: "nor in the garden", Request: create(lease("garden", "north")), Refused: []string{"garden/gardenlet-leader-election"}},
		"GAC-SR-8 gardenlet there":    {Reason: "the namespace of the seed is for extensions", Request: create(lease("seed-north", "leader")), Refused: []string{"gardener-system-seed-lease/north"}},
		"GAC-SR-8 extension election": {Reason: "extensions do not stand in for gardenlets", Request: extension(lease("garden", "gardenlet-leader-election")), Refused: []string{"seed-north"}},
		"GAC-SR-8 election elsewhere": {Reason: "not in projects, which it would keep from being deleted", Request: create(lease(meadow, "gardenlet-leader-election")), Refused: []string{"garden/gardenlet-leader-election"}},
		"GAC-SR-8 finalizer":          {Reason: "nor with a finalizer", Request: create(holding), Refused: []string{"metadata.finalizers"}},
		"GAC-SR-8 extension":          {Reason: "extensions elect in the namespace of the seed", Request: extension(lease("seed-north", "leader"))},
		"GAC-SR-8 extension outside":  {Reason: "and nowhere else", Request: extension(lease("gardener-system-seed-lease", "north")), Refused: []string{"seed-north"}},
		"GAC-SR-11 own":               {Reason: "a gardenlet registers its seed", Request: create(admissiontest.Seed("north"))},
		"GAC-SR-11 other":             {Reason: "and no other", Request: create(admissiontest.Seed("south")), Refused: []string{`must be "north"`}},
		"GAC-SR-11 update":            {Reason: "and changes it", Request: by(admissiontest.Seed("north"), admissiontest.Seed("north"))},
		"GAC-SR-11 update other":      {Reason: "and no other", Request: by(admissiontest.Seed("south"), admissiontest.Seed("south")), Refused: []string{`must be "north"`}},
		"GAC-SR-11 delete":            {Reason: "a seed leaves", Request: by(nil, admissiontest.Seed("north"))},
		"GAC-SR-11 backup":            {Reason: "operators keep credentials of seeds in the garden, and say by a label for which seed", Objects: []kind.Object{given("backup", "name.seed.gardener.cloud/north", "true")}, Request: create(admissiontest.Seed("north", backup("garden", "backup")))},
		"GAC-SR-11 not given":         {Reason: "those without a label are for nobody", Objects: []kind.Object{given("backup", "a", "b")}, Request: create(admissiontest.Seed("north", backup("garden", "backup"))), Refused: []string{"Secret garden/backup", "an operator has not given", "kubectl -n garden label secrets backup name.seed.gardener.cloud/north=true"}},
		"GAC-SR-11 given to another":  {Reason: "those of other seeds are not", Objects: []kind.Object{given("backup", "name.seed.gardener.cloud/south", "true")}, Request: create(admissiontest.Seed("north", backup("garden", "backup"))), Refused: []string{"an operator has not given"}},
		"GAC-SR-11 missing":           {Reason: "what is not there was not given", Request: create(admissiontest.Seed("north", backup("garden", "backup"))), Refused: []string{"an operator has not given"}},
		"GAC-SR-11 for all":           {Reason: "what each seed has a copy of is given to all", Objects: []kind.Object{given("domain", "gardener.cloud/role", "internal-domain")}, Request: create(admissiontest.Seed("north", backup("garden", "domain")))},
		"GAC-SR-11 for none":          {Reason: "what is not copied is not", Objects: []kind.Object{given("domain", "gardener.cloud/role", "controlplane-cert")}, Request: create(admissiontest.Seed("north", backup("garden", "domain"))), Refused: []string{"an operator has not given"}},
		"GAC-SR-11 by a project":      {Reason: "a label on what is not in the garden is not that of an operator", Objects: []kind.Object{labelledBy}, Request: create(admissiontest.Seed("north", backup(meadow, "credentials"))), Refused: []string{"may not refer to Secret garden-meadow/credentials"}},
		"GAC-SR-11 keys":              {Reason: "what belongs to a shoot is not given by a label", Objects: []kind.Object{given("x.ssh-keypair", "name.seed.gardener.cloud/north", "true")}, Rights: []string{north + " get secrets garden/x.ssh-keypair"}, Request: create(admissiontest.Seed("north", backup("garden", "x.ssh-keypair"))), Refused: []string{"does not belong"}},
		"GAC-SR-11 before":            {Reason: "what an operator wrote into the Seed stays", Request: by(admissiontest.Seed("north", backup("garden", "backup"), labelled), admissiontest.Seed("north", backup("garden", "backup")))},
		"GAC-SR-11 resource":          {Reason: "references of all sorts count", Request: by(admissiontest.Seed("north", resource("WorkloadIdentity", "identity")), admissiontest.Seed("north")), Refused: []string{"WorkloadIdentity garden/identity", "label workloadidentities identity"}},
		"GAC-SR-11 internal secret":   {Reason: "an InternalSecret is never the seed's", Request: by(admissiontest.Seed("north", resource("InternalSecret", "x.ca-client")), admissiontest.Seed("north")), Refused: []string{"InternalSecret garden/x.ca-client"}},
		"GAC-SR-11 dns":               {Reason: "references of all fields count", Request: by(admissiontest.Seed("north", domain), admissiontest.Seed("north")), Refused: []string{"Secret garden/domain"}},
		"GAC-SR-11 own namespace":     {Reason: "what is in the namespace of the seed is its own", Request: create(admissiontest.Seed("north", backup("seed-north", "x")))},
		"GAC-SR-11 extension":         {Reason: "the same holds for extensions", Request: extension(admissiontest.Seed("north", backup("garden", "backup"))), Refused: []string{"an operator has not given"}},
		"GAC-SR-11 managed":           {Reason: "an operator who makes a ManagedSeed names there what it gets", Objects: []kind.Object{managed("north")}, Request: create(admissiontest.Seed("north", backup("garden", "backup-north")))},
		"GAC-SR-11 managed, beside":   {Reason: "and nothing beside", Objects: []kind.Object{managed("north")}, Request: create(admissiontest.Seed("north", backup("garden", "backup"))), Refused: []string{"an operator has not given"}},
		"GAC-SR-11 readable":          {Reason: "what it reads for a shoot it may lose again", Rights: []string{north + " get secrets " + meadow + "/credentials"}, Request: create(admissiontest.Seed("north", backup(meadow, "credentials"))), Refused: []string{"may not refer to Secret garden-meadow/credentials"}},
		"GAC-SAR-11 template":         {Reason: "a seed gets nothing by way of a managed seed", Request: by(managed("nursery", reaching), managed("nursery")), Refused: []string{"Secret garden/domain"}},
		"GAC-SAR-11 readable":         {Reason: "nor what its parent reads", Rights: []string{north + " get secrets garden/domain"}, Request: by(managed("nursery", reaching), managed("nursery")), Refused: []string{"Secret garden/domain"}},
		"GAC-GR-9 account":            {Reason: "nor by way of its service account", Objects: []kind.Object{managed("nursery"), admissiontest.Shoot(on("north"), called("garden", "nursery"))}, Request: create(account), Refused: []string{"Secret garden/backup"}},
		"GAC-GR-9 account later":      {Reason: "nor later", Request: by(account, &corev1.ServiceAccount{ObjectMeta: account.ObjectMeta}), Refused: []string{"Secret garden/backup"}},
		"GAC-GR-9 account kept":       {Reason: "what it names already stays", Request: by(account, account)},
		"GAC-SAR-17 audiences":        {Reason: "an identity stays what it is", Request: by(identity("attacker.example"), identity("sts")), Refused: []string{"may only read this object"}},
		"GAC-SAR-17 in use":           {Reason: "and is marked as in use", Request: by(used(identity("sts")), identity("sts"))},
		"GAC-SR-11 reach for secrets": {Reason: "a seed is no way to a Secret of a project", Request: create(admissiontest.Seed("north", backup(meadow, "credentials"))), Refused: []string{"may not refer to Secret garden-meadow/credentials"}},
		"GAC-SR-11 reach later":       {Reason: "nor later", Request: by(admissiontest.Seed("north", backup("kube-system", "x")), admissiontest.Seed("north")), Refused: []string{"may not refer to Secret kube-system/x"}},
	})
}
