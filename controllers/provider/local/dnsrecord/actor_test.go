// SPDX-License-Identifier: Apache-2.0

package dnsrecord_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// serve gives a cluster a name server for the zone test.
func serve(t *testing.T, cluster client.Client) {
	t.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kube-system", Name: "local-dns", Annotations: map[string]string{"local.provider.extensions.gardener.cloud/dns-zones": "test"},
	}}
	if err := cluster.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}

// data is that of a ConfigMap, none if there is no such object.
func data(t *testing.T, cluster client.Client, namespace, name string) map[string]string {
	t.Helper()
	config := &corev1.ConfigMap{}
	if err := client.IgnoreNotFound(cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, config)); err != nil {
		t.Fatal(err)
	}
	return config.Data
}

// ofShoot is a DNSRecord in the namespace of the shoot, which is in the seed.
func ofShoot(t *testing.T, p *cloudtest.Place, name string, kind gardenextensionsv1alpha1.DNSRecordType, value string) *gardenextensionsv1alpha1.DNSRecord {
	t.Helper()
	r := record(name, kind, value)
	r.Namespace, r.Name = cloudtest.Namespace, "sprout-internal"
	if err := p.Create(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func actorIn(p *cloudtest.Place) *dnsrecord.Actor {
	return &dnsrecord.Actor{Access: engine.Access{
		Reader: p, Seed: deploy.Engine{Client: p, Owner: engine.Name, Clock: clocktesting.NewFakeClock(metav1.Now().Time)},
	}, Cloud: p.Clouds.Of}
}

// TestNameServers: records are with every name server that there is, and in the hosts file of machines that have none.
func TestNameServers(t *testing.T) {
	t.Parallel()
	const entry, line = `{"name":"api.sprout.test","type":"A","ttl":120,"values":["10.99.1.1"]}`, "10.99.1.1\tapi.sprout.test\n"
	key := cloudtest.Namespace + ".sprout-internal"
	served := map[string]string{key: entry}
	cases := map[string]struct {
		reason            string
		apart, seed, away bool
		forbidden         bool
		zone, hosts       string
		// asked are the records of the two servers.
		asked, askedAway map[string]string
	}{
		"None":      {reason: "without a name server there is a file", zone: "local", hosts: line},
		"Seed":      {reason: "machines in the seed ask the server of the seed", seed: true, zone: "test", asked: served},
		"OnlySeed":  {reason: "machines elsewhere cannot", apart: true, seed: true, zone: "test", hosts: line, asked: served},
		"OnlyAway":  {reason: "they ask their own, and pods of the seed have none", apart: true, away: true, zone: "test", askedAway: served},
		"Both":      {reason: "two clusters have two servers", apart: true, seed: true, away: true, zone: "test", asked: served, askedAway: served},
		"Forbidden": {reason: "a server that the user has no right to is none", apart: true, seed: true, away: true, forbidden: true, zone: "test", hosts: line, asked: served},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kubeconfig := ""
			if tc.apart {
				kubeconfig = cloudtest.Kubeconfig
			}
			p := cloudtest.New(t, kubeconfig)
			if tc.seed {
				serve(t, p)
			}
			if tc.away {
				serve(t, p.Other)
			}
			other := p.Other
			if tc.forbidden {
				p.Other = closed(other)
			}
			if err := p.Find(t).Claim(t.Context()); err != nil {
				t.Fatal(err)
			}
			machines := map[bool]client.Client{false: p, true: other}[tc.apart]
			object, actor := ofShoot(t, p, "api.sprout.test", "A", "10.99.1.1"), actorIn(p)
			for range 2 {
				if err := actor.Reconcile(t.Context(), object, nil); err != nil {
					t.Fatal(err)
				}
			}
			if got := *object.Status.Zone; got != tc.zone {
				t.Errorf("%s\nthe zone is %q, want %q", tc.reason, got, tc.zone)
			}
			if diff := cmp.Diff(dnsrecord.Hosts(nil)+tc.hosts, data(t, machines, cloudtest.Namespace, "dns-records")["hosts"]); diff != "" {
				t.Errorf("%s\nhosts file (-want +got):\n%s", tc.reason, diff)
			}
			compare := func(asked, away map[string]string) {
				t.Helper()
				if diff := cmp.Diff([]map[string]string{asked, away}, []map[string]string{data(t, p, "kube-system", "local-dns"), data(t, other, "kube-system", "local-dns")}); diff != "" {
					t.Errorf("%s\nrecords of the seed and of the other cluster (-want +got):\n%s", tc.reason, diff)
				}
			}
			compare(tc.asked, tc.askedAway)
			// Where a shoot goes, the next seed has the record; what the machines have stays.
			if err := actor.Migrate(t.Context(), object, nil); err != nil {
				t.Fatal(err)
			}
			compare(nil, tc.askedAway)
			if err := errors.Join(actor.Reconcile(t.Context(), object, nil), p.Delete(t.Context(), object), actor.Delete(t.Context(), object, nil)); err != nil {
				t.Fatal(err)
			}
			compare(nil, nil)
			if diff := cmp.Diff(dnsrecord.Hosts(nil), data(t, machines, cloudtest.Namespace, "dns-records")["hosts"]); diff != "" {
				t.Errorf("%s\nhosts file after the deletion (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// closed is a cluster whose user has no right to the name server.
func closed(cluster client.Client) client.Client {
	writable, _ := cluster.(client.WithWatch)
	return interceptor.NewClient(writable, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if key.Name == "local-dns" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, key.Name, errors.New("not yours"))
			}
			return c.Get(ctx, key, obj, options...)
		},
	})
}

// TestForcedDeletion: a cluster that is gone does not keep a shoot that is deleted by force, but its names are free again.
func TestForcedDeletion(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, "")
	serve(t, p)
	object, actor := ofShoot(t, p, "api.sprout.test", "A", "10.99.1.1"), actorIn(p)
	if err := actor.Reconcile(t.Context(), object, nil); err != nil {
		t.Fatal(err)
	}
	actor.Cloud = func(context.Context, string) (cloud.Cloud, error) { return cloud.Cloud{}, errors.New("down") }
	cluster, err := engine.ReadCluster(t.Context(), p, cloudtest.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if err := actor.Delete(t.Context(), object, cluster); err == nil {
		t.Error("the deletion does not wait for the cluster of the machines")
	}
	cluster.Shoot.DeletionTimestamp, cluster.Shoot.Annotations = new(metav1.Now()), map[string]string{"confirmation.gardener.cloud/force-deletion": "true"}
	if err := actor.Delete(t.Context(), object, cluster); err != nil {
		t.Errorf("Delete(...) = %v although it is forced", err)
	}
	if left := data(t, p, "kube-system", "local-dns"); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestWithoutServer: what a hosts file cannot have is an error without a name server, and none with one.
func TestWithoutServer(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]gardenextensionsv1alpha1.DNSRecordType{"*.in.sprout.test": "A", "www.sprout.test": "CNAME"} {
		value := map[gardenextensionsv1alpha1.DNSRecordType]string{"A": "10.99.1.1", "CNAME": "lb.example.org"}[kind]
		p := cloudtest.New(t, "")
		object, actor := ofShoot(t, p, name, kind, value), actorIn(p)
		if err := actor.Reconcile(t.Context(), object, nil); len(operation.Codes(err)) == 0 {
			t.Errorf("%s: Reconcile(...) = %v without a name server, want a configuration problem", name, err)
		}
		serve(t, p)
		if err := actor.Reconcile(t.Context(), object, nil); err != nil {
			t.Errorf("%s: Reconcile(...) = %v with a name server", name, err)
		}
	}
}

// TestSlowCluster: the records of one shoot are written one after the other, and those of others do not wait for them.
func TestSlowCluster(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan string), make(chan error)
	actor := &dnsrecord.Actor{Access: engine.Access{Seed: deploy.Engine{Clock: clocktesting.NewFakeClock(metav1.Now().Time)}}}
	actor.Cloud = func(_ context.Context, namespace string) (cloud.Cloud, error) {
		asked <- namespace
		return cloud.Cloud{}, <-answer
	}
	run := func(namespace string) error {
		r := record("api.sprout", "A", "10.99.1.1")
		r.Namespace = namespace
		return actor.Reconcile(t.Context(), &r, nil)
	}
	ended := make(chan error)
	for _, namespace := range []string{"slow", "other"} {
		go func() { ended <- run(namespace) }()
		if got := <-asked; got != namespace {
			t.Fatalf("the cluster of %q is asked, want that of %q", got, namespace)
		}
	}
	if reason, waits := kit.WaitReason(run("slow")); !waits || reason != "Waiting for another record of the shoot" {
		t.Errorf("the second record of a shoot waits: %t, %q", waits, reason)
	}
	down := errors.New("down")
	for range 2 {
		answer <- down
		if err := <-ended; !errors.Is(err, down) {
			t.Errorf("Reconcile(...) = %v", err)
		}
	}
	go func() { ended <- run("slow") }()
	<-asked
	answer <- down
	if err := <-ended; !errors.Is(err, down) {
		t.Errorf("Reconcile(...) = %v when the first has ended", err)
	}
}

// TestZone_EXT_DNS_4: a zone that was found once stays, unless the record names another one.
func TestZone_EXT_DNS_4(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		given, found *string
		want         string
	}{
		"Found": {want: "local"},
		"Kept":  {found: new("former"), want: "former"},
		"Given": {given: new("mine"), found: new("former"), want: "mine"},
	} {
		r := record("api.sprout", "A", "10.99.1.1")
		r.Spec.Zone, r.Status.Zone = tc.given, tc.found
		if got := dnsrecord.Zone(&r); got != tc.want {
			t.Errorf("%s: the record is in zone %q, want %q", name, got, tc.want)
		}
	}
}

