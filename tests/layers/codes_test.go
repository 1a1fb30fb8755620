// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/retry"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// TestErrorCodes_GLET_ERR_1 compares the error codes of the API with those that the web UI explains: it says of each whether the garden
// goes on by itself or somebody has to act first, which has to be what the controllers do.
func TestErrorCodes_GLET_ERR_1(t *testing.T) {
	t.Parallel()
	want := map[string]bool{
		"ERR_INFRA_UNAUTHENTICATED": false, "ERR_INFRA_UNAUTHORIZED": false, "ERR_INFRA_QUOTA_EXCEEDED": false, "ERR_INFRA_RATE_LIMITS_EXCEEDED": true,
		"ERR_INFRA_DEPENDENCIES": false, "ERR_RETRYABLE_INFRA_DEPENDENCIES": true, "ERR_INFRA_RESOURCES_DEPLETED": true,
		"ERR_CLEANUP_CLUSTER_RESOURCES": true, "ERR_CONFIGURATION_PROBLEM": false, "ERR_RETRYABLE_CONFIGURATION_PROBLEM": true,
		"ERR_PROBLEMATIC_WEBHOOK": false,
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../../apis/core/v1beta1/constants_errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	does := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok {
			return true
		}
		code, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Errorf("%s: %v", literal.Value, err)
		}
		does[code] = retried(gardencorev1beta1.ErrorCode(code))
		return true
	})
	if diff := cmp.Diff(want, does); diff != "" {
		t.Errorf("codes that the API has, and whether the garden goes on by itself (-want +got):\n%s", diff)
	}

	text, err := os.ReadFile("../../webui/src/text/en.ts")
	if err != nil {
		t.Fatal(err)
	}
	says := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?s)\b(ERR_[A-Z_]+): \{[^}]*?retries: (true|false)`).FindAllSubmatch(text, -1) {
		says[string(found[1])] = string(found[2]) == "true"
	}
	if diff := cmp.Diff(want, says); diff != "" {
		t.Errorf("codes that the web UI explains, and whether it says that the garden goes on by itself (-want +got):\n%s", diff)
	}
}

// retried reports whether a shoot that failed with a code is tried again without its owner.
func retried(code gardencorev1beta1.ErrorCode) bool {
	s := &gardencorev1beta1.Shoot{}
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed}
	s.Status.LastErrors = []gardencorev1beta1.LastError{{Codes: []gardencorev1beta1.ErrorCode{code}}}

	return !operation.Final(code) || retry.Throttled(s)
}
