// SPDX-License-Identifier: Apache-2.0

package dnsrecord_test

import (
	"context"
	"errors"
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
)

// TestSlowCluster: the records of one shoot are written one after the other, and those of others do not wait for them.
func TestSlowCluster(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan string), make(chan error)
	actor := &dnsrecord.Actor{Cloud: func(_ context.Context, namespace string) (cloud.Cloud, error) {
		asked <- namespace
		return cloud.Cloud{}, <-answer
	}}
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
