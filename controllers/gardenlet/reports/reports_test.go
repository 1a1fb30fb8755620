// SPDX-License-Identifier: Apache-2.0

package reports_test

import (
	"fmt"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
)

// TestEndlessReport_GLET_CARE_15: an extension that reports more than anybody reads does not make the status of the shoot one that cannot be
// written any more.
func TestEndlessReport_GLET_CARE_15(t *testing.T) {
	t.Parallel()
	endless := strings.Repeat("x", 1<<20)
	codes := []gardencorev1beta1.ErrorCode{"ERR_INFRA_UNAUTHENTICATED", "ERR_INFRA_UNAUTHENTICATED", gardencorev1beta1.ErrorCode(endless)}
	for i := range 10_000 {
		codes = append(codes, gardencorev1beta1.ErrorCode(fmt.Sprint("ERR_", i)))
	}
	for _, status := range []gardencorev1beta1.ConditionStatus{"False", "Unknown", "Progressing"} {
		report := reports.Report{Kind: "Worker", Namespace: "shoot--dev--a", Name: "a", Condition: gardencorev1beta1.Condition{
			Type: "EveryNodeReady", Status: status, Reason: endless, Message: endless, Codes: codes,
		}}
		got, found := reports.Judge(gardencorev1beta1.Condition{Type: "EveryNodeReady"}, []reports.Report{report})
		if !found || len(got.Codes) == 0 || got.Codes[0] != "ERR_INFRA_UNAUTHENTICATED" || !strings.Contains(got.Message, "xxx") {
			t.Errorf("a report of %s is not taken over: %t, %d codes", status, found, len(got.Codes))
		}
		size := len(got.Reason) + len(got.Message)
		for _, code := range got.Codes {
			size += len(code)
		}
		if size > 10_000 {
			t.Errorf("of a report of %s, %d bytes are taken over", status, size)
		}
	}
}
