// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// acting is a client with a role.
func (o *operator) acting(who role) client.WithWatch {
	o.t.Helper()
	return o.As(o.t, who.user, who.groups...)
}

func entryOf(name, seed string) *gardencorev1beta1.BackupEntry {
	return &gardencorev1beta1.BackupEntry{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: name},
		Spec:       gardencorev1beta1.BackupEntrySpec{BucketName: seed, SeedName: &seed},
	}
}

// TestSeedsBackups has gardenlets ask for all backups, as they do: they get those of their seed, in lists and in watches, and
// see entries come and go that move between seeds.
func TestSeedsBackups(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	o.create(entryOf("stays", "one"), entryOf("other", "two"), entryOf("moves", "one"))
	checkBackupLists(o)
	checkBackupWatches(o)
}

func checkBackupLists(o *operator) {
	o.t.Helper()
	bucket, entry := []string{"one"}, []string{"moves", "stays"}
	for name, tc := range map[string]struct {
		options          []client.ListOption
		buckets, entries []string
	}{
		"GAC-SAR-2 all":             {nil, bucket, entry},
		"GAC-SAR-2 cached":          {[]client.ListOption{&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}}, bucket, entry},
		"GAC-SAR-2 page":            {[]client.ListOption{client.Limit(1)}, bucket, entry[:1]},
		"GAC-SAR-2 field":           {[]client.ListOption{client.MatchingFields{"spec.seedName": "one"}}, bucket, entry},
		"GAC-SAR-2 others":          {[]client.ListOption{client.MatchingFields{"spec.seedName": "two"}}, nil, nil},
		"GAC-SAR-2 all but own":     {[]client.ListOption{notOn("one")}, nil, nil},
		"GAC-SAR-2 another's name":  {[]client.ListOption{client.MatchingFields{"metadata.name": "two"}}, nil, nil},
		"GAC-SAR-2 another's label": {[]client.ListOption{client.MatchingLabels{"name.seed.gardener.cloud/two": "true"}}, nil, nil},
	} {
		for _, who := range []role{seedRole("one"), roleNamed("extension one")} {
			gardenlet := o.acting(who)
			buckets, entries := &gardencorev1beta1.BackupBucketList{}, &gardencorev1beta1.BackupEntryList{}
			if err := gardenlet.List(o.t.Context(), buckets, tc.options...); err != nil {
				o.t.Errorf("%s: list buckets: %v", name, err)
			}
			if err := gardenlet.List(o.t.Context(), entries, tc.options...); err != nil {
				o.t.Errorf("%s: list entries: %v", name, err)
			}
			var gotBuckets, gotEntries []string
			for i := range buckets.Items {
				gotBuckets = append(gotBuckets, buckets.Items[i].Name)
			}
			for i := range entries.Items {
				gotEntries = append(gotEntries, entries.Items[i].Name)
			}
			if diff := gocmp.Diff([][]string{tc.buckets, tc.entries}, [][]string{gotBuckets, gotEntries}); diff != "" {
				o.t.Errorf("%s: %s sees what belongs to its seed (-want +got):\n%s", name, who.name, diff)
			}
		}
	}
	all := &gardencorev1beta1.BackupEntryList{}
	if err := o.Client.List(o.t.Context(), all); err != nil || len(all.Items) != 3 {
		o.t.Errorf("an operator sees all entries, got %d, %v", len(all.Items), err)
	}
}

func notOn(seed string) client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{FieldSelector: "spec.seedName!=" + seed}}
}

// checkBackupWatches moves an entry from one seed to the other.
func checkBackupWatches(o *operator) {
	o.t.Helper()
	plain := &metav1.ListOptions{ResourceVersion: "0"}
	streamed := &metav1.ListOptions{SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true}
	seen := map[string]watch.Interface{}
	for name, options := range map[string]*metav1.ListOptions{"one": plain, "one, streamed": streamed, "two": plain, "two, streamed": streamed} {
		events, err := o.acting(seedRole(name[:3])).Watch(o.t.Context(), &gardencorev1beta1.BackupEntryList{}, &client.ListOptions{Raw: options})
		if err != nil {
			o.t.Fatalf("GAC-SAR-2: watch entries as seed %s: %v", name, err)
		}
		o.t.Cleanup(events.Stop)
		seen[name] = events
	}
	for name, events := range seen {
		want := map[string][]string{"one": {"ADDED moves", "ADDED stays"}, "two": {"ADDED other"}}[name[:3]]
		o.expect(name, events, want)
	}
	entry := entryOf("moves", "one")
	o.changeStatus(entry, func() { entry.Status.SeedName = new("one") })
	o.change(entry, func() { entry.Spec.SeedName, entry.Spec.BucketName = new("two"), "two" })
	o.changeStatus(entry, func() { entry.Status.SeedName = new("two") })
	for name, events := range seen {
		want := map[string][]string{
			"one": {"MODIFIED moves", "MODIFIED moves", "DELETED moves"}, "two": {"ADDED moves", "MODIFIED moves"},
		}[name[:3]]
		o.expect(name, events, want)
	}
}

