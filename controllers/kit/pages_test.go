// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// shelf is an API server with that many objects, which are named by numbers.
type shelf struct {
	client.Reader

	objects int
	// loose ignores how many objects were asked for, endless always says that there are more.
	loose, endless bool
	// heavy is the number of objects that are too large for one answer; 0 is none.
	heavy int64
	// forgets is where the list is forgotten once.
	forgets string
	// asked are the requests.
	asked []string
}

func (s *shelf) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(options)
	s.asked = append(s.asked, fmt.Sprintf("%d from %q in %q", o.Limit, o.Continue, o.Namespace))
	if s.heavy > 0 && o.Limit >= s.heavy {
		return fmt.Errorf("read the answer: %w", kit.ErrTooLarge)
	}
	if o.Continue != "" && o.Continue == s.forgets {
		s.forgets = ""
		err := apierrors.NewResourceExpired("the list is too old")
		err.ErrStatus.Continue = "3"
		return err
	}
	first, _ := strconv.Atoi(o.Continue)
	page, _ := list.(*corev1.ConfigMapList)
	for n := first; n < s.objects && (s.loose || n < first+int(o.Limit)); n++ {
		page.Items = append(page.Items, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(n)}})
	}
	if next := first + len(page.Items); s.endless || next < s.objects {
		page.Continue = strconv.Itoa(next)
	}
	return nil
}

func TestPages(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason string
		shelf  shelf
		change func(p *kit.Pages[*corev1.ConfigMapList])
		// at is the object at which act fails; empty for none.
		at   string
		want []string
		// asked are the requests, if they matter.
		asked []string
		err   string
	}{
		"None":  {reason: "an empty list is one page", asked: []string{`2 from "" in "n"`}},
		"Pages": {reason: "one page follows the other", shelf: shelf{objects: 3}, want: []string{"0", "1", "2"}, asked: []string{`2 from "" in "n"`, `2 from "2" in "n"`}},
		"From": {
			reason: "an earlier reader has come so far", shelf: shelf{objects: 3}, want: []string{"1", "2"},
			change: func(p *kit.Pages[*corev1.ConfigMapList]) { p.From = "1" },
		},
		"Heavy": {
			reason: "what is too large comes in smaller pages from then on", shelf: shelf{objects: 3, heavy: 3}, want: []string{"0", "1", "2"},
			change: func(p *kit.Pages[*corev1.ConfigMapList]) { p.Size = 8 },
			asked:  []string{`8 from "" in "n"`, `4 from "" in "n"`, `2 from "" in "n"`, `2 from "2" in "n"`},
		},
		"TooHeavy": {reason: "one object cannot be halved", shelf: shelf{objects: 3, heavy: 1}, err: "too large", asked: []string{`2 from "" in "n"`, `1 from "" in "n"`}},
		"Forgotten": {
			reason: "the list goes on with what there is by now", shelf: shelf{objects: 5, forgets: "2"}, want: []string{"0", "1", "3", "4"},
			asked: []string{`2 from "" in "n"`, `2 from "2" in "n"`, `2 from "3" in "n"`},
		},
		"Loose": {reason: "who sends more than was asked for sends too much", shelf: shelf{objects: 3, loose: true}, err: "answers with 3 objects, and was asked for 2"},
		"Endless": {
			reason: "what does not end is ended", shelf: shelf{objects: 1, endless: true}, want: []string{"0"}, err: "does not end",
			change: func(p *kit.Pages[*corev1.ConfigMapList]) { p.Most = 3 },
			asked:  []string{`2 from "" in "n"`, `2 from "1" in "n"`, `2 from "1" in "n"`},
		},
		"Failure": {reason: "an error ends it", shelf: shelf{objects: 9}, at: "3", want: []string{"0", "1", "2", "3"}, err: "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := kit.Pages[*corev1.ConfigMapList]{
				Reader: &tc.shelf, New: func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} }, Size: 2, Options: []client.ListOption{client.InNamespace("n")},
			}
			if tc.change != nil {
				tc.change(&pages)
			}
			var got []string
			err := pages.Each(t.Context(), func(page *corev1.ConfigMapList) error {
				for i := range page.Items {
					got = append(got, page.Items[i].Name)
					if page.Items[i].Name == tc.at {
						return boom
					}
				}
				return nil
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nobjects (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.asked, tc.shelf.asked); tc.asked != nil && diff != "" {
				t.Errorf("%s\nrequests (-want +got):\n%s", tc.reason, diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nEach(...) = %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}

// TestPagesEndByDefault reads a list that never ends without having said how far.
func TestPagesEndByDefault(t *testing.T) {
	t.Parallel()
	s := &shelf{objects: 1, endless: true}
	pages := kit.Pages[*corev1.ConfigMapList]{Reader: s, New: func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} }, Size: 100}
	if err := pages.Each(t.Context(), func(*corev1.ConfigMapList) error { return nil }); !errors.Is(err, kit.ErrEndless) || len(s.asked) != 1000 {
		t.Errorf("Each(...) = %v after %d requests, want %v after 1000", err, len(s.asked), kit.ErrEndless)
	}
}
