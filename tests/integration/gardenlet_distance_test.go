// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// allRequests is an audit policy that records every request.
const allRequests = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"

// TestSeedKeepsItsDistance joins a seed to a garden that is in use, and stops the garden. Nothing in the garden has changed because of the
// seed, nothing there tells how the seed can be reached, nothing in the seed changes because the garden is away, and the gardenlet has read
// from the garden, and written to it, only what concerns its own seed.
func TestSeedKeepsItsDistance(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(allRequests), 0o600); err != nil {
		t.Fatal(err)
	}
	n := newNursery(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.Audit.PolicyFile = policy }))
	n.garden.provider("local")
	project := n.garden.project("meadow")
	n.garden.seed("other", "local", "north")
	waiting := workerless(*project.Spec.Namespace, "sprout", "other")
	n.garden.create(waiting, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: *project.Spec.Namespace, Name: "kept"}})
	harness.Await(t, n.garden.Client, profile("local"), "the garden is done with what was created", func(p *gardencorev1beta1.CloudProfile) error {
		return has(len(p.Finalizers) > 0, "no finalizers")
	})
	before := n.garden.generations()

	token := n.token(time.Hour)
	n.invite(token)
	config := n.config("one")
	config.Server.HealthProbes.BindAddress, config.Server.HealthProbes.Port = "127.0.0.1", freePort(t)
	n.run(config)
	n.manageResources()
	seed := n.readySeed()
	installation := n.garden.installation("one", "provider-local", "the seed needs its provider")
	harness.Await(t, n.garden.Client, installation, "the gardenlet looks at the extension", func(i *gardencorev1beta1.ControllerInstallation) error {
		return has(len(i.Status.Conditions) > 0, "no conditions")
	})
	n.checkNothingMigrated(before)
	n.checkNoWayBack(seed)

	was := n.seed.generations()
	n.garden.Stop(t)
	heartbeat := fmt.Sprintf("http://127.0.0.1:%d/healthz/heartbeat", config.Server.HealthProbes.Port)
	n.await("the gardenlet notices that the garden is away, twice", func(ctx context.Context) error {
		return errors.Join(unhealthy(ctx, heartbeat), unhealthy(ctx, heartbeat))
	})
	if diff := cmp.Diff(was, n.seed.generations()); diff != "" {
		t.Errorf("GLET-LEASE-8: objects of the seed while the garden is away (-want +got):\n%s", diff)
	}
	n.checkReadOnlyOwn()
	n.checkWroteOnly("controllerinstallations "+installation.Name, "gardener-system-seed-lease/leases one", "kube-system/secrets bootstrap-token-"+token.ID, "seeds one")
}

func unhealthy(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)

	return either(err, response.StatusCode == http.StatusInternalServerError, "status %d: %s", response.StatusCode, text)
}

// visit calls a function for every object that a garden serves.
func (o *operator) visit(each func(object *unstructured.Unstructured)) {
	o.t.Helper()
	served, err := discovery.NewDiscoveryClientForConfig(o.Config)
	if err != nil {
		o.t.Fatal(err)
	}
	lists, err := served.ServerPreferredResources()
	if err != nil {
		o.t.Fatal(err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			o.t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || !slices.Contains(resource.Verbs, "create") {
				continue
			}
			found := &unstructured.UnstructuredList{}
			found.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			if err := o.Client.List(o.t.Context(), found); err != nil {
				o.t.Fatalf("list %s: %v", resource.Name, err)
			}
			for i := range found.Items {
				each(&found.Items[i])
			}
		}
	}
}

