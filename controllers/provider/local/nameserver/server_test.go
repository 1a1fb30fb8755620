// SPDX-License-Identifier: Apache-2.0

package nameserver_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/nameserver"
)

// object is a DNSRecord. The place is a namespace and a name.
func object(place, name string, kind gardenextensionsv1alpha1.DNSRecordType, values ...string) *gardenextensionsv1alpha1.DNSRecord {
	o := &gardenextensionsv1alpha1.DNSRecord{}
	o.Namespace, o.Name, _ = strings.Cut(place, "/")
	o.Spec.Type, o.Spec.Name, o.Spec.RecordType, o.Spec.Values = "local", name, kind, values
	return o
}

// server is that of a cluster that serves the zones, none if there are none. Of the DNSRecords, those in namespaces that begin with "gone"
// do not exist any more.
func server(zones string, data map[string]string) (nameserver.Server, client.Client) {
	builder := fake.NewClientBuilder()
	if zones != "" {
		builder.WithObjects(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "local-dns", Annotations: map[string]string{"local.provider.extensions.gardener.cloud/dns-zones": zones}},
			Data:       data,
		})
	}
	cluster := builder.Build()
	return nameserver.Server{Reader: cluster, Writer: cluster, Exists: func(_ context.Context, key client.ObjectKey) (bool, error) {
		return !strings.HasPrefix(key.Namespace, "gone"), nil
	}}, cluster
}

func records(t *testing.T, cluster client.Client) []nameserver.Record {
	t.Helper()
	config := &corev1.ConfigMap{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "local-dns"}, config); err != nil {
		t.Fatal(err)
	}
	return nameserver.Records(config)
}

// TestLife follows a record: it appears, becomes one of another type, and goes.
func TestLife(t *testing.T) {
	t.Parallel()
	s, cluster := server("test", nil)
	mine, other := object("shoot--a/api", "API.a.test.", "A", "10.0.0.1", "10.0.0.1"), object("shoot--b/api", "api.b.test", "A", "10.0.0.2")
	for range 2 {
		for _, o := range []*gardenextensionsv1alpha1.DNSRecord{mine, other} {
			if zone, err := s.Publish(t.Context(), o); zone != "test" || err != nil {
				t.Fatalf("Publish(...) = %q, %v", zone, err)
			}
		}
	}
	theirs := nameserver.Record{Name: "api.b.test", Type: "A", TTL: 120, Values: []string{"10.0.0.2"}}
	if diff := cmp.Diff([]nameserver.Record{{Name: "api.a.test", Type: "A", TTL: 120, Values: []string{"10.0.0.1"}}, theirs}, records(t, cluster)); diff != "" {
		t.Errorf("records of two shoots (-want +got):\n%s", diff)
	}
	mine.Spec.RecordType, mine.Spec.Values, mine.Spec.TTL = "CNAME", []string{"LB.example.org."}, new(int64(30))
	if _, err := s.Publish(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]nameserver.Record{{Name: "api.a.test", Type: "CNAME", TTL: 30, Values: []string{"lb.example.org"}}, theirs}, records(t, cluster)); diff != "" {
		t.Errorf("records after a change of the type (-want +got):\n%s", diff)
	}
	for range 2 {
		if served, err := s.Withdraw(t.Context(), mine); !served || err != nil {
			t.Fatalf("Withdraw(...) = %t, %v", served, err)
		}
	}
	if diff := cmp.Diff([]nameserver.Record{theirs}, records(t, cluster)); diff != "" {
		t.Errorf("records without the one that went (-want +got):\n%s", diff)
	}
}

// TestNoServer: where there is no server, nothing is written and nothing is refused.
func TestNoServer(t *testing.T) {
	t.Parallel()
	s, cluster := server("", nil)
	o := object("shoot--a/api", "*.example.org", "SRV", "nothing that makes sense")
	if zone, err := s.Publish(t.Context(), o); zone != "" || err != nil {
		t.Errorf("Publish(...) = %q, %v", zone, err)
	}
	if served, err := s.Withdraw(t.Context(), o); served || err != nil {
		t.Errorf("Withdraw(...) = %t, %v", served, err)
	}
	list := &corev1.ConfigMapList{}
	if err := cluster.List(t.Context(), list); err != nil || len(list.Items) > 0 {
		t.Errorf("written were %v, %v", list.Items, err)
	}
}

