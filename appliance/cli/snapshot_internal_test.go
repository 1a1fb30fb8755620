// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

// slowGarden answers as a server does that takes long for a snapshot.
type slowGarden struct {
	// creation is the answer to the creation.
	creation *apierrors.StatusError
	// complete is the number of lists after which the snapshot is complete; the one before it is not answered in time.
	complete int32

	creations, lists atomic.Int32
}

func (g *slowGarden) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer any
	named := func(name string) gardenappliancev1alpha1.Snapshot {
		s := gardenappliancev1alpha1.Snapshot{}
		s.Name, s.Status.Objects = name, 7
		return s
	}
	status := http.StatusOK
	refuse := func(err *apierrors.StatusError) {
		is := err.ErrStatus
		is.Kind, is.APIVersion = "Status", "v1"
		status, answer = int(is.Code), is
	}
	switch {
	case r.Method == http.MethodPost:
		g.creations.Add(1)
		refuse(g.creation)
	case path.Base(r.URL.Path) != "snapshots":
		answer = named(path.Base(r.URL.Path))
	default:
		list := gardenappliancev1alpha1.SnapshotList{Items: []gardenappliancev1alpha1.Snapshot{named("before")}}
		switch n := g.lists.Add(1); {
		case n == g.complete-1:
			refuse(apierrors.NewTimeoutError("request did not complete within requested timeout", 0))
		case n >= g.complete:
			list.Items = append([]gardenappliancev1alpha1.Snapshot{named("made")}, list.Items...)
			answer = list
		default:
			answer = list
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // The client sees it.
}

func (g *slowGarden) take(t *testing.T, patience time.Duration) (*gardenappliancev1alpha1.Snapshot, error) {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	client, err := newApplianceClient(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return (&snapshotTaking{client: client, patience: patience, pause: time.Millisecond}).run(t.Context())
}

// TestSlowSnapshot waits for a snapshot that takes longer than the API server lets a request take, and asks for one only.
func TestSlowSnapshot(t *testing.T) {
	t.Parallel()
	timeout := apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	for name, creation := range map[string]*apierrors.StatusError{
		"Timeout": timeout, "GivenUp": apierrors.NewInternalError(errors.New("context deadline exceeded")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &slowGarden{creation: creation, complete: 5}
			made, err := g.take(t, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			want := &gardenappliancev1alpha1.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "made"}}
			want.Status.Objects = 7
			if diff := cmp.Diff(want, made); diff != "" {
				t.Errorf("snapshot (-want +got):\n%s", diff)
			}
			if n := g.creations.Load(); n != 1 {
				t.Errorf("%d snapshots were asked for", n)
			}
		})
	}
	t.Run("Never", func(t *testing.T) {
		t.Parallel()
		g := &slowGarden{creation: timeout, complete: 1 << 30}
		made, err := g.take(t, 100*time.Millisecond)
		if diff := cmp.Diff(errSnapshotLate, err, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("got %+v; error (-want +got):\n%s", made, diff)
		}
	})
	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		g := &slowGarden{creation: apierrors.NewInternalError(errors.New("no space left")), complete: 1 << 30}
		if made, err := g.take(t, time.Minute); !apierrors.IsInternalError(err) || g.lists.Load() != 1 {
			t.Errorf("got %+v, %v after %d lists", made, err, g.lists.Load())
		}
	})
}

// TestEarlierState warns of what is valid again in an earlier state, and only then.
func TestEarlierState(t *testing.T) {
	t.Parallel()
	if text := restoreWarning(backup.Restored{}); text != "" {
		t.Errorf("The newest state: %q", text)
	}
	text := restoreWarning(backup.Restored{Earlier: true})
	for _, want := range []string{"Warning:", "terrarium seed revoked", "terrarium seed revoke", "terrarium token list"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q says nothing of %q", text, want)
		}
	}
}

// TestVerifyInterrupted reads a file after the user has ended the command.
func TestVerifyInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := newKey(t)
	file := filepath.Join(dir, "large"+backup.Extension)
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, backup.KeyFile), []byte(key.String()), 0o600), os.WriteFile(file, make([]byte, 1<<16), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context) error {
		o := &snapshotVerifyOptions{files: snapshotFiles{dataDir: dir}, what: file}
		return o.run(ctx)
	}
	if err := run(t.Context()); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("The file is read: %v", err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if diff := cmp.Diff(context.Canceled, run(ctx), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("A file is not called damaged that was not read (-want +got):\n%s", diff)
	}
}

// TestVerifyInterruptedLater ends the command while a file is read.
func TestVerifyInterruptedLater(t *testing.T) {
	t.Parallel()
	own, other := newKey(t), newKey(t)
	var sealed bytes.Buffer
	to, err := age.Encrypt(&sealed, other.Recipient())
	if err == nil {
		_, err = to.Write(make([]byte, 1<<20))
	}
	if err := errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	footer := fmt.Appendf(nil, `{"manifest":{},"payloadBytes":%d}`, sealed.Len())
	footer = append(binary.BigEndian.AppendUint32(footer, uint32(len(footer))), "TERRSNP1"...)
	sealed.Write(footer)

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	f := &countedFile{Reader: bytes.NewReader(sealed.Bytes()), each: func(reads int) {
		if reads == 6 {
			interrupt()
		}
	}}
	if _, err := verify(ctx, f, backup.Keys{Identities: []age.Identity{own}}); !errors.Is(err, context.Canceled) || f.reads != 6 {
		t.Errorf("verify(...) = %v after %d reads, want 6", err, f.reads)
	}
}

func newKey(t *testing.T) *age.X25519Identity {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// countedFile is a file in memory whose reads are countedFile.
type countedFile struct {
	*bytes.Reader

	reads int
	each  func(reads int)
}

func (f *countedFile) ReadAt(p []byte, offset int64) (int, error) {
	f.reads++
	f.each(f.reads)
	return f.Reader.ReadAt(p, offset)
}

func (*countedFile) Close() error { return nil }
