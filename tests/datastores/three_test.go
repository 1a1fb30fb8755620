// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestThreeServers has three servers on one datastore and loses two of them, one after the other, while clients write at all addresses: exactly
// one of those that are left takes the lead, and the other one follows it, also when keys change.
func TestThreeServers(t *testing.T) {
	t.Parallel()
	endpoint := newPostgres(t, nil).endpoint("three")
	first, second := two(t, endpoint)
	third := newMember(t, filepath.Join(t.TempDir(), "third"))
	join(t, first, third)
	third.run(t, endpoint)
	third.await(t, saysStandby, harness.Patience)
	w := startPacedWriters(t, writersPace, first, second, third)
	for _, m := range []*member{first, second, third} {
		w.await(t, m, 20)
	}

	first.end(t, syscall.SIGKILL)
	lost := time.Now()
	leads, follows := oneLeads(t, second, third)
	works(t, leads, "first-lost", lost)
	w.await(t, leads, w.count(leads)+20)
	w.await(t, follows, w.count(follows)+20)
	w.check(t, follows)

	// The keys change while one server is off.
	before := contents(t, follows)
	rotate(t, leads, "serviceAccountKey", "start", "")
	rotate(t, leads, "serviceAccountKey", "complete", "")
	awaitCertificates(t, leads, "one server leads, one stands by, and one is off", func(is *certificatesNow) error {
		got := map[string]int{"known": len(is.Servers)}
		for _, s := range is.Servers {
			if s.Leads {
				got["lead"]++
			}
			if s.Runs {
				got["run"]++
			}
		}
		if diff := cmp.Diff(map[string]int{"known": 3, "lead": 1, "run": 2}, got); diff != "" {
			return fmt.Errorf("servers (-want +got):\n%s", diff)
		}

		return nil
	})
	awaitHolders(t, leads)
	alike(t, leads, follows)
	if is := contents(t, follows); string(is["pki/service-account.key"]) == string(before["pki/service-account.key"]) {
		t.Error("The server that follows has the new key: it has not.")
	}

	leads.end(t, syscall.SIGKILL)
	follows.await(t, saysReady, takeOver+10*time.Second)
	served(t, follows)
	w.await(t, follows, w.count(follows)+20)
	w.stop()
	w.check(t, follows)
}

// oneLeads waits until one of two servers has taken the lead and the other one stands by for it.
func oneLeads(t *testing.T, a, b *member) (leads, follows *member) {
	t.Helper()
	limit := time.NewTimer(takeOver)
	defer limit.Stop()
	said := map[*member]string{}
	hear := func(m *member, text string, open bool) {
		if !open {
			t.Fatalf("server %s has ended", m.address)
		}
		said[m] = text
	}
	for {
		select {
		case text, open := <-a.says:
			hear(a, text, open)
		case text, open := <-b.says:
			hear(b, text, open)
		case <-limit.C:
			t.Fatalf("One of two servers takes the lead within %s: %s said %q, %s said %q", takeOver, a.address, said[a], b.address, said[b])
		}
		switch {
		case said[a] == saysReady && said[b] == saysReady:
			t.Fatal("Two servers lead.")
		case said[a] == saysReady && said[b] == saysStandby:
			return a, b
		case said[b] == saysReady && said[a] == saysStandby:
			return b, a
		}
	}
}