func TestPublish_EXT_DNS_4(t *testing.T) {
	t.Parallel()
	const held = `{"name":%q,"type":"A","ttl":1,"values":["10.0.0.9"]}`
	with := func(o *gardenextensionsv1alpha1.DNSRecord, given, found string) *gardenextensionsv1alpha1.DNSRecord {
		if given != "" {
			o.Spec.Zone = &given
		}
		if found != "" {
			o.Status.Zone = &found
		}
		return o
	}
	a := func(name string) *gardenextensionsv1alpha1.DNSRecord {
		return object("shoot--a/api", name, "A", "10.0.0.1")
	}
	cases := map[string]struct {
		reason string
		object *gardenextensionsv1alpha1.DNSRecord
		// holder has the name held.
		holder, held string
		zone, want   string
	}{
		"Longest":         {reason: "the longest zone is taken", object: a("api.sub.test"), zone: "sub.test"},
		"Shorter":         {reason: "a zone ends at a dot", object: a("api.mysub.test"), zone: "test"},
		"Given":           {reason: "a given zone wins", object: with(a("api.sub.test"), "test.", ""), zone: "test"},
		"GivenPart":       {reason: "a part of a zone may be given", object: with(a("api.sub.test"), "sub.test", "test"), zone: "sub.test"},
		"Kept":            {reason: "the zone that was found once stays", object: with(a("api.sub.test"), "", "test"), zone: "test"},
		"Former":          {reason: "one from before there was a server does not", object: with(a("api.sub.test"), "", "local"), zone: "sub.test"},
		"Outside":         {reason: "names of the internet are not taken over", object: a("api.github.com"), want: "no zone for the name, only example, sub.test, test"},
		"Cluster":         {reason: "nor are those of the cluster", object: a("kubernetes.default.svc.cluster.local"), want: "no zone for the name"},
		"Apex":            {reason: "a zone itself belongs to nobody", object: a("test"), want: "no zone for the name"},
		"OutsideGiven":    {reason: "a name is in its zone", object: with(a("api.sub.test"), "example", ""), want: `not in the zone "example"`},
		"GivenElsewhere":  {reason: "a given zone has to be served", object: with(a("api.sub.test"), "api.sub.test.", ""), want: `not in the zone`},
		"AboveAllZones":   {reason: "a zone above those served is not", object: with(object("shoot--a/api", "x.sub.test", "A", "10.0.0.1"), "st", ""), want: "not in the zone"},
		"Taken":           {reason: "a name has one owner", object: a("API.test"), holder: "shoot--b.api", held: "api.test", want: `another record has the name "api.test"`},
		"TakenBySelf":     {reason: "also within a shoot", object: a("api.test"), holder: "shoot--a.other", held: "api.test", want: "another record"},
		"TakenByGone":     {reason: "what is gone has no names", object: a("api.test"), holder: "gone.api", held: "api.test", zone: "test"},
		"BelowWildcard":   {reason: "a wildcard has all names below it", object: a("api.b.test"), holder: "shoot--b.in", held: "*.b.test", want: `another record has the name "*.b.test"`},
		"AboveNames":      {reason: "a wildcard takes no names of others", object: a("*.b.test"), holder: "shoot--b.api", held: "api.b.test", want: "another record"},
		"OverWildcard":    {reason: "nor their wildcards", object: a("*.test"), holder: "shoot--b.in", held: "*.b.test", want: "another record"},
		"OwnWildcard":     {reason: "a shoot may have names below its own wildcard", object: a("api.b.test"), holder: "shoot--a.in", held: "*.b.test", zone: "test"},
		"BesideWildcard":  {reason: "a wildcard ends at a dot", object: a("api.ab.test"), holder: "shoot--b.in", held: "*.b.test", zone: "test"},
		"AboveWildcard":   {reason: "a wildcard does not have the name that it is below", object: a("b.test"), holder: "shoot--b.in", held: "*.b.test", zone: "test"},
		"Address":         {reason: "an address fits the type", object: object("shoot--a/api", "a.test", "AAAA", "10.0.0.1"), want: "not an address for the type AAAA"},
		"Alias":           {reason: "an alias leads to one name", object: object("shoot--a/api", "a.test", "CNAME", "b.test", "c.test"), want: "leads to one name"},
		"AliasTarget":     {reason: "which is the name of a host", object: object("shoot--a/api", "a.test", "CNAME", "b.test\nc.test"), want: "not the name of a host"},
		"Name":            {reason: "so is the name of the record", object: a("a b.test"), want: "not the name of a host"},
		"InnerWildcard":   {reason: "a wildcard is the first label", object: a("a.*.test"), want: "not the name of a host"},
		"Type":            {reason: "other types are not served", object: object("shoot--a/api", "a.test", "SRV", "x"), want: `the type is "SRV"`},
		"TooMany":         {reason: "one record does not fill the object", object: object("shoot--a/api", "a.test", "TXT", numbers(65)...), want: "it has 65 values"},
		"TooLong":         {reason: "nor does one text", object: object("shoot--a/api", "a.test", "TXT", strings.Repeat("x", 16<<10+1)), want: "16385 bytes"},
		"BrokenNeighbour": {reason: "what cannot be read takes no name", object: a("api.test"), holder: "shoot--b.api", held: "api test", zone: "test"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := map[string]string{}
			if tc.holder != "" {
				data[tc.holder] = fmt.Sprintf(held, tc.held)
			}
			s, cluster := server("test, sub.test,example", data)
			zone, err := s.Publish(t.Context(), tc.object)
			if zone != tc.zone || (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Fatalf("%s\nPublish(...) = %q, %v; want %q, %q", tc.reason, zone, err, tc.zone, tc.want)
			}
			if err != nil && (len(operation.Codes(err)) == 0 || strings.Contains(err.Error(), "shoot--b")) {
				t.Errorf("%s\nthe error has codes %v and must not name another shoot: %v", tc.reason, operation.Codes(err), err)
			}
			want := 0
			if tc.holder != "" && !strings.HasPrefix(tc.holder, "gone") && name != "BrokenNeighbour" {
				want++
			}
			if err == nil {
				want++
			}
			if got := records(t, cluster); len(got) != want {
				t.Errorf("%s\nthere are %d records, want %d: %v", tc.reason, len(got), want, got)
			}
		})
	}
}