// expect reads events until there are as many as wanted; those that a watch begins with come in any order.
func (o *operator) expect(who string, events watch.Interface, want []string) {
	o.t.Helper()
	var got []string
	limit := time.NewTimer(harness.Patience)
	defer limit.Stop()
	for len(got) < len(want) {
		select {
		case e := <-events.ResultChan():
			if entry, ok := e.Object.(*gardencorev1beta1.BackupEntry); ok && e.Type != watch.Bookmark {
				got = append(got, fmt.Sprintf("%s %s", e.Type, entry.Name))
			}
		case <-limit.C:
			o.t.Fatalf("GAC-SAR-2: seed %s: got events %q, want %q", who, got, want)
		}
	}
	if want[0][:5] == "ADDED" && len(want) > 1 && want[1][:5] == "ADDED" {
		slices.Sort(got)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		o.t.Errorf("GAC-SAR-2: events of seed %s (-want +got):\n%s", who, diff)
	}
}

// TestSeedsDeletions has a gardenlet delete what is gone, what belongs to others, and what it was only given. The first two
// are answered alike, so that nobody learns what others have.
func TestSeedsDeletions(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	internal := func(namespace, name string) *gardencorev1beta1.InternalSecret {
		return &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	state := func(name string) *gardencorev1beta1.ShootState {
		return &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-wood", Name: name}}
	}
	config := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-wood", Name: name}}
	}
	bucket := func(name string) *gardencorev1beta1.BackupBucket { return raceBucket(name, "", "", "") }
	for _, object := range []client.Object{
		secretIn("garden-wood", "other.ssh-keypair"), internal("garden-wood", "other.ca-client"), state("other"),
		config("other.ca-cluster"), entryOf("theirs", "two"), secretIn("garden", "generated-bucket-two"), secretIn("garden", "none"),
	} {
		o.create(object)
	}
	gardenlet := o.acting(seedRole("one"))
	for name, pair := range map[string][2]client.Object{
		"Secret":                 {secretIn("garden-wood", "other.ssh-keypair"), secretIn("garden-wood", "gone.ssh-keypair")},
		"Secret in garden":       {secretIn("garden", "none"), secretIn("garden", "gone")},
		"Secret of another seed": {secretIn("garden", "given-two"), secretIn("garden", "gone-two")},
		"generated Secret":       {secretIn("garden", "generated-bucket-two"), secretIn("garden", "generated-bucket-gone")},
		"InternalSecret":         {internal("garden-wood", "other.ca-client"), internal("garden-wood", "gone.ca-client")},
		"ShootState":             {state("other"), state("gone")},
		"ConfigMap":              {config("other.ca-cluster"), config("gone.ca-cluster")},
		"BackupEntry":            {entryOf("theirs", "two"), entryOf("gone", "two")},
		"BackupBucket":           {bucket("two"), bucket("gone")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, what := range []string{"of another", "gone"} {
				err := gardenlet.Delete(t.Context(), asObject(pair[i]), client.Preconditions{UID: new(types.UID("x"))})
				want := fmt.Sprintf("%q not found", pair[i].GetName())
				if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), want) {
					t.Errorf("GAC-SAR-12, GAC-SAR-16: the object that is %s is not found, got %v", what, err)
				}
			}
			if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(pair[0]), asObject(pair[0])); err != nil {
				t.Errorf("the object of another stays, got %v", err)
			}
		})
	}
	forbidden := map[string]error{
		"what it can read it knows":  gardenlet.Delete(t.Context(), secretIn("garden", "given-one")),
		"everybody can read Seeds":   gardenlet.Delete(t.Context(), &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "two"}}),
		"Roles are nothing to seeds": gardenlet.Delete(t.Context(), &gardencorev1beta1.Quota{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gone"}}),
		"people are told":            o.acting(person("stranger")).Delete(t.Context(), secretIn("garden-wood", "gone.ssh-keypair")),
	}
	for what, err := range forbidden {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: got %v, want Forbidden", what, err)
		}
	}
	answer, err := o.may(t.Context(), seedRole("one"), authorizationv1.ResourceAttributes{Verb: "delete", Resource: "secrets", Namespace: "garden", Name: "gone"})
	if err != nil || answer.Allowed {
		t.Errorf("who asks is told that it is not allowed, got %v, %v", answer, err)
	}
}

