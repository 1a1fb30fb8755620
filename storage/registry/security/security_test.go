// SPDX-License-Identifier: Apache-2.0

package security_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/registrytest"
)

const (
	namespace = "garden-meadow"
	soil      = "gardener.cloud:system:seed:soil"
	sand      = "gardener.cloud:system:seed:sand"
)

type (
	binding  = gardensecurityv1alpha1.CredentialsBinding
	identity = gardensecurityv1alpha1.WorkloadIdentity
	request  = gardensecurityv1alpha1.TokenRequest
)

// served returns the resources of the core group and of this one.
func served(t *testing.T) (core, security map[string]rest.Storage) {
	t.Helper()
	groups, _ := registrytest.Groups(t)
	for _, group := range groups {
		if all, ok := group.VersionedResourcesStorageMap["v1alpha1"]; ok && all["workloadidentities"] != nil {
			security = all
		}
	}
	return groups[0].VersionedResourcesStorageMap["v1beta1"], security
}

func TestResources(t *testing.T) {
	t.Parallel()
	_, all := served(t)
	want := []string{"credentialsbindings", "workloadidentities", "workloadidentities/token"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("API-RES-5, 8: what is served (-want +got):\n%s", diff)
	}
}

func TestCredentialsBinding(t *testing.T) {
	t.Parallel()
	_, all := served(t)
	bindings, ctx := kindtest.Of[*binding](t, all, "credentialsbindings"), kindtest.Context(t, namespace, "rose")
	got := bindings.MustCreate(ctx, &binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "some-"}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "shared", Name: "key"},
	})
	if len(got.Name) != len("some-")+5 || got.Generation != 0 {
		t.Errorf("a binding gets a name and no generation, got %q, %d", got.Name, got.Generation)
	}
	// Both the first and the last column are called Name, and columns of that name are not compared.
	want := map[string]string{"Provider": "local", "APIVersion": "v1", "Kind": "Secret"}
	if diff := cmp.Diff(want, bindings.Row(ctx, got)); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
	got.Provider.Type = "other"
	if _, err := bindings.Update(ctx, got); !apierrors.IsInvalid(err) {
		t.Errorf("API-VALCB-1: the provider stays, got %v", err)
	}
}

func wi() *identity {
	return &identity{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "wi"},
		Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
			Audiences: []string{"cloud.example", "other.example"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "local"},
		},
		Status: gardensecurityv1alpha1.WorkloadIdentityStatus{Sub: "admin"},
	}
}

func TestWorkloadIdentity(t *testing.T) {
	t.Parallel()
	_, all := served(t)
	identities, ctx := kindtest.Of[*identity](t, all, "workloadidentities"), kindtest.Context(t, namespace, "rose")
	got := identities.MustCreate(ctx, wi())
	sub := "gardener.cloud:workloadidentity:" + namespace + ":wi:" + string(got.UID)
	if got.UID == "" || got.Status.Sub != sub {
		t.Errorf("API-VALWI-1: subject %q, want %q", got.Status.Sub, sub)
	}
	want := map[string]string{"Sub": sub, "Type": "local", "Audiences": "cloud.example,other.example"}
	if diff := cmp.Diff(want, identities.Row(ctx, got)); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
	got.Status.Sub, got.Spec.Audiences = "admin", []string{"cloud.example"}
	if got = identities.MustUpdate(ctx, got); got.Status.Sub != sub || len(got.Spec.Audiences) != 1 {
		t.Errorf("API-VALWI-1: an identity stays itself, got %q", got.Status.Sub)
	}
}

