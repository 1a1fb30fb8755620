// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOnlyGardenletsConfirm_EXT_DEL_2 finds what acts in a seed beside the gardenlet and confirms a deletion: extensions and what they are
// built from, the resource manager, and the agents of nodes. The webhook that asks for the confirmation only reads it.
func TestOnlyGardenletsConfirm_EXT_DEL_2(t *testing.T) {
	t.Parallel()
	looked := files(t, "controllers/provider", "controllers/extension/webhook", "controllers/resourcemanager", "controllers/nodeagent", "tests/extension", "tests/badge")
	const reads = "controllers/resourcemanager/webhooks/deletion.go"
	for path, source := range looked {
		if names := confirmations(t, source); len(names) > 0 && path != reads {
			t.Errorf("%s names %s: only a gardenlet or a person confirms a deletion", path, strings.Join(names, ", "))
		}
	}
	if len(looked) < 100 || len(confirmations(t, looked[reads])) == 0 {
		t.Errorf("%d files were looked at, and %s was not found to ask for the confirmation", len(looked), reads)
	}
}

// TestConfirmationsAreFound shows that the test above can fail.
func TestConfirmationsAreFound(t *testing.T) {
	t.Parallel()
	source := `package a
var _ = []any{v1.AnnotationConfirmationDeletion, kit.DeleteConfirmed, kit.Remove, "confirmation.gardener.cloud/deletion", "confirmation.gardener.cloud/force-deletion"}`
	want := []string{"AnnotationConfirmationDeletion", "DeleteConfirmed", `"confirmation.gardener.cloud/deletion"`}
	if diff := cmp.Diff(want, confirmations(t, []byte(source))); diff != "" {
		t.Errorf("confirmations(...) (-want +got):\n%s", diff)
	}
}

// confirmations are the names in a file with which a deletion can be confirmed.
func confirmations(t *testing.T, source []byte) []string {
	t.Helper()
	names := []string{"AnnotationConfirmationDeletion", "DeleteConfirmed"}
	return named(t, source, func(selector string) bool { return slices.Contains(names, selector) }, `"confirmation.gardener.cloud/deletion"`)
}