func numbers(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

// meeting is a cluster in which nobody goes on with what was read before so many have come to read. Later readers do not wait.
func meeting(cluster client.Client, many int32) client.Reader {
	var come atomic.Int32
	all := make(chan struct{})
	writable, _ := cluster.(client.WithWatch)
	return interceptor.NewClient(writable, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, obj, options...)
			if come.Add(1) == many {
				close(all)
			}
			<-all
			return err
		},
	})
}

// TestManyAtOnce: many write at the same time. None is lost, and of those who want the same name one gets it.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s, cluster := server("test", nil)
	const each = 8
	s.Reader = meeting(cluster, 2*each)
	won, lost := make(chan string, 2*each), make(chan error, 2*each)
	var wait sync.WaitGroup
	publish := func(o *gardenextensionsv1alpha1.DNSRecord) {
		for {
			_, err := s.Publish(t.Context(), o)
			if _, again := kit.WaitReason(err); again {
				continue
			}
			if err != nil {
				lost <- err
			} else {
				won <- o.Spec.Name
			}
			return
		}
	}
	for i := range each {
		wait.Go(func() {
			publish(object(fmt.Sprintf("shoot--%d/own", i), fmt.Sprintf("api.%d.test", i), "A", "10.0.0.1"))
		})
		wait.Go(func() { publish(object(fmt.Sprintf("shoot--%d/same", i), "same.test", "A", "10.0.0.1")) })
	}
	wait.Wait()
	if len(won) != each+1 || len(lost) != each-1 || len(records(t, cluster)) != each+1 {
		t.Errorf("%d records were written and %d refused, want %d and %d; there are %d", len(won), len(lost), each+1, each-1, len(records(t, cluster)))
	}
}
