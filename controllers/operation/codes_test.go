// SPDX-License-Identifier: Apache-2.0

package operation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// TestManyCodes_GLET_ERR_3 has an extension that reports more codes than anybody reads, and long ones: an error has few, and those on which
// somebody has to act are among them.
func TestManyCodes_GLET_ERR_3(t *testing.T) {
	t.Parallel()
	const known = gardencorev1beta1.ErrorCodeInfraUnauthorized
	codes := []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCode(strings.Repeat("x", operation.MaxCode+1)), "ok"}
	for i := range 10_000 {
		codes = append(codes, gardencorev1beta1.ErrorCode(fmt.Sprintf("A%05d", i)))
	}
	got := operation.Codes(fmt.Errorf("run: %w", operation.WithCodes(errors.New("a"), append(codes, known)...)))
	if len(got) != operation.MaxCodes || !slices.IsSorted(got) || !slices.Contains(got, known) {
		t.Errorf("codes %v, want %d in order with %s", got, operation.MaxCodes, known)
	}
	got = operation.Codes(operation.WithCodes(errors.New("a"), codes[:2]...))
	if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ok"}, got); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}

func TestCodesTravelAndMerge_GLET_ERR_3(t *testing.T) {
	t.Parallel()
	a := operation.WithCodes(errors.New("a"), gardencorev1beta1.ErrorCodeInfraUnauthorized, gardencorev1beta1.ErrorCodeInfraDependencies)
	b := fmt.Errorf("deeper: %w", operation.WithCodes(apierrors.NewBadRequest("b"), gardencorev1beta1.ErrorCodeInfraUnauthorized))
	want := []gardencorev1beta1.ErrorCode{"ERR_INFRA_DEPENDENCIES", "ERR_INFRA_UNAUTHORIZED"}
	if diff := cmp.Diff(want, operation.Codes(fmt.Errorf("run: %w", errors.Join(a, b)))); diff != "" {
		t.Errorf("Codes(...) (-want +got):\n%s", diff)
	}
	if !apierrors.IsBadRequest(b) {
		t.Error("an error with codes hides its cause")
	}
}
