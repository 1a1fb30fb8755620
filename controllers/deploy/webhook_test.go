// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// TestExplain_EXT_WH_7 has the answers of real API servers.
func TestExplain_EXT_WH_7(t *testing.T) {
	t.Parallel()
	denied := func(webhook string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Message: fmt.Sprintf("admission webhook %q denied the request: no such flavour", webhook)}}
	}
	silent := func(webhook string) error {
		return apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: failed to call webhook: Post \"https://…\": dial tcp: connection refused", webhook))
	}
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"silent":     {reason: "what to look at, and that it passes", err: silent("controlplane.demo.extensions.gardener.cloud"), want: `ControllerInstallation of extension "demo"`},
		"refuses":    {reason: "who has refused it", err: denied("controlplane.demo.extensions.gardener.cloud"), want: `the webhook of extension "demo" refuses it`},
		"wrapped":    {reason: "another layer around the answer does not matter", err: fmt.Errorf("apply: %w", silent("a.b.extensions.gardener.cloud")), want: `of extension "b"`},
		"other":      {reason: "webhooks of others have nothing to do with extensions", err: silent("validate.example.org")},
		"lookalike":  {reason: "a name with one part is none of an extension", err: denied("x.extensions.gardener.cloud")},
		"no answer":  {reason: "a text that no server has sent says nothing", err: errors.New(`failed calling webhook "a.b.extensions.gardener.cloud"`)},
		"no webhook": {reason: "any other refusal", err: apierrors.NewBadRequest("no")},
		"none":       {reason: "no error", err: nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := deploy.Explain(tc.err)
			if diff := cmp.Diff(tc.err, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nthe answer of the server is lost: Explain(%v) (-want +got):\n%s", tc.reason, tc.err, diff)
			}
			if tc.want == "" && got != nil && got.Error() != tc.err.Error() || tc.want != "" && !strings.Contains(got.Error(), tc.want) {
				t.Errorf("%s\nExplain(%v) = %v, want %q in it", tc.reason, tc.err, got, tc.want)
			}
		})
	}
}
