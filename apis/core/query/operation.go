// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"strings"
	"unicode"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Operations returns the operations in the value of an operation annotation: each once, in the order given. An operation is
// empty if nothing is written before or after a separator; a blank value contains no operation.
func Operations(value string) []string {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	var all []string
	for op := range strings.SplitSeq(value, gardencorev1beta1.OperationSeparator) {
		if op = strings.TrimSpace(op); !slices.Contains(all, op) {
			all = append(all, op)
		}
	}
	return all
}

// Tasks returns the tasks in the value of the annotation for tasks: each once, in the order given.
func Tasks(value string) []string {
	var all []string
	for task := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if !slices.Contains(all, task) {
			all = append(all, task)
		}
	}
	return all
}

// AddTasks adds tasks to the value of the annotation for tasks, each once (API-SMUT-1).
func AddTasks(value string, tasks ...string) string {
	return strings.Join(Tasks(value+","+strings.Join(tasks, ",")), ",")
}

// CoveredOperations lists the operations that an operation for all credentials includes (API-SHOOTSTRAT-5).
func CoveredOperations(op string) []string {
	both := []string{
		gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart,
		gardencorev1beta1.OperationRotateObservabilityCredentials, gardencorev1beta1.OperationRotateSSHKeypair,
	}
	switch op {
	case gardencorev1beta1.OperationRotateCredentialsStart:
		return append(both, gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateServiceAccountKeyStart)
	case gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout:
		return append(both, gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout,
			gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout)
	case gardencorev1beta1.OperationRotateCredentialsComplete:
		return []string{
			gardencorev1beta1.OperationRotateCAComplete, gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
			gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete,
		}
	default:
		return nil
	}
}
