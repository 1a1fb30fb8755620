// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// shared is what servers of a garden have in common.
type shared struct {
	world

	published *identity.Sealed
	refuse    error
}

func (s *shared) publish(from identity.Generation, to identity.Sealed) error {
	if s.refuse != nil {
		return s.refuse
	}
	if s.published == nil || s.published.Generation != from {
		return errors.New("it is not the generation after the last one")
	}
	s.published = &to

	return nil
}

// leads makes a server the one that changes keys, as it is done before it serves.
func (s *shared) leads(t *testing.T, g *identity.Garden) {
	t.Helper()
	var published *identity.Generation
	if s.published != nil {
		s.takeUp(t, g, false)
		published = &s.published.Generation
	}
	own, err := g.Sharing.Proposal(published)
	if err != nil {
		t.Fatalf("Proposal(): %v", err)
	}
	if own != nil {
		s.published = own
		if err := g.Sharing.Hold(own.Generation); err != nil {
			t.Fatalf("Hold(): %v", err)
		}
	}
	g.Sharing.Share(s.publish)
}

func (s *shared) takeUp(t *testing.T, g *identity.Garden, running bool) {
	t.Helper()
	if _, err := g.Sharing.TakeUp(*s.published, running, s.clk.Now()); err != nil {
		t.Fatalf("TakeUp(generation %d): %v", s.published.Number, err)
	}
}

// other makes a server from a bundle of the first one.
func (s *shared) other(t *testing.T) *identity.Garden {
	t.Helper()
	files, err := identity.Shared(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "other")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Adopt(dir, files, false, s.clk); err != nil {
		t.Fatal(err)
	}

	return s.open(t, dir)
}

// open starts a server whose objects are in an external datastore.
func (s *shared) open(t *testing.T, dir string) *identity.Garden {
	t.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o700), identity.SetDatastorePlace(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	g, err := identity.Ensure(dir, names(), s.clk)
	if err != nil {
		t.Fatalf("Ensure(%q): %v", dir, err)
	}
	t.Cleanup(func() { _ = g.Close() })

	return g
}

// same compares what two servers use.
func same(t *testing.T, reason string, a, b *identity.Garden) {
	t.Helper()
	bundle, issuer := a.Authorities.Marks()
	otherBundle, otherIssuer := b.Authorities.Marks()
	if bundle != otherBundle || issuer != otherIssuer || a.ServiceAccount.Keys().ID != b.ServiceAccount.Keys().ID || a.ServiceAccount.Keys().Rotating() != b.ServiceAccount.Keys().Rotating() ||
		!bytes.Equal(a.WorkloadIdentity.Keys().KeySet, b.WorkloadIdentity.Keys().KeySet) || !bytes.Equal(a.Authorities.ServingAuthority(), b.Authorities.ServingAuthority()) {
		t.Errorf("%s: the servers have different keys", reason)
	}
	for _, file := range []string{"encryption.yaml", "client-ca.key", "server-ca.key", "service-account.key", "bundle.key"} {
		is, err := os.ReadFile(filepath.Join(a.Dir, "pki", file))
		other, otherErr := os.ReadFile(filepath.Join(b.Dir, "pki", file))
		if err := errors.Join(err, otherErr); err != nil || !bytes.Equal(is, other) {
			t.Errorf("%s: %s differs: %v", reason, file, err)
		}
	}
}

// steps are all changes of keys, from the start of each rotation to its end.
func steps(s *shared) []func(*identity.Garden) error {
	now := s.clk.Now()
	steps := []func(*identity.Garden) error{
		func(g *identity.Garden) error { return g.Changes.StartTokenKeyRotation(now) },
		func(g *identity.Garden) error {
			return g.Changes.CompleteTokenKeyRotation(g.ServiceAccount.Keys().ID, now)
		},
		func(g *identity.Garden) error { return g.Changes.StartWorkloadIdentityRotation(now) },
		func(g *identity.Garden) error {
			return g.Changes.CompleteWorkloadIdentityRotation(g.WorkloadIdentity.Keys().ID, now)
		},
		func(g *identity.Garden) error { return g.Changes.StartAuthorityRotation(now) },
		func(g *identity.Garden) error { return g.Changes.NoteAuthoritiesSaved(now) },
		func(g *identity.Garden) error { return g.Changes.SwitchAuthorities(now) },
		func(g *identity.Garden) error { return g.Changes.ForgetAuthorities(now) },
		func(g *identity.Garden) error { return g.Changes.EndAuthorityRotation(now) },
		func(g *identity.Garden) error { return g.Changes.StartEncryptionRotation(now) },
	}
	for _, step := range []identity.EncryptionStep{
		identity.EncryptionAdd, identity.EncryptionWrite, identity.EncryptionRewrite, identity.EncryptionRemove, identity.EncryptionEnd,
	} {
		steps = append(steps, func(g *identity.Garden) error { return g.Changes.AdvanceEncryptionRotation(step, now) })
	}

	return steps
}

