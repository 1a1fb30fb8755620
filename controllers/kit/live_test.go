// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
	errBroken := errors.New("broken")
	missing := apierrors.NewNotFound(corev1.Resource("secrets"), "x")
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("not yours"))
	cases := map[string]struct {
		reason       string
		live, cached error
		found        bool
		err          error
	}{
		"There":          {reason: "an existing object is found", found: true},
		"Missing":        {reason: "a missing object is not an error", live: missing},
		"Gone":           {reason: "an object that is forbidden and not in the cache is gone", live: forbidden, cached: missing},
		"Refused":        {reason: "an object that is forbidden and in the cache is an error", live: forbidden, err: forbidden},
		"RefusedBroken":  {reason: "an error of the cache says nothing", live: forbidden, cached: errBroken, err: forbidden},
		"Broken":         {reason: "other errors are returned", live: errBroken, cached: missing, err: errBroken},
		"MissingOutside": {reason: "the cache is read only if the object is forbidden", live: missing, cached: errBroken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := kit.Live(t.Context(), answers{err: tc.live}, answers{err: tc.cached}, client.ObjectKey{Name: "x"}, &corev1.Secret{})
			if diff := cmp.Diff([]any{tc.found, tc.err}, []any{found, err}, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nLive(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