func issue(t *testing.T, all map[string]rest.Storage, ctx context.Context, r *request) (*request, error) { //nolint:revive // the test comes first in tests
	t.Helper()
	issuer, ok := all["workloadidentities/token"].(rest.NamedCreater)
	if !ok {
		t.Fatal("API-RES-8: tokens are issued")
	}
	obj, err := issuer.Create(ctx, "wi", r, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	answer, ok := obj.(*request)
	if !ok {
		t.Fatalf("%T is no TokenRequest", obj)
	}
	return answer, nil
}

func TestTokenLifetime(t *testing.T) {
	t.Parallel()
	_, all := served(t)
	ctx := kindtest.Context(t, namespace, "rose")
	created := kindtest.Of[*identity](t, all, "workloadidentities").MustCreate(ctx, wi())
	for name, tc := range map[string]struct {
		reason  string
		seconds *int64
		want    time.Duration
	}{
		"API-TOKEN-1 usual":   {reason: "an hour", want: time.Hour},
		"API-TOKEN-1 asked":   {reason: "what is asked for", seconds: new(int64(7200)), want: 2 * time.Hour},
		"API-TOKEN-1 raised":  {reason: "but not less than the server gives", seconds: new(int64(600)), want: time.Hour},
		"API-TOKEN-1 lowered": {reason: "nor more", seconds: new(int64(1<<32 - 1)), want: 48 * time.Hour},
		"API-TOKEN-1 refused": {reason: "nor what makes no sense", seconds: new(int64(599))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := issue(t, all, ctx, &request{Spec: gardensecurityv1alpha1.TokenRequestSpec{ExpirationSeconds: tc.seconds}})
			if tc.want == 0 {
				if !apierrors.IsInvalid(err) {
					t.Errorf("%s\nCreate: got %v, want Invalid", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nCreate: %v", tc.reason, err)
			}
			now := kindtest.Now()
			if left := got.Status.ExpirationTimestamp.Sub(now); left != tc.want {
				t.Errorf("%s\nvalid for %s, want %s", tc.reason, left, tc.want)
			}
			claims := map[string]any{}
			if err := json.Unmarshal([]byte(got.Status.Token), &claims); err != nil {
				t.Fatal(err)
			}
			if id, ok := claims["jti"].(string); !ok || id == "" {
				t.Errorf("each token has a name of its own, got %v", claims["jti"])
			}
			delete(claims, "jti")
			want := map[string]any{
				"iss": "https://garden.example/issuer", "aud": []any{"cloud.example", "other.example"}, "sub": created.Status.Sub,
				"iat": float64(now.Unix()), "nbf": float64(now.Unix()), "exp": float64(now.Add(tc.want).Unix()),
				"gardener.cloud": map[string]any{"workloadIdentity": map[string]any{"name": "wi", "namespace": namespace, "uid": string(created.UID)}},
			}
			if diff := cmp.Diff(want, claims); diff != "" {
				t.Errorf("API-TOKEN-1: claims (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := issue(t, all, kindtest.Context(t, "garden-other", "rose"), &request{}); !apierrors.IsNotFound(err) {
		t.Errorf("API-TOKEN-1: no identity, no token, got %v", err)
	}
}

// plot is what tokens can be used for.
type plot struct {
	security map[string]rest.Storage
	uids     map[string]types.UID
}

func put[T kind.Object](t *testing.T, p *plot, core map[string]rest.Storage, resource string, object T) {
	t.Helper()
	ctx := kindtest.Context(t, object.GetNamespace(), "gardener")
	p.uids[resource] = kindtest.Of[T](t, core, resource).MustCreate(ctx, object).GetUID()
}

func newPlot(t *testing.T) *plot {
	t.Helper()
	core, security := served(t)
	p := &plot{security: security, uids: map[string]types.UID{}}
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "meadow"}}
	project.Spec.Namespace = new(namespace)
	put(t, p, core, "projects", project)
	ground := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "soil"}}
	ground.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "north"}
	ground.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"}
	keys := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "dns"}
	ground.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: keys}
	ground.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: &keys}
	used := corev1.ObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: namespace, Name: "wi"}
	ground.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: &used}
	ground.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: "ingress.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}}
	put(t, p, core, "seeds", ground)
	other := ground.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Name: "sand"}
	p.uids["sand"] = kindtest.Of[*gardencorev1beta1.Seed](t, core, "seeds").MustCreate(kindtest.Context(t, "", "gardener"), other).GetUID()
	bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "bucket"}}
	bucket.Spec.Provider = gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}
	bucket.Spec.SeedName = new("soil")
	bucket.Spec.CredentialsRef = &used
	put(t, p, core, "backupbuckets", bucket)
	sprout := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sprout"}}
	sprout.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
	sprout.Spec.Region, sprout.Spec.Provider.Type, sprout.Spec.Kubernetes.Version = "north", "local", "1.36.3"
	sprout.Spec.SeedName = new("soil")
	sprout.Spec.Resources = []gardencorev1beta1.NamedResourceReference{resource("wi")}
	put(t, p, core, "shoots", sprout)
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "entry", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Name: "sprout", UID: p.uids["shoots"]},
	}}}
	entry.Spec.BucketName, entry.Spec.SeedName = "bucket", new("soil")
	put(t, p, core, "backupentries", entry)
	p.move(t, core, sprout)
	p.claim(t, core, "claiming", "sand", p.uids["shoots"])
	p.claim(t, core, "late", "soil", "earlier")
	kindtest.Of[*identity](t, security, "workloadidentities").MustCreate(kindtest.Context(t, namespace, "rose"), wi())
	return p
}