// TestSeedInGarden tries what a gardenlet and an extension can reach in the namespace garden (GAC-SR-9, GAC-SR-11).
func TestSeedInGarden(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	o.create(secretIn("garden", "backup"), secretIn("garden", "nursery.ssh-keypair"),
		&gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "nursery.ca-client"}})
	for _, who := range []role{seedRole("one"), roleNamed("extension one")} {
		o.checkReach(o.acting(who))
		o.checkGiven(o.acting(who), "more-for-"+strings.ReplaceAll(who.name, " ", "-"))
	}
}

// naming is a patch that adds an object to spec.resources of a Seed that names two already.
func naming(version, kind, name string) client.Patch {
	return client.RawPatch("application/json-patch+json", fmt.Appendf(nil,
		`[{"op":"add","path":"/spec/resources/-","value":{"name":"x","resourceRef":{"apiVersion":%q,"kind":%q,"name":%q}}}]`, version, kind, name))
}

// checkReach tries to reach what was not given.
func (o *operator) checkReach(seed client.Client) {
	o.t.Helper()
	ctx := o.t.Context()
	one := func() *gardencorev1beta1.Seed {
		return &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	}
	merge := func(patch string) client.Patch { return client.RawPatch("application/merge-patch+json", []byte(patch)) }
	identity := func(name string) *gardensecurityv1alpha1.WorkloadIdentity {
		return &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}}
	}
	domain := secretIn("garden", "generated-bucket-one")
	domain.Labels = map[string]string{"gardener.cloud/role": "default-domain"}
	domain.Annotations = map[string]string{"dns.gardener.cloud/domain": "evil.example", "dns.gardener.cloud/provider": "local"}
	for what, err := range map[string]error{
		"name a Secret that is not for it":       seed.Patch(ctx, one(), naming("v1", "Secret", "backup")),
		"name a Secret of another seed":          seed.Patch(ctx, one(), naming("v1", "Secret", "given-two")),
		"name the keys of a managed seed":        seed.Patch(ctx, one(), naming("v1", "Secret", "nursery.ssh-keypair")),
		"name an identity of another seed":       seed.Patch(ctx, one(), naming("security.gardener.cloud/v1alpha1", "WorkloadIdentity", "given-two")),
		"read a Secret of another seed":          seed.Get(ctx, client.ObjectKey{Namespace: "garden", Name: "given-two"}, &corev1.Secret{}),
		"read the client CA of a managed seed":   seed.Get(ctx, client.ObjectKey{Namespace: "garden", Name: "nursery.ca-client"}, &gardencorev1beta1.InternalSecret{}),
		"list Secrets":                           seed.List(ctx, &corev1.SecretList{}, client.InNamespace("garden")),
		"change what it was given":               seed.Patch(ctx, secretIn("garden", "given-one"), merge(`{"data":{"key":"eA=="}}`)),
		"label what it was given":                seed.Patch(ctx, secretIn("garden", "given-one"), merge(`{"metadata":{"labels":{"gardener.cloud/role":"default-domain"}}}`)),
		"delete what it was given":               seed.Delete(ctx, secretIn("garden", "given-one")),
		"change the audiences of an identity":    seed.Patch(ctx, identity("given-one"), merge(`{"spec":{"audiences":["attacker.example"]}}`)),
		"get a token of another seed's identity": seed.SubResource("token").Create(ctx, identity("given-two"), &gardensecurityv1alpha1.TokenRequest{}),
		"make a default domain":                  seed.Create(ctx, domain),
		"give itself a Secret":                   seed.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "generated-bucket-one", Labels: map[string]string{"name.seed.gardener.cloud/one": "true"}}}),
		"make a Secret in its namespace":         seed.Create(ctx, secretIn("seed-one", "x")),
	} {
		if !apierrors.IsForbidden(err) {
			o.t.Errorf("a client of a seed could %s: got %v, want Forbidden", what, err)
		}
	}
	if err := seed.Patch(ctx, one(), naming("core.gardener.cloud/v1beta1", "InternalSecret", "nursery.ca-client")); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		o.t.Errorf("a client of a seed could name an InternalSecret: got %v", err)
	}
}

