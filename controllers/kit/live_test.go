// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// answers is a reader that always gives one answer.
type answers struct {
	client.Reader

	err error
}

func (a answers) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return a.err
}

func TestLive(t *testing.T) {
	t.Parallel()
	missing := apierrors.NewNotFound(corev1.Resource("secrets"), "x")
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("not yours"))
	cases := map[string]struct {
		reason       string
		live, cached error
		found, fails bool
	}{
		"There":          {reason: "what is there is found", found: true},
		"Missing":        {reason: "what is not there is no error", live: missing},
		"Gone":           {reason: "what is neither shown nor remembered is gone", live: forbidden, cached: missing},
		"Refused":        {reason: "what is remembered and not shown is refused", live: forbidden, fails: true},
		"RefusedBroken":  {reason: "a broken memory knows nothing", live: forbidden, cached: errors.New("broken"), fails: true},
		"Broken":         {reason: "other errors are passed on", live: errors.New("broken"), cached: missing, fails: true},
		"MissingOutside": {reason: "the memory is not asked otherwise", live: missing, cached: errors.New("broken")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := kit.Live(t.Context(), answers{err: tc.live}, answers{err: tc.cached}, client.ObjectKey{Name: "x"}, &corev1.Secret{})
			if found != tc.found || (err != nil) != tc.fails {
				t.Errorf("%s\nLive(...) = %t, %v; want %t, failure %t", tc.reason, found, err, tc.found, tc.fails)
			}
		})
	}
}