// resource is a reference to an identity.
func resource(name string) gardencorev1beta1.NamedResourceReference {
	return gardencorev1beta1.NamedResourceReference{Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{
		APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Name: name,
	}}
}

// move adds a shoot that moves from the seed soil to sand.
func (p *plot) move(t *testing.T, core map[string]rest.Storage, like *gardencorev1beta1.Shoot) {
	t.Helper()
	ctx := kindtest.Context(t, namespace, "gardener")
	moving := like.DeepCopy()
	moving.ObjectMeta, moving.Spec.SeedName = metav1.ObjectMeta{Namespace: namespace, Name: "moving"}, new("sand")
	moving = kindtest.Of[*gardencorev1beta1.Shoot](t, core, "shoots").MustCreate(ctx, moving)
	p.uids["moving"] = moving.UID
	moving.Status.SeedName = new("soil")
	kindtest.Of[*gardencorev1beta1.Shoot](t, core, "shoots/status").MustUpdate(ctx, moving)
}

// claim adds a backup entry on a seed that names the shoot sprout as its owner.
func (p *plot) claim(t *testing.T, core map[string]rest.Storage, name, seed string, uid types.UID) {
	t.Helper()
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Name: "sprout", UID: uid},
	}}}
	entry.Spec.BucketName, entry.Spec.SeedName = "bucket", &seed
	p.uids[name] = kindtest.Of[*gardencorev1beta1.BackupEntry](t, core, "backupentries").MustCreate(kindtest.Context(t, namespace, "gardener"), entry).GetUID()
}

// none is the answer about an object that a seed does not have, for whatever reason.
func none(kind, name, seed string) string {
	return fmt.Sprintf("spec.contextObject: Invalid value: %q: seed %q has no %s with this name and UID", name, seed, kind)
}

