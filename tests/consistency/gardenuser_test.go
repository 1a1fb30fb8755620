// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

func dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: time.Minute}).DialContext
}

// gardener is one client of one kind, with what it believes of the objects.
type gardener struct {
	*gardenLoad

	subject  subject
	client   dynamic.ResourceInterface
	number   int
	writes   int
	believed map[string]*unstructured.Unstructured
	newest   int64
}

// use asks for this and that until it is time.
func (l *gardenLoad) use(t *testing.T, s subject, number int) {
	t.Helper()
	u := &gardener{gardenLoad: l, subject: s, client: l.connect(t, s), number: number, believed: map[string]*unstructured.Unstructured{}}
	asks := []func(context.Context, string) error{
		u.create, u.update, u.update, u.apply, u.patch, u.delete, u.delete, u.dryRun,
		u.get, u.get, u.get, u.get, u.get, u.get, u.getAny, u.list, u.list, u.list, u.pages, u.selected, u.named, u.listAny, u.notOlder, u.exact,
	}
	for time.Now().Before(l.end) {
		name := namePrefix + strconv.Itoa(rand.IntN(gardenKeys))
		if rand.IntN(3) == 0 {
			name = namePrefix + "0"
		}
		if err := asks[rand.IntN(len(asks))](t.Context(), name); err != nil {
			t.Errorf("client %d of %s: %v", number, s.kind, err)

			return
		}
	}
}

func (u *gardener) begin(what, name string) answer {
	a := answer{client: u.number, what: what + " of " + u.subject.kind, asked: u.now()}
	if name != "" {
		a.key = u.subject.key(name)
	}

	return a
}

func (u *gardener) object(name string, dry bool) *unstructured.Unstructured {
	u.writes++
	token := fmt.Sprintf("%s-%d-%d", u.subject.kind, u.number, u.writes)
	u.issue(token, dry)
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(u.subject.resource.GroupVersion().WithKind(u.subject.kind))
	o.SetName(name)
	o.SetAnnotations(map[string]string{tokenKey: token})
	o.SetLabels(map[string]string{groupKey: strconv.Itoa(rand.IntN(2))})

	return o
}

// wrote records the answer to a write.
func (u *gardener) wrote(a answer, sent, got *unstructured.Unstructured, err error) error {
	a.had = u.now()
	switch {
	case apierrors.IsAlreadyExists(err):
		a.kind = exists
	case apierrors.IsConflict(err):
		// A patch or a creation by apply that was overtaken too often says nothing about a revision.
		if a.expected <= 0 {
			return nil
		}
		a.kind, a.revision = differs, a.expected
	case apierrors.IsNotFound(err):
		a.kind = absent
		delete(u.believed, strings.TrimPrefix(a.key, u.subject.key("")))
	case err != nil:
		return fmt.Errorf("%s: %w", a.what, err)
	default:
		c, err := u.learn(u.subject, got)
		if err != nil {
			return err
		}
		a.kind, a.revision, a.token = made, c.revision, sent.GetAnnotations()[tokenKey]
		u.believe(got)
		u.newest = max(u.newest, c.revision)
	}
	u.note(a)

	return nil
}

func (u *gardener) believe(o *unstructured.Unstructured) {
	if u.believed != nil {
		u.believed[o.GetName()] = o
	}
}

func (u *gardener) create(ctx context.Context, name string) error {
	a, o := u.begin("create", name), u.object(name, false)
	got, err := u.client.Create(ctx, o, metav1.CreateOptions{})

	return u.wrote(a, o, got, err)
}

func (u *gardener) update(ctx context.Context, name string) error {
	before := u.believed[name]
	if before == nil {
		return u.create(ctx, name)
	}
	a, o := u.begin("update", name), u.object(name, false)
	o.SetResourceVersion(before.GetResourceVersion())
	o.SetUID(before.GetUID())
	a.expected = version(before)
	got, err := u.client.Update(ctx, o, metav1.UpdateOptions{})

	return u.wrote(a, o, got, err)
}

func version(o interface{ GetResourceVersion() string }) int64 {
	n, _ := strconv.ParseInt(o.GetResourceVersion(), 10, 64)

	return n
}

func (u *gardener) apply(ctx context.Context, name string) error {
	a, o := u.begin("apply", name), u.object(name, false)
	a.expected = unconditional
	got, err := u.client.Apply(ctx, name, o, metav1.ApplyOptions{FieldManager: "m" + strconv.Itoa(u.number), Force: true})

	return u.wrote(a, o, got, err)
}

