// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// class says what messages of providers tell of a code.
type class struct {
	code gardencorev1beta1.ErrorCode
	// patterns are regular expressions, in any case of letters. Providers write the same words as names of errors and as sentences.
	patterns []string
}

// classes is the table (GLET-ERR-4). The order matters: a message is read for one code after the other, and what told of one code does
// not tell of another.
func classes() []class {
	return []class{
		{gardencorev1beta1.ErrorCodeInfraRateLimitsExceeded, []string{`request[ _-]?limit[ _-]?exceeded`, `throttling`, `too many requests`}},
		{gardencorev1beta1.ErrorCodeInfraQuotaExceeded, []string{`limit[ _-]?exceeded`, `quota\b.*\bexceeded`, `exceeded\b.*\bquota`}},
		{gardencorev1beta1.ErrorCodeInfraUnauthenticated, []string{
			`invalid token tenant`, `authentication failed`, `auth[ _-]?failure`, `invalid[ _-]?client`, `invalid[ _-]?access[ _-]?key`,
		}},
		{gardencorev1beta1.ErrorCodeInfraUnauthorized, []string{
			`unauthorized`, `invalid[ _-]?grant`, `access[ _-]?denied`, `error[: ]+403`, `authorization[ _-]?failed`,
		}},
		{gardencorev1beta1.ErrorCodeInfraDependencies, []string{
			`pending[ _-]?verification`, `dependency[ _-]?violation`, `opt[ _-]?in[ _-]?required`, `delete[ _-]?conflict`, `\bconflict\b`,
			`in[ _-]?use[ _-]?subnet[ _-]?cannot[ _-]?be[ _-]?deleted`,
		}},
		{gardencorev1beta1.ErrorCodeInfraResourcesDepleted, []string{`insufficient[ _-]?instance[ _-]?capacity`, `sku[ _-]?not[ _-]?available`, `out of stock`}},
		{gardencorev1beta1.ErrorCodeConfigurationProblem, []string{
			`invalid[ _-]?parameter`, `invalid value`, `netcfg[ _-]?invalid[ _-]?subnet`, `kubelet\b.*\b(memory|disk|pid)[ _-]?pressure`,
		}},
	}
}

// Classify attaches codes to the error of a provider, by what its message says (GLET-ERR-3, GLET-ERR-4). An error that has codes keeps
// them. What the API server of a cluster answers is not the message of a provider: of that only quotas are classified, because somebody
// has set them; that a token is not valid for a moment, for example, passes by itself.
func Classify(err error) error {
	if err == nil || len(Codes(err)) > 0 {
		return err
	}
	message := err.Error()
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		if apierrors.IsForbidden(err) && strings.Contains(message, "exceeded quota") {
			return WithCodes(err, gardencorev1beta1.ErrorCodeInfraQuotaExceeded)
		}
		return err
	}
	var codes []gardencorev1beta1.ErrorCode
	for _, c := range classes() {
		told := regexp.MustCompile(`(?i)` + strings.Join(c.patterns, "|"))
		if told.MatchString(message) {
			codes = append(codes, c.code)
			message = told.ReplaceAllString(message, "")
		}
	}
	return WithCodes(err, codes...)
}