func TestTokenContext(t *testing.T) {
	t.Parallel()
	p := newPlot(t)
	for name, tc := range map[string]struct {
		reason   string
		kind, of string
		named    string
		version  string
		user     string
		uid      types.UID
		// want are the claims beside that of the identity.
		want    []string
		refused string
		// seed is the seed in the claims, if it is not that of the object.
		seed string
	}{
		"API-TOKEN-1 shoot":  {reason: "a shoot has a project and a seed", kind: "Shoot", of: "shoots", named: "sprout", user: soil, want: []string{"project", "seed", "shoot"}},
		"API-TOKEN-1 seed":   {reason: "a seed is one", kind: "Seed", of: "seeds", named: "soil", user: soil, want: []string{"seed"}},
		"API-TOKEN-1 bucket": {reason: "a bucket has a seed", kind: "BackupBucket", of: "backupbuckets", named: "bucket", user: soil, want: []string{"backupBucket", "seed"}},
		"API-TOKEN-1 entry": {
			reason: "an entry has a bucket and a shoot", kind: "BackupEntry", of: "backupentries", named: "entry", user: soil,
			want: []string{"backupBucket", "backupEntry", "project", "seed", "shoot"},
		},
		"API-TOKEN-1 people": {reason: "what people say is not believed", kind: "Shoot", of: "shoots", named: "sprout"},
		"API-TOKEN-1 another": {
			reason: "a shoot of the same name is not the shoot", kind: "Shoot", of: "shoots", named: "sprout", user: soil, uid: "other", refused: none("Shoot", "garden-meadow/sprout", "soil"),
		},
		"API-TOKEN-1 none": {
			reason: "nor is one that does not exist", kind: "Shoot", of: "shoots", named: "ghost", user: soil, refused: none("Shoot", "garden-meadow/ghost", "soil"),
		},
		"API-TOKEN-1 no name of a shoot": {
			reason: "nor can it have this name", kind: "Shoot", of: "shoots", named: "a/b", user: soil, refused: none("Shoot", "garden-meadow/a/b", "soil"),
		},
		"API-TOKEN-1 foreign shoot": {
			reason: "the shoot of another seed is as one that does not exist", kind: "Shoot", of: "shoots", named: "sprout", user: sand, refused: none("Shoot", "garden-meadow/sprout", "sand"),
		},
		"API-TOKEN-1 foreign seed": {
			reason: "nobody is another seed", kind: "Seed", of: "seeds", named: "soil", user: sand, refused: none("Seed", "garden-meadow/soil", "sand"),
		},
		"API-TOKEN-1 foreign bucket": {
			reason: "a bucket has one seed", kind: "BackupBucket", of: "backupbuckets", named: "bucket", user: sand, refused: none("BackupBucket", "garden-meadow/bucket", "sand"),
		},
		"API-TOKEN-1 foreign entry": {
			reason: "an entry too", kind: "BackupEntry", of: "backupentries", named: "entry", user: sand, refused: none("BackupEntry", "garden-meadow/entry", "sand"),
		},
		"API-TOKEN-1 leaving": {
			reason: "a shoot that moves belongs to both seeds", kind: "Shoot", of: "moving", named: "moving", user: soil, want: []string{"project", "seed", "shoot"},
		},
		"API-TOKEN-1 arriving": {
			reason: "and each gets its own name", kind: "Shoot", of: "moving", named: "moving", user: sand, want: []string{"project", "seed", "shoot"}, seed: "sand",
		},
		"API-TOKEN-1 entry of a foreign shoot": {
			reason: "a gardenlet cannot claim the shoot of another seed by an owner reference", kind: "BackupEntry", of: "claiming", named: "claiming", user: sand,
			want: []string{"backupBucket", "backupEntry", "seed"}, seed: "sand",
		},
		"API-TOKEN-1 entry of another life": {
			reason: "nor a later shoot of the name", kind: "BackupEntry", of: "late", named: "late", user: soil,
			want: []string{"backupBucket", "backupEntry", "seed"},
		},
		"API-TOKEN-1 kind": {
			reason: "and a token is of no use to a pod", kind: "Pod", of: "shoots", named: "sprout", version: "v1", user: soil, refused: "spec.contextObject.kind",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := &gardensecurityv1alpha1.ContextObject{
				Kind: tc.kind, APIVersion: "core.gardener.cloud/v1beta1", Name: tc.named, Namespace: new(namespace), UID: p.uids[tc.of],
			}
			if tc.version != "" {
				asked.APIVersion = tc.version
			}
			if tc.uid != "" {
				asked.UID = tc.uid
			}
			who := tc.user
			if who == "" {
				who = "someone"
			}
			got, err := issue(t, p.security, kindtest.Context(t, namespace, who),
				&request{Spec: gardensecurityv1alpha1.TokenRequestSpec{ContextObject: asked}})
			if tc.refused != "" {
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%s\nCreate: got %v, want Invalid with %q", tc.reason, err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nCreate: %v", tc.reason, err)
			}
			var claims struct {
				Garden map[string]struct {
					UID types.UID `json:"uid"`
				} `json:"gardener.cloud"` //nolint:tagliatelle // verifiers look for this name
			}
			if err := json.Unmarshal([]byte(got.Status.Token), &claims); err != nil {
				t.Fatal(err)
			}
			resources := map[string]string{
				"backupBucket": "backupbuckets", "backupEntry": "backupentries", "project": "projects", "seed": "seeds", "shoot": "shoots",
			}
			if tc.of == "moving" {
				resources["shoot"] = "moving"
			}
			if tc.kind == "BackupEntry" {
				resources["backupEntry"] = tc.of
			}
			if tc.seed != "" {
				resources["seed"] = tc.seed
			}
			if diff := cmp.Diff(append(slices.Clone(tc.want), "workloadIdentity"), slices.Sorted(maps.Keys(claims.Garden))); diff != "" {
				t.Errorf("%s\nclaims (-want +got):\n%s", tc.reason, diff)
			}
			for _, claim := range tc.want {
				if got, want := claims.Garden[claim].UID, p.uids[resources[claim]]; got != want {
					t.Errorf("%s\nUID of %s is %q, want %q", tc.reason, claim, got, want)
				}
			}
		})
	}
}