// generations returns what identifies the wanted state of all objects of a garden that are written by people and controllers, and do not come
// and go by themselves.
func (o *operator) generations() map[string]string {
	o.t.Helper()
	fleeting := []string{"Event", "Lease", "CertificateSigningRequest", "ControllerInstallation", "Snapshot"}
	all := map[string]string{}
	o.visit(func(object *unstructured.Unstructured) {
		if slices.Contains(fleeting, object.GetKind()) || object.GetDeletionTimestamp() != nil {
			return
		}
		spec := object.GetResourceVersion()
		if generation := object.GetGeneration(); generation > 0 {
			spec = fmt.Sprintf("generation %d", generation)
		}
		all[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = string(object.GetUID()) + " " + spec
	})

	return all
}

// checkNothingMigrated compares all objects with those that were there before the seed joined.
func (n *nursery) checkNothingMigrated(before map[string]string) {
	n.t.Helper()
	now := n.garden.generations()
	for object, was := range before {
		if now[object] != was {
			n.t.Errorf("GLET-PREV-1: %s was %s before a seed joined, and is %q now", object, was, now[object])
		}
	}
}

// checkNoWayBack searches all objects of the garden for the address of the seed's API server and for what verifies it.
func (n *nursery) checkNoWayBack(seed *gardencorev1beta1.Seed) {
	n.t.Helper()
	at, err := url.Parse(n.seed.Server)
	if err != nil {
		n.t.Fatal(err)
	}
	secrets := map[string][]byte{"the address": []byte(at.Host), "the authority": bytes.TrimSpace(n.seed.CA)}
	seen := false
	n.garden.visit(func(object *unstructured.Unstructured) {
		seen = seen || object.GetUID() == seed.UID
		walk(object.Object, func(text string) {
			decoded, err := base64.StdEncoding.DecodeString(text)
			for what, secret := range secrets {
				if strings.Contains(text, string(secret)) || err == nil && bytes.Contains(decoded, secret) {
					n.t.Errorf("GLET-BOOT-2: %s %s/%s has %s of the seed", object.GetKind(), object.GetNamespace(), object.GetName(), what)
				}
			}
		})
	})
	if !seen {
		n.t.Error("the Seed itself was not looked at")
	}
}

// walk calls a function for all texts in a value.
func walk(value any, each func(text string)) {
	switch v := value.(type) {
	case string:
		each(v)
	case []any:
		for _, one := range v {
			walk(one, each)
		}
	case map[string]any:
		for _, one := range v {
			walk(one, each)
		}
	}
}

// checkReadOnlyOwn searches the audit log for what the gardenlet has listed and watched.
func (n *nursery) checkReadOnlyOwn() {
	n.t.Helper()
	const own, ref, bastions = "labelSelector=name.seed.gardener.cloud/one=true", "fieldSelector=spec.seedRef.name=one", "fieldSelector=spec.seedName=one"
	want := map[string]string{
		"seeds": own, "shoots": own, "controllerinstallations": ref, "bastions": bastions,
		"secrets":                 "seed-one labelSelector=gardener.cloud/role=default-domain", // once, at the start
		"controllerregistrations": "",                                                          // not cached, and everybody may read them
	}
	got := map[string]string{}
	for _, verb := range []string{"list", "watch"} {
		events, err := auditlog.Search(n.t.Context(), filepath.Join(n.garden.DataDir, "audit"), auditlog.Filter{
			User: "gardener.cloud:system:seed:one", Verb: verb, Limit: 10000,
		})
		if err != nil {
			n.t.Fatal(err)
		}
		for i := range events {
			asked, err := url.Parse(events[i].RequestURI)
			if err != nil || events[i].Object == nil {
				n.t.Fatalf("request %q: %v", events[i].RequestURI, err)
			}
			selectors := slices.DeleteFunc(strings.Split(asked.RawQuery, "&"), func(one string) bool { return !strings.Contains(one, "Selector=") })
			scope, err := url.QueryUnescape(strings.Join(selectors, " "))
			if err != nil {
				n.t.Fatal(err)
			}
			scope = strings.TrimSpace(events[i].Object.Namespace + " " + scope)
			if was, known := got[events[i].Object.Resource]; known && was != scope {
				n.t.Errorf("GLET-REG-7: %s are read as %q and as %q", events[i].Object.Resource, was, scope)
			}
			got[events[i].Object.Resource] = scope
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		n.t.Errorf("GLET-REG-7: what the gardenlet lists and watches in the garden (-want +got):\n%s", diff)
	}
}

// checkWroteOnly searches the audit log for what the gardenlet has written: that and no more. It also reports what has happened, which the
// garden accepts for objects of its seed only.
func (n *nursery) checkWroteOnly(want ...string) {
	n.t.Helper()
	written := map[string]bool{}
	for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
		events, err := auditlog.Search(n.t.Context(), filepath.Join(n.garden.DataDir, "audit"), auditlog.Filter{
			User: "gardener.cloud:system:seed:one", Verb: verb, Limit: 10000,
		})
		if err != nil {
			n.t.Fatal(err)
		}
		for i := range events {
			if o := events[i].Object; o != nil && o.Resource != "events" && o.Resource != "timelinereports" {
				written[strings.TrimPrefix(o.Namespace+"/"+o.Resource+" "+o.Name, "/")] = true
			}
		}
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(written))); diff != "" {
		n.t.Errorf("GLET-BOOT-1: what the gardenlet writes in the garden (-want +got):\n%s", diff)
	}
}