// TestCreated_EXT_DNS_6 follows one record: it is refused, then nobody knows, then it is there, and stays so when it cannot be changed.
func TestCreated_EXT_DNS_6(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, "")
	object, actor := ofShoot(t, p, "www.sprout.test", "CNAME", "lb.example.org"), actorIn(p)
	find := actor.Cloud
	down := func(context.Context, string) (cloud.Cloud, error) { return cloud.Cloud{}, errors.New("down") }
	for _, step := range []struct {
		reason string
		do     func()
		fails  bool
		want   string
	}{
		{"a hosts file has no aliases", func() {}, true, "False RecordRefused"},
		{"the cluster does not answer", func() { actor.Cloud = down }, true, "Unknown RecordUnknown"},
		{"there is a name server now", func() { actor.Cloud = find; serve(t, p) }, false, "True RecordCreated"},
		{"the cluster does not answer again", func() { actor.Cloud = down }, true, "True RecordCreated"},
	} {
		step.do()
		if err := actor.Reconcile(t.Context(), object, nil); (err != nil) != step.fails {
			t.Fatalf("%s: Reconcile(...) = %v", step.reason, err)
		}
		got := ""
		for _, c := range object.Status.Conditions {
			got += string(c.Type) + " " + string(c.Status) + " " + c.Reason
		}
		if diff := cmp.Diff("Created "+step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}