// TestTokenUse asks for tokens of identities on behalf of objects that do, and do not, refer to them. Who can write a Secret in a seed can
// have its gardenlet ask for any pair (API-TOKEN-1).
func TestTokenUse(t *testing.T) {
	t.Parallel()
	core, security := served(t)
	p := &plot{security: security, uids: map[string]types.UID{}}
	to := func(name string) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: namespace, Name: name}
	}
	ground := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "soil"}}
	ground.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "north"}
	ground.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"}
	ground.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: to("of-domain")}
	ground.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: new(to("of-backup"))}
	ground.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: "ingress.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}}
	ground.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: new(to("of-ingress"))}
	put(t, p, core, "seeds", ground)
	// A shoot may still use the binding that it had before.
	for name, identity := range map[string]string{"b": "of-binding", "former": "of-former"} {
		bound := &binding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"}}
		bound.CredentialsRef = to(identity)
		put(t, p, security, "credentialsbindings", bound)
	}
	sprout := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sprout"}}
	sprout.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
	sprout.Spec.Region, sprout.Spec.Provider.Type, sprout.Spec.Kubernetes.Version = "north", "local", "1.36.3"
	sprout.Spec.SeedName, sprout.Spec.CredentialsBindingName = new("soil"), new("b")
	sprout.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "w", Machine: gardencorev1beta1.Machine{Type: "small", Image: &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")}}, Minimum: 1, Maximum: 1}}
	sprout.Spec.Networking = &gardencorev1beta1.Networking{Type: new("local")}
	sprout.Spec.Resources = []gardencorev1beta1.NamedResourceReference{resource("of-resource")}
	sprout.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("sprout.example.org"), Providers: []gardencorev1beta1.DNSProvider{{
		Type: new("local"), Primary: new(true), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Name: "of-dns"},
	}}}
	put(t, p, core, "shoots", sprout)
	for _, name := range []string{"of-domain", "of-backup", "of-ingress", "of-binding", "of-former", "of-resource", "of-dns", "of-nobody"} {
		one := wi()
		one.Name = name
		kindtest.Of[*identity](t, security, "workloadidentities").MustCreate(kindtest.Context(t, namespace, "rose"), one)
	}
	issuer, ok := security["workloadidentities/token"].(rest.NamedCreater)
	if !ok {
		t.Fatal("tokens are issued")
	}
	for kind, allowed := range map[string][]string{
		"Shoot": {"of-binding", "of-dns", "of-domain", "of-former", "of-ingress", "of-resource"},
		"Seed":  {"of-backup", "of-domain", "of-ingress"},
	} {
		asked := &gardensecurityv1alpha1.ContextObject{Kind: kind, APIVersion: "core.gardener.cloud/v1beta1", Name: "sprout", Namespace: new(namespace), UID: p.uids["shoots"]}
		if kind == "Seed" {
			asked.Name, asked.Namespace, asked.UID = "soil", nil, p.uids["seeds"]
		}
		var got []string
		for _, name := range []string{"of-backup", "of-binding", "of-dns", "of-domain", "of-former", "of-ingress", "of-nobody", "of-resource"} {
			ctx := kindtest.Context(t, namespace, soil)
			_, err := issuer.Create(ctx, name, &request{Spec: gardensecurityv1alpha1.TokenRequestSpec{ContextObject: asked}}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			if err == nil {
				got = append(got, name)
			} else if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "does not refer to the workload identity") {
				t.Errorf("%s for %s: %v", name, kind, err)
			}
		}
		if diff := cmp.Diff(allowed, got); diff != "" {
			t.Errorf("identities that are used for a %s (-want +got):\n%s", kind, diff)
		}
	}
}
