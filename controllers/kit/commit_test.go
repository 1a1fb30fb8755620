// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// patches is a client that records patches and does nothing else.
type patches struct {
	client.Client

	sent []string
	err  error
	// answered is the UID of the object that was written, if that is another one.
	answered types.UID
}

func (p *patches) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return p.record("object", object, patch)
}

func (p *patches) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return gardencorev1beta1.GroupVersion.WithKind("Project"), nil
}

func (p *patches) Status() client.SubResourceWriter { return statusPatches{patches: p} }

func (p *patches) record(part string, object client.Object, patch client.Patch) error {
	data, err := patch.Data(object)
	if err != nil {
		return fmt.Errorf("compute patch: %w", err)
	}
	p.sent = append(p.sent, part+" "+string(data))
	if p.answered != "" {
		object.SetUID(p.answered)
	}
	return p.err
}

type statusPatches struct {
	client.SubResourceWriter

	patches *patches
}

func (s statusPatches) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return s.patches.record("status", object, patch)
}

func project() *gardencorev1beta1.Project {
	return &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "dev", ResourceVersion: "7"}}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(p *gardencorev1beta1.Project)
		object bool
		want   []string
		err    error
	}{
		"nothing": {
			reason: "a pass that changed nothing writes nothing",
			change: func(*gardencorev1beta1.Project) {},
		},
		"status": {
			reason: "the patch holds what changed and the version that was read",
			change: func(p *gardencorev1beta1.Project) { p.Status.Phase = "Ready" },
			want:   []string{`status {"metadata":{"resourceVersion":"7"},"status":{"phase":"Ready"}}`},
		},
		"spec": {
			reason: "a spec goes to the object",
			change: func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("garden-dev") },
			object: true,
			want:   []string{`object {"metadata":{"resourceVersion":"7"},"spec":{"namespace":"garden-dev"}}`},
		},
		"mixed status write": {
			reason: "spec and status in one write would lose the spec",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Namespace = new("garden-dev")
				p.Status.Phase = "Ready"
			},
			err: kit.ErrMixedWrite,
		},
		"mixed object write": {
			reason: "spec and status in one write would lose the status",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Namespace = new("garden-dev")
				p.Status.Phase = "Ready"
			},
			object: true,
			err:    kit.ErrMixedWrite,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := &patches{}, project()
			commit := kit.Begin(c, p)
			tc.change(p)
			write := commit.WriteStatus
			if tc.object {
				write = commit.WriteObject
			}
			if err := write(t.Context()); !errors.Is(err, tc.err) {
				t.Errorf("%s\nwrite error = %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, c.sent); diff != "" {
				t.Errorf("%s\nrequests (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCommitOwnStatus_GCM_ROBUST_2 sees the patch that needs no lock, and what becomes of its refusals.
func TestCommitOwnStatus_GCM_ROBUST_2(t *testing.T) {
	t.Parallel()
	invalid := func(of string) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Project"}, "dev", field.ErrorList{field.Invalid(field.NewPath(of), "", "not allowed")})
	}
	for name, tc := range map[string]struct {
		reason   string
		write    error
		answered types.UID
		gone     bool
	}{
		"written":    {reason: "it is written whatever others have written"},
		"another":    {reason: "a server that does not compare UIDs has written to another object", answered: "2", gone: true},
		"made anew":  {reason: "an object with another UID is not the one that was read", write: invalid("metadata.uid"), gone: true},
		"invalid":    {reason: "another refusal is an error", write: invalid("status.phase")},
		"not served": {reason: "so is an answer without details", write: errBoom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := &patches{err: tc.write, answered: tc.answered}, project()
			p.UID = "1"
			commit := kit.Begin(c, p)
			p.Status.Phase = "Ready"
			err := commit.WriteOwnStatus(t.Context())
			if apierrors.IsNotFound(err) != tc.gone || !tc.gone && !errors.Is(err, tc.write) {
				t.Errorf("%s\nWriteOwnStatus(...) = %v, want that it is gone: %t, or %v", tc.reason, err, tc.gone, tc.write)
			}
			if named := `projects.core.gardener.cloud "dev" not found`; tc.gone && !strings.HasSuffix(fmt.Sprint(err), named) {
				t.Errorf("WriteOwnStatus(...) = %v, want %q, as a server says it", err, named)
			}
			want := []string{`status {"metadata":{"uid":"1"},"status":{"phase":"Ready"}}`}
			if diff := cmp.Diff(want, c.sent); diff != "" {
				t.Errorf("the patch names the object, not its version (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommitStatus(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "projects"}
	conflict, gone := apierrors.NewConflict(resource, "dev", errBoom), apierrors.NewNotFound(resource, "dev")
	soon := reconcile.Result{RequeueAfter: 100 * time.Millisecond}
	cases := map[string]struct {
		reason   string
		pass     error
		write    error
		want     reconcile.Result
		is       error
		wantFail bool
	}{
		"gone":                      {reason: "an object that is gone needs no status", write: gone},
		"conflict after success":    {reason: "a lost race comes back quickly", write: conflict, want: soon},
		"conflict while waiting":    {reason: "an unwritten status does not wait as long as the world", pass: kit.Wait(time.Hour, "pod"), write: conflict, want: soon},
		"conflict after final":      {reason: "an unwritten status is retried although the pass is final", pass: kit.UserMustFix("Bad", errBoom), write: conflict, want: soon},
		"conflict after failure":    {reason: "the failure of the pass decides the backoff", pass: errBoom, write: conflict, is: errBoom, wantFail: true},
		"write failure after error": {reason: "both errors are returned", pass: errBoom, write: errors.New("disk full"), is: errBoom, wantFail: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := &patches{err: tc.write}, project()
			commit := kit.Begin(c, p)
			p.Status.Phase = "Ready"
			got, err := commit.Status(t.Context(), kit.Stop(), tc.pass)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nStatus result (-want +got):\n%s", tc.reason, diff)
			}
			if (err != nil) != tc.wantFail || (tc.is != nil && !errors.Is(err, tc.is)) {
				t.Errorf("%s\nStatus error = %v, want failure %t wrapping %v", tc.reason, err, tc.wantFail, tc.is)
			}
		})
	}
}

func TestFinalizer(t *testing.T) {
	t.Parallel()
	c, p := &patches{}, project()
	if err := kit.EnsureFinalizer(t.Context(), c, p, "gardener"); err != nil {
		t.Fatalf("EnsureFinalizer: %v", err)
	}
	if err := kit.EnsureFinalizer(t.Context(), c, p, "gardener"); err != nil {
		t.Fatalf("EnsureFinalizer again: %v", err)
	}
	if err := kit.DropFinalizer(t.Context(), c, p, "gardener"); err != nil {
		t.Fatalf("DropFinalizer: %v", err)
	}
	c.err = apierrors.NewNotFound(schema.GroupResource{Resource: "projects"}, "dev")
	p.Finalizers = []string{"gardener"}
	if err := kit.DropFinalizer(t.Context(), c, p, "gardener"); err != nil {
		t.Errorf("DropFinalizer of an object that is gone: %v, want no error", err)
	}
	want := []string{
		`object {"metadata":{"finalizers":["gardener"],"resourceVersion":"7"}}`,
		`object {"metadata":{"finalizers":null,"resourceVersion":"7"}}`,
		`object {"metadata":{"finalizers":null,"resourceVersion":"7"}}`,
	}
	if diff := cmp.Diff(want, c.sent); diff != "" {
		t.Errorf("requests: each change once, and always with the version that was read (-want +got):\n%s", diff)
	}
}
