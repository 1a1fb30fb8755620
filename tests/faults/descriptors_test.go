// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestDescriptors takes all file descriptors of the server by connections that say nothing. Who is connected goes on; new clients wait
// until there are descriptors again, and what was acknowledged is there after the next start.
//
//nolint:paralleltest // It looks at the descriptors of the server.
func TestDescriptors(t *testing.T) {
	const limit = 160
	dir := t.TempDir()
	g := start(t, dir, childDescriptors+"=160")
	mine := note("connected", "1")
	if err := g.clients[0].Create(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	before := g.descriptors(t)
	var silent []net.Conn
	for range 2 * limit {
		silent = append(silent, g.connect(t))
	}
	eventually(t, "the connections take all descriptors", func(context.Context) bool { return g.descriptors(t) >= limit-1 })
	other := g.witness(t, "descriptors")
	for n := range 50 {
		mine.Data["number"] = []byte{byte('0' + n%10)}
		if err := g.clients[0].Update(t.Context(), mine); err != nil {
			t.Fatalf("who is connected goes on: %v", err)
		}
	}
	other.end(t)
	t.Logf("%d descriptors of %d are open, %d before", g.descriptors(t), limit, before)
	for _, conn := range silent {
		conn.Close() //nolint:errcheck // Nothing is lost.
	}
	g.settled(t, before)
	if err := g.clients[1].Get(t.Context(), client.ObjectKeyFromObject(mine), note("", "")); err != nil {
		t.Errorf("a new client is served again: %v", err)
	}
	g.kill()
	again := start(t, dir)
	if diff := cmp.Diff(map[string]string{"connected": "9"}, again.notes(t.Context(), t)); diff != "" {
		t.Errorf("the acknowledged change is there after the next start (-want +got):\n%s", diff)
	}
}
