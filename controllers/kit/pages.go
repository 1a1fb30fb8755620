// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mostRequests is how often a server is asked for the pages of one list, if nothing else is said.
const mostRequests = 1000

// ErrEndless is a list that has not come to its end after as many requests as are made for it.
var ErrEndless = errors.New("the list does not end")

// Pages reads a list page by page. It is for clusters whose owners have made any number of objects, each as large as they like, and may
// answer in the place of the API server themselves: only one page is in memory, and there is an end.
type Pages[L client.ObjectList] struct {
	// Reader asks the API server. A cache does not know pages.
	Reader client.Reader
	// New makes an empty page.
	New func() L
	// Options select what is listed.
	Options []client.ListOption
	// Size is how many objects are asked for at a time. Half as many are, again and again, when an answer is an ErrTooLarge.
	Size int64
	// From is where the first page begins, if not with the first object.
	From string
	// Most is how many requests are made at most; 0 takes 1000.
	Most int
}

// Each calls act with one page after the other, until it returns an error. A list that takes longer than the API server remembers goes on
// with what there is by then, so act may miss objects that were made meanwhile. The error is ErrEndless if there are further pages.
func (p Pages[L]) Each(ctx context.Context, act func(page L) error) error {
	at := position{next: p.From, size: p.Size}
	for range cmp.Or(p.Most, mostRequests) {
		page := p.New()
		err := p.Reader.List(ctx, page, append(slices.Clone(p.Options), client.Limit(at.size), client.Continue(at.next))...)
		if err != nil {
			if !at.yields(err) {
				return err
			}
			continue
		}
		if has := int64(meta.LenList(page)); has > at.size {
			return fmt.Errorf("the server answers with %d objects, and was asked for %d", has, at.size)
		}
		if err := act(page); err != nil {
			return err
		}
		if at.next = page.GetContinue(); at.next == "" {
			return nil
		}
	}
	return ErrEndless
}

// position is where the next page begins, and how many objects it is to have.
type position struct {
	next string
	size int64
}

// yields changes what is asked for next, and reports whether that can help against an error.
func (p *position) yields(err error) bool {
	if errors.Is(err, ErrTooLarge) {
		p.size /= 2
		return p.size > 0
	}
	var status apierrors.APIStatus
	if p.next == "" || !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return false
	}
	p.next = status.Status().Continue
	return p.next != ""
}
