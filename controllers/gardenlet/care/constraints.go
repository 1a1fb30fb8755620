// SPDX-License-Identifier: Apache-2.0

package care

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care/webhook"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	reasonRemediatedWebhooks = "RemediatedWebhooks"
	reasonStoredVersions     = "CRDsWithProblematicConversionWebhooks"
	reasonPreservedMachines  = "FailedMachinesPreserved"

	// authorityReserve is how long a certificate authority has to be valid still.
	authorityReserve = 365 * 24 * time.Hour
	// mostNamed is how many objects a message names.
	mostNamed = 5
)

// Inside is what the constraints are judged on inside of a shoot.
type Inside struct {
	Webhooks webhook.Configurations
	// Converted are definitions of which several versions are stored, and which a webhook converts.
	Converted []string
	// Err is set if the shoot could not be asked.
	Err error
}

// Authority is a certificate authority of a shoot.
type Authority struct {
	Name string
	End  time.Time
}

// required are the constraints that every shoot has (GLET-CONSTR-1).
func required() []gardencorev1beta1.ConditionType {
	return []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeHibernationPossible, gardencorev1beta1.ConditionTypeMaintenancePreconditionsSatisfied,
	}
}

// JudgeConstraints judges what may be in the way of operations. A constraint without a status is not to be shown; one that could not
// be judged and need not be there is left out.
func JudgeConstraints(w World, now time.Time) []gardencorev1beta1.Condition {
	found := []gardencorev1beta1.Condition{judgePreserved(w.Machines)}
	if w.authoritiesErr == nil {
		found = append(found, judgeAuthorities(w.Authorities, now))
	}
	if w.managedErr == nil {
		found = append(found, judgeIgnored(ignored(w.Managed)))
	}
	switch {
	case w.accessErr != nil:
		return append(found, uncheckableConstraints(w.accessErr)...)
	case !ok(w.API.Status):
		return append(found, both(gardencorev1beta1.Condition{
			Status: gardencorev1beta1.ConditionFalse, Reason: gardencorev1beta1.ReasonConstraintNotChecked, Message: "The API server does not answer, so the webhooks are not known",
		})...)
	case w.Inside.Err != nil:
		return append(found, both(gardencorev1beta1.Condition{
			Status: gardencorev1beta1.ConditionUnknown, Reason: gardencorev1beta1.ReasonConditionCheckError, Message: "The check could not be made: " + w.Inside.Err.Error(),
		})...)
	default:
		return append(append(found, judgeStored(w.Inside.Converted)), both(judgeWebhooks(w.Inside.Webhooks))...)
	}
}

// restingConstraints are those of a shoot that sleeps, falls asleep or wakes up (GLET-CONSTR-7). All others stay as they are.
func restingConstraints() []gardencorev1beta1.Condition {
	return both(gardencorev1beta1.Condition{
		Status: gardencorev1beta1.ConditionTrue, Reason: gardencorev1beta1.ReasonConstraintNotChecked, Message: "The cluster is hibernated, so this is not checked",
	})
}

func uncheckableConstraints(err error) []gardencorev1beta1.Condition {
	return both(gardencorev1beta1.Condition{
		Status: gardencorev1beta1.ConditionUnknown, Reason: gardencorev1beta1.ReasonConditionCheckError, Message: "The check could not be made: " + err.Error(),
	})
}

// both makes both required constraints of one finding: they always have the same result.
func both(finding gardencorev1beta1.Condition) []gardencorev1beta1.Condition {
	var all []gardencorev1beta1.Condition
	for _, kind := range required() {
		finding.Type = kind
		all = append(all, finding)
	}
	return all
}

// judgeWebhooks finds webhooks of users that may be in the way of waking up (GLET-CONSTR-1, 2).
func judgeWebhooks(all webhook.Configurations) gardencorev1beta1.Condition {
	found := webhook.Judge(all)
	c := gardencorev1beta1.Condition{Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeProblematicWebhook}}
	switch {
	case len(found.Problems) > 0:
		return bad(c, gardencorev1beta1.ReasonProblematicWebhooks, operation.Cut("Webhooks can keep the cluster from waking up: "+webhook.Message(found.Problems)))
	case len(found.Corrected) > 0:
		return bad(c, reasonRemediatedWebhooks, operation.Cut("Webhooks were corrected; apply the changes that annotation "+gardencorev1beta1.AnnotationWarning+
			" lists where they come from, and remove it: "+webhook.Message(found.Corrected)))
	default:
		return good(gardencorev1beta1.Condition{}, gardencorev1beta1.ReasonNoProblematicWebhooks, "No webhook can keep the cluster from waking up")
	}
}

// judgeAuthorities finds certificate authorities that end within a year (GLET-CONSTR-5).
func judgeAuthorities(all []Authority, now time.Time) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeCACertificateValiditiesAcceptable}
	var ending []string
	for _, a := range all {
		if a.End.Sub(now) < authorityReserve {
			ending = append(ending, fmt.Sprintf("%q ends on %s", a.Name, a.End.UTC().Format(time.DateOnly)))
		}
	}
	if len(ending) == 0 {
		return c
	}
	return bad(c, gardencorev1beta1.ReasonExpiringCACertificates, "Certificate authorities end within a year and have to be rotated: "+named(ending))
}

// judgeStored finds definitions whose objects can only be read with the help of a webhook (GLET-CONSTR-5).
func judgeStored(definitions []string) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeCRDsWithProblematicConversionWebhooks}
	if len(definitions) == 0 {
		return c
	}
	return bad(c, reasonStoredVersions, "Objects are stored in several versions, and only webhooks can convert them: "+named(definitions))
}

// judgeIgnored finds managed resources that are switched off (GLET-CONSTR-6).
func judgeIgnored(names []string) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeHasIgnoredManagedResources}
	if len(names) == 0 {
		return c
	}
	return bad(c, gardencorev1beta1.ReasonManagedResourcesIgnored, "Managed resources are ignored and will not be kept up to date: "+named(names))
}

// JudgeManual finds pools whose machines wait until their owner selects them for an update in place (GLET-CONSTR-6).
func JudgeManual(shoot *gardencorev1beta1.Shoot) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeManualInPlaceWorkersUpdated}
	pools := slices.Clone(query.PendingManually(shoot))
	if len(pools) == 0 {
		return c
	}
	return bad(c, gardencorev1beta1.ReasonManualInPlaceWorkersPending, "Machines wait until their nodes get the label "+
		gardenmachinev1alpha1.LabelNodeSelectedForUpdate+"="+gardenmachinev1alpha1.UpdateTrue+", in the pools "+named(pools))
}

// named lists names in their order, but not too many.
func named(all []string) string {
	slices.Sort(all)
	if len(all) <= mostNamed {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:mostNamed], ", "), len(all)-mostNamed)
}

// converted reports whether objects of a definition are stored in several versions and converted by a webhook.
func converted(d *apiextensionsv1.CustomResourceDefinition) bool {
	c := d.Spec.Conversion
	return len(d.Status.StoredVersions) > 1 && c != nil && c.Strategy == apiextensionsv1.WebhookConverter
}