func (u *gardener) patch(ctx context.Context, name string) error {
	a, o := u.begin("patch", name), u.object(name, false)
	a.expected = unconditional
	data := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q},"labels":{%q:%q}}}`,
		tokenKey, o.GetAnnotations()[tokenKey], groupKey, o.GetLabels()[groupKey])
	got, err := u.client.Patch(ctx, name, types.MergePatchType, []byte(data), metav1.PatchOptions{})

	return u.wrote(a, o, got, err)
}

// delete deletes a revision, so that it is known which deletion was whose.
func (u *gardener) delete(ctx context.Context, name string) error {
	before := u.believed[name]
	if before == nil {
		return u.get(ctx, name)
	}
	a := u.begin("delete", name)
	a.expected, a.deletes = version(before), true
	expected := before.GetResourceVersion()
	err := u.client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &expected}})
	if err != nil {
		return u.wrote(a, nil, nil, err)
	}
	a.kind = made
	delete(u.believed, name)
	u.note(a)

	return nil
}

// dryRun asks for a write that is not made, but refused as if it were.
func (u *gardener) dryRun(ctx context.Context, name string) error {
	a, o := u.begin("dry run", name), u.object(name, true)
	_, err := u.client.Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil {
		a.kind = absent
		u.note(a)

		return nil
	}

	return u.wrote(a, o, nil, err)
}

func (u *gardener) get(ctx context.Context, name string) error {
	return u.read(ctx, name, u.begin("get", name), metav1.GetOptions{})
}

func (u *gardener) getAny(ctx context.Context, name string) error {
	a := u.begin("get of any version", name)
	a.stale = true

	return u.read(ctx, name, a, metav1.GetOptions{ResourceVersion: "0"})
}

func (u *gardener) read(ctx context.Context, name string, a answer, o metav1.GetOptions) error {
	got, err := u.client.Get(ctx, name, o)
	a.had = u.now()
	switch {
	case apierrors.IsNotFound(err):
		a.kind = absent
		if a.stale {
			return nil
		}
		delete(u.believed, name)
	case err != nil:
		return fmt.Errorf("%s: %w", a.what, err)
	default:
		c, err := u.learn(u.subject, got)
		if err != nil {
			return err
		}
		a.kind, a.revision, a.token = found, c.revision, c.token
		if !a.stale {
			u.believe(got)
		}
	}
	u.note(a)

	return nil
}

func (u *gardener) list(ctx context.Context, _ string) error {
	return u.lists(ctx, u.begin("list", ""), u.subject.of, metav1.ListOptions{})
}

func (u *gardener) pages(ctx context.Context, _ string) error {
	return u.lists(ctx, u.begin("pages", ""), u.subject.of, metav1.ListOptions{Limit: 2})
}

func (u *gardener) selected(ctx context.Context, _ string) error {
	match := func(c change) bool { return u.subject.of(c) && c.group == "1" }

	return u.lists(ctx, u.begin("list by label", ""), match, metav1.ListOptions{LabelSelector: groupKey + "=1"})
}

func (u *gardener) named(ctx context.Context, name string) error {
	match := func(c change) bool { return c.key == u.subject.key(name) }

	return u.lists(ctx, u.begin("list by name", ""), match, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
}

func (u *gardener) listAny(ctx context.Context, _ string) error {
	a := u.begin("list of any version", "")
	a.stale = true

	return u.lists(ctx, a, u.subject.of, metav1.ListOptions{ResourceVersion: "0"})
}

func (u *gardener) notOlder(ctx context.Context, _ string) error {
	return u.since(ctx, "list not older", metav1.ResourceVersionMatchNotOlderThan)
}

func (u *gardener) exact(ctx context.Context, _ string) error {
	return u.since(ctx, "list of a version", metav1.ResourceVersionMatchExact)
}

func (u *gardener) since(ctx context.Context, what string, match metav1.ResourceVersionMatch) error {
	if u.newest == 0 {
		return nil
	}
	a := u.begin(what, "")
	a.stale = true

	return u.lists(ctx, a, u.subject.of, metav1.ListOptions{
		ResourceVersion: strconv.FormatInt(u.newest, 10), ResourceVersionMatch: match,
	})
}

// lists records a list, which may come in pages.
func (u *gardener) lists(ctx context.Context, a answer, match func(change) bool, o metav1.ListOptions) error {
	a.kind, a.match, a.seen = listed, match, map[string]int64{}
	for first := true; first || o.Continue != ""; first = false {
		got, err := u.client.List(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", a.what, err)
		}
		if first {
			// The list was made when its first page was.
			a.had, a.revision = u.now(), version(got)
		}
		if version(got) != a.revision {
			return fmt.Errorf("%s: pages of versions %d and %d", a.what, a.revision, version(got))
		}
		if err := u.include(a, got); err != nil {
			return err
		}
		o.Continue = got.GetContinue()
	}
	if wanted, _ := strconv.ParseInt(o.ResourceVersion, 10, 64); a.revision < wanted ||
		o.ResourceVersionMatch == metav1.ResourceVersionMatchExact && a.revision != wanted {
		return fmt.Errorf("%s: got version %d, want %d", a.what, a.revision, wanted)
	}
	u.newest = max(u.newest, a.revision)
	u.note(a)

	return nil
}

func (u *gardener) include(a answer, got *unstructured.UnstructuredList) error {
	for i := range got.Items {
		o := &got.Items[i]
		if !strings.HasPrefix(o.GetName(), namePrefix) {
			continue
		}
		c, err := u.learn(u.subject, o)
		if err != nil {
			return err
		}
		a.seen[c.key] = c.revision
		if !a.stale {
			u.believe(o)
		}
	}

	return nil
}