// TestSharedRotations makes each step of each rotation on the server that leads, and has two others take it up: one at once, and one that
// was off until the end (OPER-ROT-1).
func TestSharedRotations(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second, third := s.other(t), s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	for i, step := range steps(s) {
		before := s.published.Generation
		if err := step(first); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if s.published.Number != before.Number+1 {
			t.Fatalf("step %d: generation %d follows %d", i, s.published.Number, before.Number)
		}
		s.takeUp(t, second, false)
		same(t, "after a step", first, second)
	}
	if err := first.Changes.ContinueAuthorityRotation(s.clk.Now()); err != nil || s.published.Number != int64(len(steps(s)))+1 {
		t.Errorf("What changes nothing is not published: generation %d, %v", s.published.Number, err)
	}
	s.takeUp(t, third, false)
	same(t, "after all", first, third)
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "after a restart", first, s.open(t, third.Dir))
}

// TestPublishedBeforeUse ends the server that leads at the moment in which a step is published: it has not used anything that others
// cannot have, and has it itself when it starts again. A step that is not published is not made.
func TestPublishedBeforeUse(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for i := range steps(&shared{world: newWorld(t)}) {
		s := &shared{world: newWorld(t)}
		first := s.open(t, s.dir)
		second := s.other(t)
		s.leads(t, first)
		all := steps(s)
		for _, step := range all[:i] {
			if err := step(first); err != nil {
				t.Fatal(err)
			}
		}
		s.takeUp(t, second, false)
		s.refuse = killed
		if err := all[i](first); !errors.Is(err, killed) {
			t.Fatalf("step %d: got %v, want %v", i, err, killed)
		}
		same(t, "what was not published is not used", first, second)
		s.refuse = nil
		first.Sharing.Share(func(from identity.Generation, to identity.Sealed) error {
			return errors.Join(s.publish(from, to), killed)
		})
		if err := all[i](first); !errors.Is(err, killed) {
			t.Fatalf("step %d: got %v, want %v", i, err, killed)
		}
		same(t, "what was published is not used before that is known", first, second)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		s.leads(t, second)
		first = s.open(t, s.dir)
		s.takeUp(t, first, false)
		same(t, "both have what was published", first, second)
		if i+1 < len(all) {
			if err := all[i+1](second); err != nil {
				t.Errorf("The other one goes on with step %d: %v", i+1, err)
			}
		}
	}
}

// TestNewSealingKey removes the key of the bundle on the server that leads, such as after a bundle was stolen: who has the old one cannot
// follow, and is told what to do.
func TestNewSealingKey(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second := s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	if err := errors.Join(first.Close(), os.Remove(filepath.Join(s.dir, "pki", "bundle.key"))); err != nil {
		t.Fatal(err)
	}
	first = s.open(t, s.dir)
	was := s.published.Number
	s.refuses(t, first, "without the key of the bundle")
	if err := errors.Join(first.Close(), identity.AllowPublication(s.dir)); err != nil {
		t.Fatal(err)
	}
	first = s.open(t, s.dir)
	s.leads(t, first)
	if s.published.Number != was+1 {
		t.Fatalf("The keys are published anew: generation %d", s.published.Number)
	}
	if _, err := second.Sharing.TakeUp(*s.published, false, s.clk.Now()); !errors.Is(err, identity.ErrSealed) {
		t.Errorf("The old key opens nothing.\nTakeUp(): got %v, want %v", err, identity.ErrSealed)
	}
	third := s.other(t)
	s.takeUp(t, third, false)
	same(t, "with a new bundle", first, third)
}