// checkGiven reads what was given, marks it as in use, and is given something more by a label, a Secret of the given name.
func (o *operator) checkGiven(seed client.Client, name string) {
	o.t.Helper()
	secret := secretIn("garden", "given-one")
	const mark = "core.gardener.cloud/backupbucket"
	// The garden has a finalizer of its own on what a Seed names, which a seed has to leave there.
	finalize := func(ctx context.Context, change func(client.Object, string) bool) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			if err := seed.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
				return err
			}
			before := secret.DeepCopy()
			change(secret, mark)
			return seed.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		})
	}
	generated := secretIn("garden", "generated-bucket-one")
	for _, step := range []struct {
		what string
		do   func(ctx context.Context) error
	}{
		{"read it", func(ctx context.Context) error { return seed.Get(ctx, client.ObjectKeyFromObject(secret), secret) }},
		{"mark it as in use", func(ctx context.Context) error { return finalize(ctx, controllerutil.AddFinalizer) }},
		{"free it", func(ctx context.Context) error { return finalize(ctx, controllerutil.RemoveFinalizer) }},
		{"keep generated credentials", func(ctx context.Context) error { return seed.Create(ctx, generated) }},
		{"throw them away", func(ctx context.Context) error { return seed.Delete(ctx, generated) }},
		{"change its Seed", func(ctx context.Context) error {
			return seed.Patch(ctx, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
		}},
	} {
		if err := step.do(o.t.Context()); err != nil {
			o.t.Errorf("a client of a seed could not %s: %v", step.what, err)
		}
	}
	more := secretIn("garden", name)
	o.create(more)
	one := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	err := seed.Patch(o.t.Context(), one, naming("v1", "Secret", more.Name))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "kubectl -n garden label secrets "+more.Name+" name.seed.gardener.cloud/one=true") {
		o.t.Errorf("a refusal says what an operator has to do, got %v", err)
	}
	o.change(more, func() { more.Labels = map[string]string{"name.seed.gardener.cloud/one": "true"} })
	if err := seed.Patch(o.t.Context(), one, naming("v1", "Secret", more.Name)); err != nil {
		o.t.Errorf("what an operator has given can be named, got %v", err)
	}
	harness.Eventually(o.t, "what the Seed names can be read", func(ctx context.Context) error {
		return seed.Get(ctx, client.ObjectKeyFromObject(more), more)
	})
	o.change(one, func() { one.Spec.Resources = one.Spec.Resources[:2] })
	o.checkGivenConfig(seed, name)
	o.change(one, func() { one.Spec.Resources = one.Spec.Resources[:2] })
}

// checkGivenConfig gives a ConfigMap by the label, and looks at what a refusal names: what was given is given also when it is
// looked at once more, because of something else.
func (o *operator) checkGivenConfig(seed client.Client, name string) {
	o.t.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name, Labels: map[string]string{"name.seed.gardener.cloud/one": "true"}}}
	o.create(config)
	one := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	both := client.RawPatch("application/json-patch+json", fmt.Appendf(nil, `[{"op":"add","path":"/spec/resources/0","value":{"name":"x","resourceRef":{"apiVersion":"v1","kind":"Secret","name":"backup"}}},`+
		`{"op":"add","path":"/spec/resources/0","value":{"name":"y","resourceRef":{"apiVersion":"v1","kind":"ConfigMap","name":%q}}}]`, name))
	if err := seed.Patch(o.t.Context(), one, both); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "Secret garden/backup") {
		o.t.Errorf("a refusal names what was not given, got %v", err)
	}
	if err := seed.Patch(o.t.Context(), one, naming("v1", "ConfigMap", name)); err != nil {
		o.t.Errorf("a ConfigMap that an operator has given can be named, got %v", err)
	}
}
